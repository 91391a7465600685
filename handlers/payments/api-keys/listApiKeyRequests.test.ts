import { expect, test } from 'vitest'
import { startPayments } from '../../../contract-tests/harness/payments.ts'

const { call, clock, given, service, database } = await startPayments()
const merchant = await given.merchant()
const owner = await given.token(merchant, 'merchant_owner', `merchant:${merchant.id}`)

test('200: what was done with the key in the last 30 days, refused requests too, newest first', async () => {
  const made = await call('createApiKey', { as: owner, body: { name: 'Checkout' } })
  if (made.status !== 201) throw new Error(JSON.stringify(made.body))
  const { id, key } = made.body
  await call('getMe', { as: key })
  clock.advance(31 * 86_400_000)
  await call('createPaymentIntent', { as: key, body: { amount_idr: 0, allowed_channels: ['qris'] } })
  clock.advance(1000)
  await call('createPaymentIntent', { as: key, body: { amount_idr: 1000, allowed_channels: ['qris', 'va_bank_b'] }, headers: { 'X-Request-Id': 'mine-1' } })
  for (const ending of service.endings) await ending()
  const fresh = await given.token(merchant, 'merchant_owner', `merchant:${merchant.id}`)
  const answer = await call('listApiKeyRequests', { as: fresh, params: { id } })
  expect(answer).toMatchObject({
    status: 200,
    body: {
      total: 2,
      requests: [
        { operation_id: 'createPaymentIntent', status: 201, error: null, request_id: 'mine-1', address: expect.stringContaining('127.0.0.1') as unknown },
        { operation_id: 'createPaymentIntent', status: 400, error: 'validation_failed' },
      ],
    },
  })
  const [row] = await database.query((sql) => sql<{ last_used_at: Date }[]>`select last_used_at from payments.api_keys where id = ${id}`)
  expect(row?.last_used_at.getUTCSeconds()).toBe(0)
  expect(row?.last_used_at.getUTCMinutes()).toBe(clock.now().getUTCMinutes())
})

test('400: a page too deep names page', async () => {
  const fresh = await given.token(merchant, 'merchant_owner', `merchant:${merchant.id}`)
  expect(await call('listApiKeyRequests', { as: fresh, params: { id: merchant.id }, query: { page: '1000001', limit: '1' } })).toMatchObject({ status: 400 })
})

test('404: a key of another merchant', async () => {
  const other = await given.merchant()
  const stranger = await given.token(other, 'merchant_owner', `merchant:${other.id}`)
  const keys = await database.query((sql) => sql<{ id: string }[]>`select id from payments.api_keys where merchant_id = ${merchant.id}`)
  expect((await call('listApiKeyRequests', { as: stranger, params: { id: keys[0]?.id ?? '' } })).status).toBe(404)
})
