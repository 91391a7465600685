import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { intentActs } from '../../../contract-tests/harness/intentActs.ts'
import { startPayments } from '../../../contract-tests/harness/payments.ts'

const bench = await startPayments()
const { call, clock, given, settled, simulator } = bench
const as = await given.apiKey(await given.merchant())
const { attempts, charged, charges, created, kinds, read } = intentActs(bench, as)

const expire = (id: string) => call('sandboxExpirePaymentIntent', { as, params: { id } })
const expired = ['payment_intent.created', 'payment_intent.expired']

describe('200', () => {
  test.each(['qris', 'va_bank_a', 'ewallet_wallet_a', 'otc_store_a', 'paylater_a', 'card_3ds', 'cash'])('an intent of %s expires', async (code) => {
    const { id } = await created({ amount_idr: 150_000, allowed_channels: [code] })
    expect(await expire(id)).toMatchObject({ status: 200, body: { status: 'expired' } })
    expect(await attempts(id)).toMatchObject([{ status: 'expired' }])
    expect(await kinds(id)).toEqual(expired)
  })

  test('it is the provider that lets the charge of the live attempt expire', async () => {
    const { id } = await charged({ amount_idr: 150_000, allowed_channels: ['va_bank_a'] })
    await expire(id)
    expect(await charges(id)).toMatchObject([{ status: 'expired', callbacks_made: 1 }])
  })

  test('an intent of several channels, of several uses, and without attempt, expires whole', async () => {
    for (const body of [{ allowed_channels: ['qris', 'va_bank_a'] }, { allowed_channels: ['qris'], max_uses: 3 }, { allowed_channels: ['ewallet_wallet_a'], max_uses: 3 }]) {
      const { id } = await created({ amount_idr: 150_000, ...body })
      expect(await expire(id)).toMatchObject({ status: 200, body: { status: 'expired' } })
      expect(await kinds(id)).toEqual(expired)
    }
  })

  test('money after it is recorded, late', async () => {
    const { id, reference } = await charged({ amount_idr: 150_000, allowed_channels: ['qris'] })
    await expire(id)
    await settled(simulator.pay(reference, { force: true }))
    expect(await read(id)).toMatchObject({ status: 'paid', late: true })
    expect(await kinds(id)).toEqual([...expired, 'payment.completed'])
  })

  test('111012, completed before: it is paid late as soon as it has expired', async () => {
    const { id, reference } = await charged({ amount_idr: 111_012, allowed_channels: ['qris'] })
    await call('sandboxCompletePaymentIntent', { as, params: { id } })
    await expire(id)
    await settled(simulator.payLate())
    expect(await charges(id)).toMatchObject([{ reference, status: 'paid' }])
    await expect.poll(() => read(id)).toMatchObject({ status: 'paid', late: true })
  })
})

test('409: an intent that has ended, or whose deadline is past', async () => {
  const { id } = await created({ amount_idr: 150_000, allowed_channels: ['qris'], expires_in_seconds: 60 })
  clock.advance(60_000)
  expect(await expire(id)).toMatchObject({ status: 409, body: { error: 'invalid_state', message: 'The payment intent is expired.' } })
  const cancelled = await created({ amount_idr: 150_000, allowed_channels: ['qris'] })
  await call('cancelPaymentIntent', { as, params: { id: cancelled.id } })
  expect(await expire(cancelled.id)).toMatchObject({ status: 409, body: { error: 'invalid_state', message: 'The payment intent is cancelled.' } })
})

test('409: an intent that is cancelled meanwhile, also when its money comes late', async () => {
  const { id, reference } = await charged({ amount_idr: 150_000, allowed_channels: ['qris'] })
  await simulator.next('latency', { on: 'expire', ms: 300 })
  const asked = expire(id)
  expect(await call('cancelPaymentIntent', { as, params: { id } })).toMatchObject({ status: 200 })
  await settled(simulator.pay(reference, { force: true }))
  expect(await asked).toMatchObject({ status: 409, body: { error: 'invalid_state' } })
  expect(await read(id)).toMatchObject({ status: 'paid', late: true })
  expect(await kinds(id)).toEqual(['payment_intent.created', 'payment.completed'])
})

test('404: an intent that nobody has', async () => {
  expect(await expire(randomUUID())).toMatchObject({ status: 404, body: { error: 'not_found' } })
})
