import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { startPayments } from '../../../contract-tests/harness/payments.ts'

const { call, given, send } = await startPayments()
const merchant = await given.merchant()
const as = await given.apiKey(merchant)
const intent = await call('createPaymentIntent', { as, body: { amount_idr: 150_000, allowed_channels: ['qris', 'va_bank_a'] } })
if (intent.status !== 201) throw new Error(JSON.stringify(intent.body))
const list = await call('listEvents', { as })
if (list.status !== 200) throw new Error(JSON.stringify(list.body))
const id = list.body.events[0]?.id ?? ''

test('200: the event with the snapshot of what it is about', async () => {
  expect(await call('getEvent', { as, params: { id } })).toMatchObject({
    status: 200, body: { id, event: 'payment_intent.created', environment: 'sandbox', api_version: 'v1', merchant_id: merchant.id, data: { intent: intent.body } },
  })
})

test('404 not_found: unknown, malformed, or of another merchant', async () => {
  const sibling = await given.merchant({ tenantId: merchant.tenantId })
  expect(await call('getEvent', { as: await given.apiKey(sibling), params: { id } })).toMatchObject({ status: 404, body: { error: 'not_found' } })
  expect((await call('getEvent', { as: await given.apiKey(await given.merchant()), params: { id } })).status).toBe(404)
  expect((await call('getEvent', { as, params: { id: randomUUID() } })).status).toBe(404)
  expect((await send('getEvent', { as, params: { id: 'x' } })).status).toBe(404)
})

test('403 insufficient_scope: a key without the scope', async () => {
  const key = await given.apiKey(merchant, { scopes: ['payments.refund.create'] })
  expect(await call('getEvent', { as: key, params: { id } })).toMatchObject({ status: 403, body: { error: 'insufficient_scope' } })
})
