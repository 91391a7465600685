import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { startPayments } from '../contract-tests/harness/payments.ts'
import { purgeDue } from './retention.ts'

const dayMs = 86_400_000
const { call, clock, database, given, service } = await startPayments()
const merchant = await given.merchant()
const as = await given.apiKey(merchant)
const choice = { amount_idr: 1000, allowed_channels: ['qris', 'va_bank_b'] }
const count = async (table: 'idempotency_keys' | 'api_key_requests', having = 'true') => {
  const [row] = await database.query((sql) => sql.unsafe<{ count: number }[]>(`select count(*)::int as count from payments.${table} where ${having}`))
  return row?.count
}

test('a stored reply goes after 30 days and its key stays; a refusal and a younger reply stay', async () => {
  const key = randomUUID()
  const first = await call('createPaymentIntent', { as, key, body: choice })
  await call('createPaymentIntent', { as, key: randomUUID(), body: { amount_idr: 1000, allowed_channels: ['paylater_a'] } })
  clock.advance(30 * dayMs)
  await call('createPaymentIntent', { as, key: randomUUID(), body: choice })
  await purgeDue(database, clock.now())
  expect(await count('idempotency_keys', 'reply is not null')).toBe(3)
  clock.advance(1)
  await purgeDue(database, clock.now())
  expect(await count('idempotency_keys')).toBe(3)
  expect(await count('idempotency_keys', 'reply is not null')).toBe(2)
  const again = await call('createPaymentIntent', { as, key, body: choice })
  expect(again).toMatchObject({ status: 201, body: { id: (first.body as { id: string }).id, status: 'expired' } })
})

test('a record of a request by key goes after 90 days', async () => {
  for (const ending of service.endings) await ending()
  expect(await count('api_key_requests')).toBeGreaterThan(0)
  clock.advance(90 * dayMs + 1)
  await purgeDue(database, clock.now())
  expect(await count('api_key_requests')).toBe(0)
})
