import { expect, test } from 'vitest'
import { slowNetwork } from './slowNetwork.ts'
import { shortForm } from './shortForm.ts'

test('a slow, silent and cut network to PostgreSQL loses no intent and leaves nothing open', async () => {
  const { failures, told } = await shortForm(slowNetwork)
  expect(failures, told).toEqual([])
}, 180_000)
