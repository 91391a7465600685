import { expect, test } from 'vitest'
import { startPayments } from '../../../contract-tests/harness/payments.ts'
import type { components } from '../../../generated/payments.ts'

const bench = await startPayments()
const { call, clock, database, given, settled, simulator } = bench
const merchant = await given.merchant()
const as = await given.apiKey(merchant)

const create = async (body: Partial<components['schemas']['PaymentIntentCreate']>) => {
  const answer = await call('createPaymentIntent', { as, body: { amount_idr: 150_000, ...body } })
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
  return answer.body
}
const status = async (shortcode: string, attempt_id?: string) =>
  (await call('getPublicCheckoutStatus', { params: { shortcode }, ...(attempt_id !== undefined && { query: { attempt_id } }) })).body
const chargeOf = async (id: string) => {
  const [row] = await database.query((sql) => sql<{ charge_reference: string }[]>`
    select charge_reference from payments.payment_attempts where intent_id = ${id} and charge_reference is not null`)
  return row?.charge_reference ?? ''
}

test('200: five members, before and after a choice, and once paid', async () => {
  const { id, shortcode } = await create({ allowed_channels: ['qris', 'va_bank_a'] })
  expect(await status(shortcode)).toEqual({ status: 'open', late: false, attempt_id: null, attempt_status: null, updated_at: expect.any(String) })
  const chosen = await call('choosePublicCheckoutChannel', { params: { shortcode }, body: { channel: 'qris' } })
  if (chosen.status !== 201) throw new Error('not chosen')
  expect(await status(shortcode)).toMatchObject({ status: 'open', attempt_id: chosen.body.id, attempt_status: 'pending' })
  await settled(simulator.pay(await chargeOf(id)))
  expect(await status(shortcode)).toMatchObject({ status: 'paid', late: false, attempt_id: chosen.body.id, attempt_status: 'succeeded' })
})

test('200: past the deadline it reads expired, and paid late once money has come all the same', async () => {
  const { id, shortcode } = await create({ allowed_channels: ['ewallet_wallet_a'] })
  const before = await status(shortcode) as { updated_at: string }
  clock.advance(900_001)
  expect(await status(shortcode)).toMatchObject({ status: 'expired', attempt_status: 'expired' })
  await settled(simulator.pay(await chargeOf(id), { force: true }))
  const after = await status(shortcode) as { updated_at: string }
  expect(after).toMatchObject({ status: 'paid', late: true, attempt_status: 'succeeded' })
  expect(after.updated_at > before.updated_at).toBe(true)
})

test('200: asked for an attempt, tells of that one', async () => {
  const { shortcode } = await create({ allowed_channels: ['ewallet_wallet_a', 'qris'], max_uses: 2 })
  const [one, two] = [
    await call('choosePublicCheckoutChannel', { params: { shortcode }, body: { channel: 'ewallet_wallet_a' } }),
    await call('choosePublicCheckoutChannel', { params: { shortcode }, body: { channel: 'ewallet_wallet_a' } }),
  ]
  if (one.status !== 201 || two.status !== 201) throw new Error('not chosen')
  expect(await status(shortcode, one.body.id)).toMatchObject({ attempt_id: one.body.id, attempt_status: 'pending' })
  expect(await status(shortcode, two.body.id)).toMatchObject({ attempt_id: two.body.id })
})

test('404 for an unknown code and for an attempt of another payment', async () => {
  const [one, other] = [await create({ allowed_channels: ['qris', 'cash'] }), await create({ allowed_channels: ['qris'] })]
  const { attempt_id } = await status(other.shortcode) as { attempt_id: string }
  expect(await status('zzzzzzzzzz')).toMatchObject({ error: 'not_found' })
  expect(await status(one.shortcode, attempt_id)).toMatchObject({ error: 'not_found' })
})

test('400 for an attempt_id that is none', async () => {
  const { shortcode } = await create({ allowed_channels: ['qris', 'cash'] })
  expect(await call('getPublicCheckoutStatus', { params: { shortcode }, query: { attempt_id: 'x' } })).toMatchObject({ status: 400, body: { error: 'validation_failed' } })
})
