import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { openedCase } from '../../../contract-tests/harness/cases.ts'
import { startPayments } from '../../../contract-tests/harness/payments.ts'

const bench = await startPayments()
const { call, clock, given } = bench
const merchant = await given.merchant()
const owner = await given.token(merchant, 'merchant_owner', `merchant:${merchant.id}`)

test('200: what happened, in words and figures, and what can be done about it', async () => {
  const { id, intent_id, attempt_id, provider_reference } = await openedCase(bench, merchant, { currency: 'USD', expectedIdr: 150_000, receivedIdr: 10 })
  expect(await call('getCase', { as: owner, params: { id } })).toMatchObject({
    status: 200,
    body: {
      id, merchant_id: merchant.id, kind: 'overpayment', status: 'open', intent_id, attempt_id, provider: 'simulator', provider_reference, expected_idr: 150_000,
      received_idr: 10, currency: 'USD', detail: 'The payment intent was paid already.', transitions: [{ status: 'resolved', operation: 'transitionCase' }],
      note: null, opened_at: clock.now().toISOString(), resolved_at: null, resolved_by: null,
    },
  })
})

test('404: unknown, and of another merchant', async () => {
  const { id } = await openedCase(bench, await given.merchant({ tenantId: merchant.tenantId }))
  for (const unknown of [id, randomUUID()]) {
    expect(await call('getCase', { as: owner, params: { id: unknown } })).toMatchObject({ status: 404, body: { error: 'not_found' } })
  }
})
