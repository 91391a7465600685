import { expect, test } from 'vitest'
import { shortForm } from './shortForm.ts'
import { webhooks } from './webhooks.ts'

test('webhooks lose nothing: receivers of every kind, killed workers, PostgreSQL stopped, the queue dropped, a slow neighbour', async () => {
  const { failures, told } = await shortForm(webhooks)
  expect(failures, told).toEqual([])
}, 180_000)
