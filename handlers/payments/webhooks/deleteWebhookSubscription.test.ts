import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { startPayments } from '../../../contract-tests/harness/payments.ts'

const { call, database, given } = await startPayments()
const merchant = await given.merchant()
const as = await given.token(merchant, 'merchant_owner', `merchant:${merchant.id}`)

const create = async () => {
  const answer = await call('createWebhookSubscription', { as, body: { url: 'https://shop.example/', events: ['payment.failed'] } })
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
  return answer.body.id
}

test('204: it is gone, its secret too, and the audit log says so', async () => {
  const id = await create()
  expect(await call('deleteWebhookSubscription', { as, params: { id } })).toMatchObject({ status: 204, body: undefined })
  expect((await call('getWebhookSubscription', { as, params: { id } })).status).toBe(404)
  const [row] = await database.query((sql) => sql<{ secret: Buffer, active: boolean }[]>`select secret, active from payments.webhook_subscriptions where id = ${id}`)
  expect(row).toEqual({ secret: Buffer.alloc(0), active: false })
  const audits = await database.query((sql) => sql`select from payments.audit_events
    where target = ${`webhook_subscription:${id}`} and action = 'payments.webhook_subscription.deleted'`)
  expect(audits).toHaveLength(1)
})

test('204: a paused one can be deleted', async () => {
  const id = await create()
  await call('updateWebhookSubscription', { as, params: { id }, body: { active: false } })
  expect((await call('deleteWebhookSubscription', { as, params: { id } })).status).toBe(204)
})

test('404 not_found: unknown, deleted before, or of another merchant, which it stays', async () => {
  const id = await create()
  const stranger = await given.merchant()
  const other = await given.token(stranger, 'merchant_owner', `merchant:${stranger.id}`)
  expect(await call('deleteWebhookSubscription', { as: other, params: { id } })).toMatchObject({ status: 404, body: { error: 'not_found' } })
  expect((await call('getWebhookSubscription', { as, params: { id } })).status).toBe(200)
  await call('deleteWebhookSubscription', { as, params: { id } })
  expect((await call('deleteWebhookSubscription', { as, params: { id } })).status).toBe(404)
  expect((await call('deleteWebhookSubscription', { as, params: { id: randomUUID() } })).status).toBe(404)
})
