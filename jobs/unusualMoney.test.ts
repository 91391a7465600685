import { describe, expect, test } from 'vitest'
import { checkInvariants } from '../bench/invariants.ts'
import { casesOf } from '../contract-tests/harness/cases.ts'
import { intentActs } from '../contract-tests/harness/intentActs.ts'
import { startPayments } from '../contract-tests/harness/payments.ts'
import { resumeCreation } from './chargeCreation.ts'
import { expireDue } from './expireIntents.ts'

const bench = await startPayments({ settings: { PROVIDER_TIMEOUT_MS: '250' } })
const { call, clock, creation, database, given, settled, simulator } = bench
const merchant = await given.merchant()
const as = await given.apiKey(merchant)
const { attempts, charged, charges, created, event, kinds, read } = intentActs(bench, as)

const amount = 150_000
const pay = async (reference: string, options: Record<string, unknown> = {}) => {
  // So that the order of attempts and cases is that of the payments.
  clock.advance(1)
  await simulator.pay(reference, { force: true, ...options })
  await settled()
}
const move = async (reference: string, how: string) => {
  clock.advance(1)
  await simulator.move(reference, how)
  await settled()
}
const [creates, completes, fails, expires] = ['payment_intent.created', 'payment.completed', 'payment.failed', 'payment_intent.expired']

describe('late money', () => {
  const ends: [string, string, (id: string, reference: string) => Promise<unknown>, readonly string[]][] = [
    ['after the deadline, before the sweep', 'va_bank_a', async () => clock.advance(60_000), [creates, expires, completes]],
    ['after the sweep', 'va_bank_a', async () => {
      clock.advance(60_000)
      while (await expireDue(creation));
    }, [creates, expires, completes]],
    ['after the provider said that the charge expired', 'qris', (_, reference) => move(reference, 'expire'), [creates, expires, completes]],
    ['after the cancellation', 'ewallet_wallet_a', (id) => call('cancelPaymentIntent', { as, params: { id } }), [creates, completes]],
    ['after a decline that ended the intent', 'card_3ds', (_, reference) => move(reference, 'decline'), [creates, fails, completes]],
  ]

  test.each(ends)('%s: paid, late, with the provider\'s time', async (_, channel, end, events) => {
    const { id, reference } = await charged({ amount_idr: amount, allowed_channels: [channel], expires_in_seconds: 60 })
    await end(id, reference)
    const completedAt = clock.now().toISOString()
    clock.advance(5000)
    await pay(reference, { completed_at: completedAt })
    expect(await read(id)).toMatchObject({ status: 'paid', late: true, uses: 1, paid_idr: amount, overpaid_idr: 0, paid_at: completedAt })
    expect(await attempts(id)).toMatchObject([{ status: 'succeeded', failure_code: null, completed_at: completedAt }])
    expect(await kinds(id)).toEqual(events)
    expect((await event(id, completes)).data.intent).toEqual(await read(id))
    expect(await casesOf(bench, merchant, id)).toEqual([])
  })

  test('is money that was paid in time and told after the deadline', async () => {
    const { id, reference } = await charged({ amount_idr: amount, allowed_channels: ['va_bank_a'], expires_in_seconds: 60 })
    const completedAt = clock.now().toISOString()
    clock.advance(60_000)
    await pay(reference, { completed_at: completedAt })
    expect(await read(id)).toMatchObject({ status: 'paid', late: true, paid_at: completedAt })
  })

  test('is not money for an attempt whose own time was over while the intent was open', async () => {
    const { id, shortcode } = await created({ amount_idr: amount, allowed_channels: ['ewallet_wallet_a', 'va_bank_a'] })
    await call('choosePublicCheckoutChannel', { params: { shortcode }, body: { channel: 'ewallet_wallet_a' } })
    clock.advance(900_000)
    while (await expireDue(creation));
    expect(await attempts(id)).toMatchObject([{ status: 'expired' }])
    const [charge] = await charges(id)
    await pay(charge?.reference ?? '')
    expect(await read(id)).toMatchObject({ status: 'paid', late: false, paid_idr: amount })
    expect(await kinds(id)).toEqual([creates, completes])
  })

  test('that comes twice is paid late and overpaid', async () => {
    const { id, reference } = await charged({ amount_idr: amount, allowed_channels: ['qris'], expires_in_seconds: 60 })
    clock.advance(60_000)
    await pay(reference)
    await pay(reference)
    expect(await read(id)).toMatchObject({ status: 'paid', late: true, uses: 1, paid_idr: amount, overpaid_idr: amount })
    expect(await kinds(id)).toEqual([creates, expires, completes])
  })
})

describe('money for an intent that was given up while it was made', () => {
  /** Its client has no key to ask again by: the sweep withdraws it, hidden. */
  const givenUp = async (reference_id: string) => {
    await simulator.next('time-out-after-charging', { merchant_reference: reference_id })
    expect((await call('createPaymentIntent', { as, body: { amount_idr: amount, allowed_channels: ['va_bank_a'], reference_id } })).status).toBe(503)
    const [operation] = await database.query((sql) => sql<{ id: string, intent_id: string }[]>`
      update payments.provider_operations set lease_until = now() - interval '1 second'
      where intent_id = (select id from payments.payment_intents where reference_id = ${reference_id}) returning id, intent_id`)
    await resumeCreation(merchant.tenantId, merchant.id, operation?.id ?? '', creation)
    const { charges: [charge] } = await simulator.charges({ key: operation?.id ?? '' })
    expect(charge).toMatchObject({ status: 'expired' })
    return { id: operation?.intent_id ?? '', reference: charge?.reference ?? '' }
  }

  test('shows it, paid, late, under the reference that nobody else has', async () => {
    const { id, reference } = await givenUp('order-given-up')
    await pay(reference)
    expect(await read(id)).toMatchObject({ status: 'paid', late: true, reference_id: 'order-given-up' })
    expect(await casesOf(bench, merchant, id)).toEqual([])
  })

  test('whose reference another has taken since is recorded without it, with a case, and leaves the other alone', async () => {
    const { id, reference } = await givenUp('order-again')
    const again = await charged({ amount_idr: amount, allowed_channels: ['va_bank_a'], reference_id: 'order-again' })
    await pay(again.reference)
    await pay(reference)
    expect(await read(id)).toMatchObject({ status: 'paid', late: true, uses: 1, paid_idr: amount, reference_id: null })
    expect(await kinds(id)).toEqual([creates, completes])
    expect(await casesOf(bench, merchant, id)).toMatchObject([{
      kind: 'duplicate_reference', expected_idr: amount, received_idr: amount, detail: expect.stringContaining('order-again') as string,
    }])
    expect(await read(again.id)).toMatchObject({ status: 'paid', uses: 1, overpaid_idr: 0, reference_id: 'order-again' })
  })
})

describe('double money', () => {
  test('is a succeeded attempt of its own, in overpaid_idr, with one case that tells it, and no event', async () => {
    const { id, reference } = await charged({ amount_idr: amount, allowed_channels: ['va_bank_a'] })
    await pay(reference)
    await pay(reference)
    expect(await read(id)).toMatchObject({ status: 'paid', uses: 1, paid_idr: amount, overpaid_idr: amount, late: false })
    const [second, first] = await attempts(id)
    expect([first?.status, second?.status]).toEqual(['succeeded', 'succeeded'])
    expect(await casesOf(bench, merchant, id)).toMatchObject([{
      kind: 'overpayment', status: 'open', attempt_id: second?.id, provider: 'simulator', provider_reference: second?.provider_reference, expected_idr: 0,
      received_idr: amount, currency: 'IDR', detail: expect.stringContaining('150000') as string,
    }])
    expect(await kinds(id)).toEqual([creates, completes])
  })

  test('by the older and the newer choice: the first proof pays, the second is overpaid', async () => {
    const { id, shortcode } = await created({ amount_idr: amount, allowed_channels: ['va_bank_a', 'qris'] })
    for (const channel of ['va_bank_a', 'qris']) {
      clock.advance(1)
      await call('choosePublicCheckoutChannel', { params: { shortcode }, body: { channel } })
    }
    const [older, newer] = (await charges(id)).map(({ reference }) => reference)
    await pay(older ?? '')
    await pay(newer ?? '')
    expect(await read(id)).toMatchObject({ status: 'paid', uses: 1, paid_idr: amount, overpaid_idr: amount })
    expect((await attempts(id)).map(({ channel, status }) => [channel, status])).toEqual([['qris', 'succeeded'], ['va_bank_a', 'succeeded']])
    expect(await casesOf(bench, merchant, id)).toMatchObject([{ kind: 'overpayment', detail: expect.stringContaining('qris') as string }])
    expect(await kinds(id)).toEqual([creates, completes])
  })

  test('beside cash that was confirmed', async () => {
    const { id, shortcode } = await created({ amount_idr: amount, allowed_channels: ['cash', 'qris'] })
    await call('choosePublicCheckoutChannel', { params: { shortcode }, body: { channel: 'qris' } })
    const cashier = await given.token(merchant, 'merchant_pos_manager', `merchant:${merchant.id}`)
    expect((await call('confirmCashPayment', { as: cashier, params: { id }, body: { amount_idr: amount } })).status).toBe(200)
    const [charge] = await charges(id)
    await pay(charge?.reference ?? '')
    expect(await read(id)).toMatchObject({ status: 'paid', uses: 1, overpaid_idr: amount })
    expect(await casesOf(bench, merchant, id)).toMatchObject([{ kind: 'overpayment' }])
  })

  test('three times is two cases, one for each payment', async () => {
    const { id, reference } = await charged({ amount_idr: amount, allowed_channels: ['va_bank_a'] })
    for (let payment = 0; payment < 3; payment += 1) await pay(reference)
    expect(await read(id)).toMatchObject({ overpaid_idr: 2 * amount })
    const references = (await casesOf(bench, merchant, id)).map(({ provider_reference }) => provider_reference)
    expect(new Set(references).size).toBe(2)
  })
})

describe('money that is taken back', () => {
  test('reverses the intent and its attempt, keeps the sums, opens a case and tells no event', async () => {
    const { id, reference } = await charged({ amount_idr: amount, allowed_channels: ['card_3ds'] })
    await pay(reference)
    await move(reference, 'reverse')
    expect(await read(id)).toMatchObject({ status: 'reversed', uses: 1, paid_idr: amount, overpaid_idr: 0 })
    const [attempt] = await attempts(id)
    expect(attempt).toMatchObject({ status: 'reversed' })
    expect(await casesOf(bench, merchant, id)).toMatchObject([{
      kind: 'reversal', status: 'open', attempt_id: attempt?.id, provider_reference: attempt?.provider_reference, expected_idr: amount, received_idr: amount,
    }])
    expect(await kinds(id)).toEqual([creates, completes])
  })

  test('of two payments of one intent leaves it paid until the other is gone too', async () => {
    const { id, reference } = await charged({ amount_idr: amount, allowed_channels: ['va_bank_a'] })
    await pay(reference)
    await pay(reference)
    await move(reference, 'reverse')
    expect(await read(id)).toMatchObject({ status: 'paid', paid_idr: amount, overpaid_idr: amount })
    expect((await casesOf(bench, merchant, id)).map(({ kind }) => kind).sort()).toEqual(['overpayment', 'reversal'])
  })

  test('and comes again is beyond what the intent takes: it has told its completion already', async () => {
    const { id, reference } = await charged({ amount_idr: amount, allowed_channels: ['va_bank_a'] })
    await pay(reference)
    await move(reference, 'reverse')
    await pay(reference)
    expect(await read(id)).toMatchObject({ status: 'reversed', uses: 1, paid_idr: amount, overpaid_idr: amount })
    expect(await casesOf(bench, merchant, id)).toMatchObject([{ kind: 'overpayment', detail: expect.stringContaining('reversed') as string }, { kind: 'reversal' }])
    expect(await kinds(id)).toEqual([creates, completes])
  })
})

describe('a challenge that is abandoned, by the provider\'s word', () => {
  test.each([
    ['ends an intent of a card alone', ['card_3ds'], 'failed'], ['leaves an intent with another channel open', ['card_3ds', 'qris'], 'open'],
  ])('%s', async (_, allowed_channels, status) => {
    const { id, shortcode } = await created({ amount_idr: amount, allowed_channels })
    if (allowed_channels.length > 1) await call('choosePublicCheckoutChannel', { params: { shortcode }, body: { channel: 'card_3ds' } })
    const [charge] = await charges(id)
    await simulator.move(charge?.reference ?? '', 'decline', { code: 'CHALLENGE_ABANDONED', message: 'The payer left.' })
    await settled()
    expect(await read(id)).toMatchObject({ status })
    expect(await attempts(id)).toMatchObject([{ status: 'failed', failure_code: 'CHALLENGE_ABANDONED' }])
    expect(await kinds(id)).toEqual([creates, fails])
  })

  test('whose payer is silent ends by its time, without payment.failed', async () => {
    const { id } = await charged({ amount_idr: amount, allowed_channels: ['card_3ds'] })
    clock.advance(86_400_000)
    while (await expireDue(creation));
    expect(await read(id)).toMatchObject({ status: 'expired' })
    expect(await kinds(id)).toEqual([creates, expires])
  })
})

test('every invariant holds after all of it', async () => {
  expect((await checkInvariants(database)).filter(({ offenders }) => offenders.length > 0)).toEqual([])
})
