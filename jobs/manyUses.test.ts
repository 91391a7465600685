import { describe, expect, test } from 'vitest'
import { checkInvariants } from '../bench/invariants.ts'
import { casesOf } from '../contract-tests/harness/cases.ts'
import { intentActs } from '../contract-tests/harness/intentActs.ts'
import { startPayments } from '../contract-tests/harness/payments.ts'
import { expireDue } from './expireIntents.ts'
import { withdrawChargesOf } from './withdrawalWork.ts'

const bench = await startPayments()
const { call, clock, creation, database, given, settled, simulator } = bench
const merchant = await given.merchant()
const as = await given.apiKey(merchant)
const { attempts, charged, charges, created, kinds, read } = intentActs(bench, as)

const amount = 20_000
const pay = async (reference: string, options: Record<string, unknown> = {}) => {
  // So that the order of attempts and cases is that of the payments.
  clock.advance(1)
  await simulator.pay(reference, { force: true, ...options })
  await settled()
}
const cancel = async (id: string) => {
  expect((await call('cancelPaymentIntent', { as, params: { id } })).status).toBe(200)
}
const withdraw = (id: string) => withdrawChargesOf({ tenant_id: merchant.tenantId, merchant_id: merchant.id, intent_id: id }, creation)
const states = async (id: string) => (await attempts(id)).map(({ status }) => status).sort()
const completions = async (id: string) => (await kinds(id)).filter((kind) => kind === 'payment.completed').length

describe('max_uses 3', () => {
  test.each(['qris', 'va_bank_a'])('%s: one attempt stands, each payment is one beside it; the third ends it, at the provider too', async (code) => {
    const { id, reference } = await charged({ amount_idr: amount, max_uses: 3, allowed_channels: [code] })
    await pay(reference)
    await pay(reference)
    expect(await read(id)).toMatchObject({ status: 'open', uses: 2, paid_idr: 2 * amount, paid_at: null })
    expect(await states(id)).toEqual(['pending', 'succeeded', 'succeeded'])
    await pay(reference)
    expect(await read(id)).toMatchObject({ status: 'paid', uses: 3, paid_idr: 3 * amount, late: false, paid_at: clock.now().toISOString() })
    expect(await states(id)).toEqual(['expired', 'succeeded', 'succeeded', 'succeeded'])
    await withdraw(id)
    expect((await charges(id)).map(({ status }) => status)).not.toContain('pending')
    expect(await completions(id)).toBe(3)
  })

  test('a fourth payment is overpaid, with a case and no event', async () => {
    const { id, reference } = await charged({ amount_idr: amount, max_uses: 3, allowed_channels: ['va_bank_b'] })
    for (let payment = 0; payment < 4; payment += 1) await pay(reference)
    expect(await read(id)).toMatchObject({ status: 'paid', uses: 3, paid_idr: 3 * amount, overpaid_idr: amount })
    expect(await casesOf(bench, merchant, id)).toMatchObject([{ kind: 'overpayment', expected_idr: 0, received_idr: amount }])
    expect(await completions(id)).toBe(3)
  })

  test('over a wallet each payer has an attempt of their own, of which one that is declined takes nothing from the others', async () => {
    const { id, shortcode } = await created({ amount_idr: amount, max_uses: 3, allowed_channels: ['ewallet_wallet_a'] })
    const choose = () => call('choosePublicCheckoutChannel', { params: { shortcode }, body: { channel: 'ewallet_wallet_a' } })
    expect([(await choose()).status, (await choose()).status, (await choose()).status]).toEqual([201, 201, 201])
    const [one, two, three, four] = (await charges(id)).map(({ reference }) => reference)
    await simulator.move(one ?? '', 'decline')
    await settled()
    await pay(two ?? '')
    await pay(three ?? '')
    expect(await read(id)).toMatchObject({ status: 'open', uses: 2 })
    await pay(four ?? '')
    expect(await read(id)).toMatchObject({ status: 'paid', uses: 3, paid_idr: 3 * amount })
    expect(await states(id)).toEqual(['failed', 'succeeded', 'succeeded', 'succeeded'])
    expect((await kinds(id)).toSorted()).toEqual(['payment.completed', 'payment.completed', 'payment.completed', 'payment.failed', 'payment_intent.created'])
  })

  test.each([['cancelled', cancel], ['expired', async () => {
    clock.advance(86_400_000)
    while (await expireDue(creation));
  }]] as const)('%s after one use it keeps what was paid; later payments count, late, and the third makes it paid', async (status, end) => {
    const { id, reference } = await charged({ amount_idr: amount, max_uses: 3, allowed_channels: ['va_bank_a'] })
    await pay(reference)
    await end(id)
    expect(await read(id)).toMatchObject({ status, uses: 1, paid_idr: amount, late: false })
    expect(await states(id)).toEqual(['expired', 'succeeded'])
    await pay(reference)
    expect(await read(id)).toMatchObject({ status, uses: 2, paid_idr: 2 * amount, late: true, overpaid_idr: 0 })
    await pay(reference)
    expect(await read(id)).toMatchObject({ status: 'paid', uses: 3, paid_idr: 3 * amount, late: true })
    expect(await completions(id)).toBe(3)
  })
})

describe('max_uses 0', () => {
  test('has no end but its cancellation, and its deadline', async () => {
    const { id, reference } = await charged({ amount_idr: amount, max_uses: 0, allowed_channels: ['qris'] })
    for (let payment = 0; payment < 5; payment += 1) await pay(reference)
    expect(await read(id)).toMatchObject({ status: 'open', uses: 5, paid_idr: 5 * amount, paid_at: null })
    await cancel(id)
    await pay(reference)
    expect(await read(id)).toMatchObject({ status: 'cancelled', uses: 6, paid_idr: 6 * amount, late: true, overpaid_idr: 0 })
    expect(await completions(id)).toBe(6)
    expect(await casesOf(bench, merchant, id)).toEqual([])
  })

  test('ten payments at once are ten uses', async () => {
    const { id, reference } = await charged({ amount_idr: amount, max_uses: 0, allowed_channels: ['qris'] })
    await Promise.all(Array.from({ length: 10 }, () => simulator.pay(reference)))
    await settled()
    expect(await read(id)).toMatchObject({ status: 'open', uses: 10, paid_idr: 10 * amount })
    expect(await completions(id)).toBe(10)
  })
})

describe('the amount', () => {
  test('of a static QR is the payer\'s, and each attempt\'s what was paid', async () => {
    const { id, reference } = await charged({ amount_idr: amount, max_uses: 2, allowed_channels: ['qris'] })
    await pay(reference, { amount_idr: 7000 })
    await pay(reference, { amount_idr: 35_000 })
    expect(await read(id)).toMatchObject({ status: 'paid', uses: 2, amount_idr: amount, paid_idr: 42_000 })
    expect((await attempts(id)).filter(({ status }) => status === 'succeeded').map(({ amount_idr }) => amount_idr).sort((one, two) => one - two)).toEqual([7000, 35_000])
  })

  test.each(['va_bank_b', 'qris'])('elsewhere is the intent\'s: another one over %s does not count, and leaves a case', async (code) => {
    const { id, reference } = await charged({ amount_idr: amount, max_uses: code === 'qris' ? 1 : 2, allowed_channels: [code] })
    await pay(reference, { amount_idr: amount - 1 })
    expect(await read(id)).toMatchObject({ status: 'open', uses: 0, paid_idr: 0, overpaid_idr: 0 })
    expect(await casesOf(bench, merchant, id)).toMatchObject([{ kind: 'payment_mismatch', status: 'open', expected_idr: amount, received_idr: amount - 1 }])
    expect(await kinds(id)).toEqual(['payment_intent.created'])
  })
})

describe('money that is taken back', () => {
  test('of an open intent leaves it open, with its uses, and opens a case', async () => {
    const { id, reference } = await charged({ amount_idr: amount, max_uses: 0, allowed_channels: ['qris'] })
    await pay(reference)
    await simulator.move(reference, 'reverse')
    await settled()
    expect(await read(id)).toMatchObject({ status: 'open', uses: 1, paid_idr: amount })
    expect(await states(id)).toEqual(['pending', 'reversed'])
    expect(await casesOf(bench, merchant, id)).toMatchObject([{ kind: 'reversal', expected_idr: amount, received_idr: amount }])
  })

  test('reverses a paid intent only once nothing that was paid remains', async () => {
    const { id, shortcode } = await created({ amount_idr: amount, max_uses: 2, allowed_channels: ['ewallet_wallet_a'] })
    await call('choosePublicCheckoutChannel', { params: { shortcode }, body: { channel: 'ewallet_wallet_a' } })
    const [one, two] = (await charges(id)).map(({ reference }) => reference)
    for (const reference of [one ?? '', two ?? '']) await pay(reference)
    await simulator.move(one ?? '', 'reverse')
    await settled()
    expect(await read(id)).toMatchObject({ status: 'paid', uses: 2, paid_idr: 2 * amount })
    await simulator.move(two ?? '', 'reverse')
    await settled()
    expect(await read(id)).toMatchObject({ status: 'reversed', uses: 2, paid_idr: 2 * amount })
    expect((await casesOf(bench, merchant, id)).map(({ kind }) => kind)).toEqual(['reversal', 'reversal'])
    expect(await completions(id)).toBe(2)
  })
})

test('every invariant holds after all of it', async () => {
  expect((await checkInvariants(database)).filter(({ offenders }) => offenders.length > 0)).toEqual([])
})
