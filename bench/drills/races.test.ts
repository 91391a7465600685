import { expect, test } from 'vitest'
import { races } from './races.ts'
import { shortForm } from './shortForm.ts'

test('one key makes one intent, and of acts at once exactly one comes first', async () => {
  const { failures, told } = await shortForm(races)
  expect(failures, told).toEqual([])
}, 180_000)
