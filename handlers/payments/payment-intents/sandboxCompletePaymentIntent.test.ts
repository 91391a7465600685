import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { intentActs } from '../../../contract-tests/harness/intentActs.ts'
import { startPayments } from '../../../contract-tests/harness/payments.ts'
import { channelCodes, channelOf } from '../../../domain/channels.ts'

const bench = await startPayments()
const { call, clock, given, settled, simulator } = bench
const merchant = await given.merchant()
const as = await given.apiKey(merchant)
const { attempts, charged, created, event, kinds, read } = intentActs(bench, as)

const complete = (id: string) => call('sandboxCompletePaymentIntent', { as, params: { id } })
const completable = channelCodes.filter((code) => channelOf(code).sandbox === 'sandbox-complete')
const paid = ['payment_intent.created', 'payment.completed']

describe('200', () => {
  test.each(completable.map((code) => [code] as const))('%s is paid', async (code) => {
    const { id } = await created({ amount_idr: 150_000, allowed_channels: [code] })
    const answer = await complete(id)
    expect(answer).toMatchObject({ status: 200, body: { status: 'paid', uses: 1, paid_idr: 150_000, late: false, paid_at: clock.now().toISOString() } })
    expect(await attempts(id)).toMatchObject([{ status: 'succeeded', channel: code, amount_idr: 150_000 }])
    expect(await kinds(id)).toEqual(paid)
    expect((await event(id, 'payment.completed')).data.intent).toEqual(answer.body)
  })

  test.each(completable.filter((code) => channelOf(code).needs_provider).map((code) => [code] as const))('%s is declined by the amount', async (code) => {
    const { id } = await created({ amount_idr: 111_011, allowed_channels: [code] })
    const status = channelOf(code).kind === 'paylater' ? 'failed' : 'open'
    expect(await complete(id)).toMatchObject({ status: 200, body: { status, paid_idr: 0 } })
    expect(await attempts(id)).toMatchObject([{ status: 'failed', failure_code: 'PAYMENT_DECLINED' }])
    expect(await kinds(id)).toEqual(['payment_intent.created', 'payment.failed'])
  })

  test('an intent that stays open after a decline shows no way to pay that is gone, and can be tried again', async () => {
    const { id } = await created({ amount_idr: 111_011, allowed_channels: ['va_bank_a'] })
    const { body } = await complete(id)
    expect(Object.keys(body)).not.toContain('va_number')
    const failed = await event(id, 'payment.failed')
    expect(failed.data.intent).toEqual(body)
    expect(failed.data.attempt).toMatchObject({ status: 'failed', failure_code: 'PAYMENT_DECLINED' })
    await complete(id)
    expect(await attempts(id)).toMatchObject([{ status: 'failed' }, { status: 'failed' }])
  })

  test('with no attempt the first allowed channel that can be completed here is chosen and paid', async () => {
    const { id } = await created({ amount_idr: 150_000, allowed_channels: ['card_3ds', 'va_bank_b', 'qris'] })
    expect(await complete(id)).toMatchObject({ status: 200, body: { status: 'paid', va_bank: 'bank_b' } })
    expect(await attempts(id)).toMatchObject([{ status: 'succeeded', channel: 'va_bank_b' }])
  })

  test('with no attempt and cash first, cash is confirmed', async () => {
    const { id } = await created({ amount_idr: 150_000, allowed_channels: ['cash', 'qris'] })
    expect(await complete(id)).toMatchObject({ status: 200, body: { status: 'paid' } })
    expect(await attempts(id)).toMatchObject([{ status: 'succeeded', channel: 'cash', provider_reference: null }])
  })

  test.each([['qris', 'qr_string'], ['va_bank_a', 'va_number'], ['ewallet_wallet_a', 'redirect_url'], ['cash', 'id']])(
    'on several uses of %s each call adds one, until the last one makes it paid', async (code) => {
      const { id } = await created({ amount_idr: 150_000, max_uses: 2, allowed_channels: [code] })
      expect(await complete(id)).toMatchObject({ status: 200, body: { status: 'open', uses: 1, paid_idr: 150_000 } })
      expect(await complete(id)).toMatchObject({ status: 200, body: { status: 'paid', uses: 2, paid_idr: 300_000 } })
      expect(await kinds(id)).toEqual([...paid, 'payment.completed'])
      expect((await attempts(id)).filter(({ status }) => status === 'pending')).toEqual([])
    })

  test('111012: open until its deadline, then expired, then paid late', async () => {
    const { id, reference } = await charged({ amount_idr: 111_012, allowed_channels: ['qris'], expires_in_seconds: 60 })
    expect(await complete(id)).toMatchObject({ status: 200, body: { status: 'open', paid_idr: 0 } })
    expect(await complete(id)).toMatchObject({ status: 200, body: { status: 'open' } })
    clock.advance(60_000)
    expect(await read(id)).toMatchObject({ status: 'expired' })
    expect(await settled(simulator.payLate())).toMatchObject({ paid: [{ reference, callback: { status: 200 } }] })
    expect(await read(id)).toMatchObject({ status: 'paid', late: true, paid_idr: 111_012 })
    expect(await kinds(id)).toEqual(['payment_intent.created', 'payment_intent.expired', 'payment.completed'])
  })

  test('111013: a payment that is reported twice counts once', async () => {
    const { id } = await created({ amount_idr: 111_013, allowed_channels: ['ewallet_wallet_b'] })
    expect(await complete(id)).toMatchObject({ status: 200, body: { status: 'paid', uses: 1, overpaid_idr: 0 } })
    expect(await kinds(id)).toEqual(paid)
  })

  test('111014: paid, then reversed soon after; no kind of event tells the reversal', async () => {
    const { id } = await created({ amount_idr: 111_014, allowed_channels: ['va_bank_c'] })
    expect(await complete(id)).toMatchObject({ status: 200, body: { status: 'paid', paid_idr: 111_014 } })
    await settled(simulator.payLate())
    expect(await read(id)).toMatchObject({ status: 'reversed', paid_idr: 111_014 })
    expect(await attempts(id)).toMatchObject([{ status: 'reversed' }])
    expect(await kinds(id)).toEqual(paid)
  })

  test('111015: the payment is made and never reported; what is tried after it is answered with the intent as it is', async () => {
    const { id, reference } = await charged({ amount_idr: 111_015, allowed_channels: ['qris'] })
    expect(await complete(id)).toMatchObject({ status: 200, body: { status: 'open' } })
    expect(await complete(id)).toMatchObject({ status: 200, body: { status: 'open' } })
    expect(await call('sandboxExpirePaymentIntent', { as, params: { id } })).toMatchObject({ status: 200, body: { status: 'open' } })
    expect((await simulator.charges()).charges.find((charge) => charge.reference === reference)).toMatchObject({ status: 'paid' })
  })

  test('111016: the charge expires at the provider, and the intent with its one channel', async () => {
    const { id } = await created({ amount_idr: 111_016, allowed_channels: ['otc_store_a'] })
    expect(await complete(id)).toMatchObject({ status: 200, body: { status: 'expired' } })
    expect(await kinds(id)).toEqual(['payment_intent.created', 'payment_intent.expired'])
  })

  test('two at once pay once', async () => {
    const { id } = await created({ amount_idr: 150_000, allowed_channels: ['va_bank_d', 'qris'] })
    const answers = await Promise.all([complete(id), complete(id)])
    expect(answers.map(({ status }) => status).filter((status) => status !== 200 && status !== 409)).toEqual([])
    expect(await read(id)).toMatchObject({ status: 'paid', uses: 1, overpaid_idr: 0 })
    expect(await kinds(id)).toEqual(paid)
  })
})

describe('409', () => {
  test('a card is completed by its challenge', async () => {
    const { id } = await created({ amount_idr: 150_000, allowed_channels: ['card_3ds'] })
    const answer = await complete(id)
    expect(answer).toMatchObject({ status: 409, body: { error: 'invalid_state' } })
    expect(JSON.stringify(answer.body)).toContain('3ds-callback')
  })

  test('an intent that has ended, or whose deadline is past, names its state', async () => {
    const done = await created({ amount_idr: 150_000, allowed_channels: ['qris'] })
    await complete(done.id)
    expect(await complete(done.id)).toMatchObject({ status: 409, body: { error: 'invalid_state', message: 'The payment intent is paid.' } })
    const over = await created({ amount_idr: 150_000, allowed_channels: ['qris'], expires_in_seconds: 60 })
    clock.advance(60_000)
    expect(await complete(over.id)).toMatchObject({ status: 409, body: { error: 'invalid_state', message: 'The payment intent is expired.' } })
  })
})

describe('422', () => {
  test('provider_declined: the provider refuses the channel that is chosen, and the intent stays open', async () => {
    const { id } = await created({ amount_idr: 111_001, allowed_channels: ['qris', 'va_bank_a'] })
    expect(await complete(id)).toMatchObject({ status: 422, body: { error: 'provider_declined', provider: { code: 'CHARGE_DECLINED' } } })
    expect(await read(id)).toMatchObject({ status: 'open' })
  })

  test('channel_unavailable: the channel was switched off since', async () => {
    const { id } = await created({ amount_idr: 150_000, allowed_channels: ['qris', 'va_bank_a'] })
    await bench.database.query((sql) => sql`
      update payments.merchant_channels set enabled = false where merchant_id = ${merchant.id} and channel = 'qris'`)
    const answer = await complete(id)
    await bench.database.query((sql) => sql`
      update payments.merchant_channels set enabled = true where merchant_id = ${merchant.id} and channel = 'qris'`)
    expect(answer).toMatchObject({ status: 422, body: { error: 'channel_unavailable' } })
  })

  test('amount_out_of_range: the limits of the channel have changed since', async () => {
    const { id } = await created({ amount_idr: 150_000, allowed_channels: ['qris', 'va_bank_a'] })
    await bench.database.query((sql) => sql`update payments.payment_intents set amount_idr = 10000001 where id = ${id}`)
    expect(await complete(id)).toMatchObject({ status: 422, body: { error: 'amount_out_of_range' } })
  })
})

test('503: the provider is silent; asked again it tells, and the intent is paid once', async () => {
  const silent = await startPayments({ sleep: (milliseconds) => wait(milliseconds / 50) })
  const key = await silent.given.apiKey(await silent.given.merchant())
  const acts = intentActs(silent, key)
  const { id, reference } = await acts.charged({ amount_idr: 150_000, allowed_channels: ['va_bank_a'] })
  // The report is lost on its way: no callback under a secret that the service knows is signed any more.
  await silent.database.query((sql) => sql`update payments.psp_credentials set provider = 'lost'`)
  const answer = await silent.call('sandboxCompletePaymentIntent', { as: key, params: { id } })
  expect(answer).toMatchObject({ status: 503, body: { error: 'unavailable' } })
  expect(answer.headers.get('retry-after')).toBe('2')
  await silent.database.query((sql) => sql`update payments.psp_credentials set provider = 'simulator'`)
  expect((await silent.simulator.charges()).charges.find((charge) => charge.reference === reference)).toMatchObject({ status: 'paid' })
  expect(await silent.call('sandboxCompletePaymentIntent', { as: key, params: { id } })).toMatchObject({ status: 200, body: { status: 'paid', uses: 1 } })
})

test('404: an intent of another merchant; and the operation itself in production', async () => {
  const { id } = await created({ amount_idr: 150_000, allowed_channels: ['qris'] })
  const other = await given.apiKey(await given.merchant())
  expect(await call('sandboxCompletePaymentIntent', { as: other, params: { id } })).toMatchObject({ status: 404 })
  const production = await startPayments({ settings: { BAYAR_ENV: 'production' } })
  const live = await production.given.apiKey(await production.given.merchant(), { environment: 'production' })
  for (const operation of ['sandboxCompletePaymentIntent', 'sandboxExpirePaymentIntent'] as const) {
    expect(await production.call(operation, { as: live, params: { id: randomUUID() } })).toMatchObject({ status: 404, body: { error: 'not_found' } })
  }
})
