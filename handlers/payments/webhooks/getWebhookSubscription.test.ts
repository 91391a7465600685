import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { startPayments } from '../../../contract-tests/harness/payments.ts'

const { call, given, send } = await startPayments()
const merchant = await given.merchant()
const as = await given.token(merchant, 'merchant_owner', `merchant:${merchant.id}`)
const made = await call('createWebhookSubscription', { as, body: { url: 'https://shop.example/', events: ['payment.failed'] } })
if (made.status !== 201) throw new Error(JSON.stringify(made.body))
const { secret, ...view } = made.body

test('200: the subscription without its secret, for every console user with the permission at its merchant', async () => {
  expect(secret).toBeTruthy()
  for (const token of [as, await given.token(merchant, 'tenant_admin', '*'), await given.token(merchant, 'merchant_support', `merchant:${merchant.id}`)]) {
    expect(await call('getWebhookSubscription', { as: token, params: { id: view.id } })).toMatchObject({ status: 200, body: view })
  }
})

test('404 not_found: unknown, malformed, of another merchant, of another tenant, all alike', async () => {
  const sibling = await given.merchant({ tenantId: merchant.tenantId })
  const stranger = await given.merchant()
  const tokens = [sibling, stranger].map((other) => given.token(other, 'merchant_owner', `merchant:${other.id}`))
  const answers = [
    await call('getWebhookSubscription', { as, params: { id: randomUUID() } }),
    await send('getWebhookSubscription', { as, params: { id: 'x' } }),
    ...await Promise.all(tokens.map(async (token) => call('getWebhookSubscription', { as: await token, params: { id: view.id } }))),
  ]
  for (const answer of answers) {
    const { request_id: _, ...body } = answer.body as { request_id: string }
    expect({ status: answer.status, body }).toEqual({ status: 404, body: { error: 'not_found', message: (answer.body as { message: string }).message } })
  }
  expect(new Set(answers.map((answer) => (answer.body as { message: string }).message)).size).toBe(1)
})
