import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { startPayments } from '../../../contract-tests/harness/payments.ts'
import type { components } from '../../../generated/payments.ts'

const bench = await startPayments()
const { call, clock, database, given, send, settled, simulator } = bench
const merchant = await given.merchant()
const as = await given.apiKey(merchant)

type Create = components['schemas']['PaymentIntentCreate']
const create = async (body: Partial<Create> = {}) => {
  const answer = await call('createPaymentIntent', {
    as, body: { amount_idr: 150_000, allowed_channels: ['qris', 'va_bank_a', 'cash'], reference_id: `order-${randomUUID()}`, ...body },
  })
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
  return answer.body
}
const choose = (shortcode: string, channel: string) => call('choosePublicCheckoutChannel', { params: { shortcode }, body: { channel } })

describe('201', () => {
  test.each([
    ['qris', 'qr_string'], ['va_bank_a', 'va_number'], ['ewallet_wallet_a', 'redirect_url'], ['otc_store_a', 'payment_code'], ['paylater_a', 'payment_url'],
    ['card_3ds', 'challenge_url'],
  ])('%s: the attempt with its %s, for the payer and for the merchant alike', async (channel, field) => {
    const { id, shortcode } = await create({ allowed_channels: ['qris', 'va_bank_a', 'ewallet_wallet_a', 'otc_store_a', 'paylater_a', 'card_3ds'] })
    const chosen = await choose(shortcode, channel)
    expect(chosen).toMatchObject({ status: 201, body: { channel, status: 'pending', amount_idr: 150_000, [field]: expect.any(String) } })
    expect(chosen.body).not.toHaveProperty('challenge')
    const intent = await call('getPaymentIntent', { as, params: { id } })
    expect(intent.body).toHaveProperty(field, (chosen.body as Record<string, unknown>)[field])
  })

  test('cash needs no provider', async () => {
    const { shortcode } = await create()
    expect(await choose(shortcode, 'cash')).toMatchObject({ status: 201, body: { channel: 'cash', kind: 'cash', status: 'pending' } })
  })

  test('an attempt never outlives the payment', async () => {
    const { intent_expires_at, shortcode } = await create({ expires_in_seconds: 600 })
    expect(await choose(shortcode, 'va_bank_a')).toMatchObject({ status: 201, body: { attempt_expires_at: intent_expires_at, expires_at: intent_expires_at } })
  })

  test.each([['qris', 1800], ['ewallet_wallet_a', 900], ['va_bank_a', 3600]])('an attempt of %s ends after %i seconds, at the provider too', async (channel, seconds) => {
    const reference_id = `order-${randomUUID()}`
    const { shortcode } = await create({ allowed_channels: ['qris', 'ewallet_wallet_a', 'va_bank_a'], expires_in_seconds: 3600, reference_id })
    const ends = new Date(clock.now().getTime() + seconds * 1000).toISOString()
    expect(await choose(shortcode, channel)).toMatchObject({ status: 201, body: { attempt_expires_at: ends } })
    expect((await simulator.charges({ merchant_reference: reference_id })).charges).toMatchObject([{ expires_at: ends }])
  })

  test('writes no event', async () => {
    const { id, shortcode } = await create()
    await choose(shortcode, 'qris')
    expect(await database.query((sql) => sql`select kind from payments.events where intent_id = ${id}`)).toMatchObject([{ kind: 'payment_intent.created' }])
  })
})

describe('409 invalid_state', () => {
  test('past the deadline, naming expired', async () => {
    const { shortcode } = await create({ expires_in_seconds: 60 })
    clock.advance(60_000)
    expect(await choose(shortcode, 'qris')).toMatchObject({ status: 409, body: { error: 'invalid_state', message: 'The payment is expired.' } })
  })

  test('once paid, naming paid', async () => {
    const { reference_id, shortcode } = await create()
    await choose(shortcode, 'qris')
    const { charges: [charge] } = await simulator.charges({ merchant_reference: reference_id ?? '' })
    await settled(simulator.pay(charge?.reference ?? ''))
    expect(await choose(shortcode, 'va_bank_a')).toMatchObject({ status: 409, body: { error: 'invalid_state', message: 'The payment is paid.' } })
  })
})

describe('422', () => {
  test.each(['va_bank_b', 'no_such_channel'])('channel_unavailable: %s, which the payment does not take', async (channel) => {
    const { shortcode } = await create()
    expect(await choose(shortcode, channel)).toMatchObject({ status: 422, body: { error: 'channel_unavailable', message: expect.stringContaining(channel) } })
  })

  test('channel_unavailable: switched off since', async () => {
    const own = await given.merchant({ channels: ['qris', 'va_bank_a'] })
    const intent = await call('createPaymentIntent', { as: await given.apiKey(own), body: { amount_idr: 150_000, allowed_channels: ['qris', 'va_bank_a'] } })
    if (intent.status !== 201) throw new Error('not created')
    await database.query((sql) => sql`update payments.merchant_channels set enabled = false where merchant_id = ${own.id} and channel = 'qris'`)
    expect(await choose(intent.body.shortcode, 'qris')).toMatchObject({ status: 422, body: { error: 'channel_unavailable' } })
  })

  test('amount_out_of_range: the channel\'s limits changed since', async () => {
    const { id, shortcode } = await create()
    await database.query((sql) => sql`update payments.payment_intents set amount_idr = 10000001 where id = ${id}`)
    expect(await choose(shortcode, 'qris')).toMatchObject({ status: 422, body: { error: 'amount_out_of_range' } })
  })

  test('provider_declined: the pay-later minimum is the provider\'s refusal, not a limit of the channel', async () => {
    const { shortcode } = await create({ amount_idr: 99_999, allowed_channels: ['qris', 'paylater_a'] })
    expect(await choose(shortcode, 'paylater_a')).toMatchObject({
      status: 422, body: {
        error: 'provider_declined', provider: { code: 'AMOUNT_BELOW_MINIMUM', message: 'The amount is below the minimum transaction of Rp 100,000.' },
      },
    })
    expect(await choose(shortcode, 'qris')).toMatchObject({ status: 201 })
  })

  test('provider_declined: in the provider\'s own words; the payment stays open, without event, and another channel works', async () => {
    const { id, reference_id, shortcode } = await create()
    await simulator.next('decline', { merchant_reference: reference_id, code: 'account_blocked', message: 'The account is blocked.' })
    expect(await choose(shortcode, 'va_bank_a')).toMatchObject({
      status: 422, body: { error: 'provider_declined', provider: { code: 'account_blocked', message: 'The account is blocked.' } },
    })
    expect(await call('getPublicCheckout', { params: { shortcode } })).toMatchObject({ body: { status: 'open', attempt: { channel: 'va_bank_a', status: 'failed' } } })
    expect(await database.query((sql) => sql`select kind from payments.events where intent_id = ${id}`)).toHaveLength(1)
    expect(await choose(shortcode, 'qris')).toMatchObject({ status: 201 })
  })
})

test.each([['{}'], ['{"channel":"QRIS"}'], ['{"channel":"qris","amount_idr":1}'], ['[]']])('400 validation_failed: %s', async (body) => {
  const { shortcode } = await create()
  expect(await send('choosePublicCheckoutChannel', { params: { shortcode }, headers: { 'Content-Type': 'application/json' }, body }))
    .toMatchObject({ status: 400, body: { error: 'validation_failed' } })
})

test('404 for what getPublicCheckout does not know', async () => {
  const pos = await call('createPaymentIntent', { as, body: { amount_idr: 5000, channel: 'cash' } })
  if (pos.status !== 201) throw new Error('not created')
  for (const shortcode of ['zzzzzzzzzz', 'x', pos.body.shortcode]) expect(await choose(shortcode, 'cash')).toMatchObject({ status: 404, body: { error: 'not_found' } })
})

test('503 with Retry-After while the provider is silent; the same choice again is answered, and there is one charge', async () => {
  const quick = await startPayments({ settings: { PROVIDER_TIMEOUT_MS: '250' } })
  const intent = await quick.call('createPaymentIntent', {
    as: await quick.given.apiKey(await quick.given.merchant()), body: { amount_idr: 150_000, allowed_channels: ['qris', 'va_bank_a'], reference_id: 'order-1' },
  })
  if (intent.status !== 201) throw new Error('not created')
  const { shortcode } = intent.body
  await quick.simulator.next('time-out-after-charging', { merchant_reference: 'order-1' })
  const silent = await quick.call('choosePublicCheckoutChannel', { params: { shortcode }, body: { channel: 'va_bank_a' } })
  expect(silent).toMatchObject({ status: 503, body: { error: 'unavailable' } })
  expect(silent.headers.get('retry-after')).toBe('2')
  expect(await quick.call('choosePublicCheckoutChannel', { params: { shortcode }, body: { channel: 'va_bank_a' } })).toMatchObject({ status: 201 })
  expect(await quick.simulator.charges({ merchant_reference: 'order-1' })).toMatchObject({ total: 1 })
})
