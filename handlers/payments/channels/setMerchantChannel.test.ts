import { expect, test } from 'vitest'
import { startPayments } from '../../../contract-tests/harness/payments.ts'

const { call, database, given } = await startPayments()
const merchant = await given.merchant({ channels: ['qris'] })
const as = await given.apiKey(merchant)
const admin = await given.token(merchant, 'tenant_admin', '*')
const va = { amount_idr: 10_000, allowed_channels: ['va_bank_a', 'qris'] }

test('200: a channel that is on can be used at once, and one that is off cannot; both are audited', async () => {
  const params = { id: merchant.id, channel: 'va_bank_a' }
  expect((await call('createPaymentIntent', { as, body: va })).status).toBe(422)
  expect(await call('setMerchantChannel', { as: admin, params, body: { enabled: true } })).toMatchObject({ status: 200, body: { code: 'va_bank_a', enabled: true } })
  expect((await call('createPaymentIntent', { as, body: va })).status).toBe(201)
  expect(await call('setMerchantChannel', { as: admin, params, body: { enabled: false } })).toMatchObject({ status: 200, body: { enabled: false } })
  expect((await call('createPaymentIntent', { as, body: va })).status).toBe(422)
  const rows = await database.query((sql) => sql<{ changed_keys: string[] }[]>`select changed_keys from payments.audit_events where target = ${`merchant:${merchant.id}`}`)
  expect(rows.map(({ changed_keys }) => changed_keys)).toEqual([['channels.va_bank_a'], ['channels.va_bank_a']])
})

test('404: an unknown channel and a merchant of another tenant', async () => {
  const stranger = await given.merchant()
  for (const params of [{ id: merchant.id, channel: 'no_such_channel' }, { id: stranger.id, channel: 'qris' }]) {
    expect((await call('setMerchantChannel', { as: admin, params, body: { enabled: true } })).status).toBe(404)
  }
})
