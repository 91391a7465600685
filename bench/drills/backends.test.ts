import { expect, test } from 'vitest'
import { backends } from './backends.ts'
import { shortForm } from './shortForm.ts'

test('terminated backends lose no intent, charge none twice, and end no process', async () => {
  const { failures, told } = await shortForm(backends)
  expect(failures, told).toEqual([])
}, 180_000)
