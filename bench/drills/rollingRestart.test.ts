import { expect, test } from 'vitest'
import { rollingRestart } from './rollingRestart.ts'
import { shortForm } from './shortForm.ts'

test('processes restarted one after the other fail no request', async () => {
  const { failures, told } = await shortForm(rollingRestart)
  expect(failures, told).toEqual([])
}, 180_000)
