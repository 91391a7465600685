import { describe, expect, test } from 'vitest'
import { startPayments } from '../contract-tests/harness/payments.ts'
import bundle from '../generated/payments.json' with { type: 'json' }
import { redacted, secretNames } from './log.ts'

const names = secretNames(bundle)

describe('redaction follows the document', () => {
  test('every member that is marked x-secret is redacted, at any depth', () => {
    expect([...names]).toEqual(expect.arrayContaining(['email', 'phone', 'name']))
    expect(redacted({ customer: { email: 'a@b.example', nested: [{ phone: '+62812' }] }, amount_idr: 1 }, names))
      .toEqual({ customer: { email: '[redacted]', nested: [{ phone: '[redacted]' }] }, amount_idr: 1 })
  })
})

test('a refused request is logged with its reason and who sent it, and neither key nor payer', async () => {
  const bench = await startPayments()
  const as = await bench.given.apiKey(await bench.given.merchant())
  await bench.call('createPaymentIntent', { as, body: { amount_idr: 0, allowed_channels: ['qris'], customer: { email: 'pelanggan@shop.example' } } })
  const lines = bench.logged.join('\n')
  expect(lines).toContain('createPaymentIntent')
  expect(lines).toContain('validation_failed')
  expect(lines).toContain(as.slice(0, 12))
  expect(lines).not.toContain(as)
  expect(lines).not.toContain('pelanggan@shop.example')
})
