import { expect, test } from 'vitest'
import { startPayments } from './harness/payments.ts'

const { given, send } = await startPayments()
const merchant = await given.merchant()
const as = await given.apiKey(merchant)
const owner = await given.token(merchant, 'merchant_owner', `merchant:${merchant.id}`)

/** Times of RFC 3339 that Date or PostgreSQL does not take, or takes for another time. */
const times = [
  '2016-12-31T23:59:60Z',
  '2026-11-02T06:59:60+07:00',
  '0000-01-01T00:00:00Z',
  '0001-01-01T00:00:00+23:59',
  '9999-12-31T23:59:59.999999999-23:59',
  '0050-01-01 00:00:00Z',
]

const places = [
  ['listEvents', 'since'],
  ['listPaymentIntents', 'created_from'],
  ['listPaymentIntents', 'created_to'],
  ['listPayments', 'paid_from'],
  ['listPayments', 'paid_to'],
] as const

test.each(places)('%s refuses a %s that no calendar here has', async (id, name) => {
  for (const time of times) {
    const answer = await send(id, { as, query: { [name]: time } })
    expect(answer, time).toMatchObject({ status: 400, body: { fields: { [name]: 'must be a valid date-time' } } })
  }
  for (const time of ['2026-11-02T03:04:05Z', '2026-11-02 03:04:05+07:00', '2026-11-02t03:04:05.123456789z'])
    expect((await send(id, { as, query: { [name]: time } })).status, time).toBe(200)
})

test('createApiKey refuses such an expires_at too', async () => {
  for (const time of times) {
    const body = JSON.stringify({ name: 'Checkout', expires_at: time })
    const answer = await send('createApiKey', { as: owner, body, headers: { 'Content-Type': 'application/json' } })
    expect(answer, time).toMatchObject({ status: 400, body: { fields: { expires_at: 'must be a valid date-time' } } })
  }
})
