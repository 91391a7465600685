import { expect, test } from 'vitest'
import { killApi } from './killApi.ts'
import { shortForm } from './shortForm.ts'

test('a payments process killed under load loses no intent and charges none twice', async () => {
  const { failures, told } = await shortForm(killApi)
  expect(failures, told).toEqual([])
}, 180_000)
