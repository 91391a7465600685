import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { intentActs } from '../../../contract-tests/harness/intentActs.ts'
import { startPayments } from '../../../contract-tests/harness/payments.ts'

const bench = await startPayments()
const { call, clock, given, settled, simulator } = bench
const qris = { amount_idr: 150_000, allowed_channels: ['qris'] }

const shop = async () => {
  const as = await given.apiKey(await given.merchant())
  return { as, ...intentActs(bench, as) }
}

describe('200', () => {
  test('every attempt of the intent and of no other, newest first', async () => {
    const { as, charged, created } = await shop()
    await created(qris)
    const { id, reference } = await charged({ ...qris, max_uses: 0 })
    for (const amount_idr of [10_000, 20_000]) {
      clock.advance(1000)
      await settled(simulator.pay(reference, { amount_idr }))
    }
    expect(await call('listPaymentAttempts', { as, params: { id } })).toMatchObject({
      status: 200,
      body: {
        attempts: [
          { intent_id: id, amount_idr: 20_000, status: 'succeeded', completed_at: clock.now().toISOString() },
          { intent_id: id, amount_idr: 10_000, status: 'succeeded' },
          { intent_id: id, amount_idr: 150_000, status: 'pending', provider_reference: reference, completed_at: null },
        ],
        total: 3, page: 1, limit: 20, total_pages: 1,
      },
    })
    expect(await call('listPaymentAttempts', { as, params: { id }, query: { limit: '2', page: '2' } }))
      .toMatchObject({ status: 200, body: { attempts: [{ status: 'pending' }], total: 3, total_pages: 2 } })
  })

  test('none, while the payer has not chosen', async () => {
    const { as, created } = await shop()
    const { id } = await created({ ...qris, allowed_channels: ['qris', 'va_bank_a'] })
    expect(await call('listPaymentAttempts', { as, params: { id } })).toMatchObject({ status: 200, body: { attempts: [], total: 0 } })
  })

  test('a pending attempt past its deadline reads expired at once', async () => {
    const { as, created } = await shop()
    const { id } = await created({ ...qris, expires_in_seconds: 60 })
    clock.advance(60_000)
    expect(await call('listPaymentAttempts', { as, params: { id } })).toMatchObject({ status: 200, body: { attempts: [{ status: 'expired' }] } })
  })

  test('limit and page are moved into range', async () => {
    const { as, created } = await shop()
    const { id } = await created(qris)
    expect(await call('listPaymentAttempts', { as, params: { id }, query: { limit: '500', page: '0' } }))
      .toMatchObject({ status: 200, body: { limit: 100, page: 1, total: 1 } })
  })
})

test('400: a page too deep names page', async () => {
  const { as, created } = await shop()
  const { id } = await created(qris)
  expect(await call('listPaymentAttempts', { as, params: { id }, query: { page: '1000001', limit: '1' } }))
    .toMatchObject({ status: 400, body: { error: 'validation_failed', fields: { page: expect.any(String) as string } } })
})

test('404: an intent that there is not, and one of another merchant', async () => {
  const { as, created } = await shop()
  const { id } = await created(qris)
  const missing = { status: 404, body: { error: 'not_found' } }
  expect(await call('listPaymentAttempts', { as, params: { id: randomUUID() } })).toMatchObject(missing)
  expect(await call('listPaymentAttempts', { as: (await shop()).as, params: { id } })).toMatchObject(missing)
})
