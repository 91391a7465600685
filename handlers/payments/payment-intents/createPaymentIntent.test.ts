import { describe, expect, test } from 'vitest'
import { startPayments } from '../../../contract-tests/harness/payments.ts'

const bench = await startPayments()
const { call, given } = bench
const merchant = await given.merchant()
const as = await given.apiKey(merchant)

describe('201', () => {
  test('a dynamic QR comes with its payload', async () => {
    const answer = await call('createPaymentIntent', { as, body: { amount_idr: 150_000, max_uses: 1, allowed_channels: ['qris'] } })
    expect(answer.status, JSON.stringify(answer.body)).toBe(201)
  })
})
