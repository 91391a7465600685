import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { startPayments } from '../../../contract-tests/harness/payments.ts'
import type { components } from '../../../generated/payments.ts'

const { call, clock, database, given, send } = await startPayments()
const merchant = await given.merchant()
const as = await given.token(merchant, 'merchant_owner', `merchant:${merchant.id}`)

const create = async () => {
  const answer = await call('createWebhookSubscription', { as, body: { url: 'https://shop.example/', events: ['payment.failed'], description: 'Old' } })
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
  return answer.body.id
}
const update = (id: string, body: components['schemas']['WebhookSubscriptionUpdate']) => call('updateWebhookSubscription', { as, params: { id }, body })
const audits = async (id: string) => {
  const rows = await database.query((sql) => sql<{ changed_keys: string[] }[]>`
    select changed_keys from payments.audit_events where target = ${`webhook_subscription:${id}`} and action = 'payments.webhook_subscription.updated'`)
  return rows.map(({ changed_keys }) => changed_keys)
}

describe('200', () => {
  test('what is named changes, the rest stays, and the audit log names the members that changed', async () => {
    const id = await create()
    expect(await update(id, { url: 'https://new.example/', events: ['payment.completed'] })).toMatchObject({
      status: 200, body: { url: 'https://new.example/', events: ['payment.completed'], description: 'Old', active: true },
    })
    expect(await update(id, { description: null })).toMatchObject({ status: 200, body: { description: null, url: 'https://new.example/' } })
    expect(await audits(id)).toEqual([['url', 'events'], ['description']])
  })

  test('active false pauses, active true turns on again', async () => {
    const id = await create()
    expect(await update(id, { active: false })).toMatchObject({
      status: 200, body: { active: false, disabled_reason: 'paused', disabled_at: clock.now().toISOString() },
    })
    expect(await update(id, { active: true })).toMatchObject({ status: 200, body: { active: true, disabled_reason: null, disabled_at: null } })
    expect(await audits(id)).toEqual([['active'], ['active']])
  })

  test('what is so already changes nothing: a pause keeps its time, an activation is no new one, and there is no audit row', async () => {
    const id = await create()
    const activatedAt = () => database.query((sql) => sql`select activated_at from payments.webhook_subscriptions where id = ${id}`)
    const before = await activatedAt()
    await update(id, { active: true })
    expect(await activatedAt()).toEqual(before)
    const paused = await update(id, { active: false })
    clock.advance(5000)
    expect((await update(id, { active: false })).body).toEqual(paused.body)
    expect(await audits(id)).toEqual([['active']])
  })
})

test.each([
  [{ url: 'http://shop.example/' }, 'url'], [{ url: 'https://192.168.1.1/' }, 'url'], [{ events: ['payment.unknown'] }, 'events'],
])('400 validation_failed: %j names %s, and nothing has changed', async (body, field) => {
  const id = await create()
  expect(await update(id, { ...body, description: 'New' })).toMatchObject({ status: 400, body: { error: 'validation_failed', fields: { [field]: expect.any(String) as string } } })
  expect(await call('getWebhookSubscription', { as, params: { id } })).toMatchObject({ body: { url: 'https://shop.example/', description: 'Old', events: ['payment.failed'] } })
})

test.each([{}, { secret: 'x' }, { active: null }, { active: 'true' }, { merchant_id: randomUUID() }, { url: null }])('400 validation_failed: the body %j', async (body) => {
  const answer = await send('updateWebhookSubscription', { as, params: { id: await create() }, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) })
  expect(answer).toMatchObject({ status: 400, body: { error: 'validation_failed' } })
})

test('404 not_found: unknown, deleted, or of another merchant', async () => {
  const id = await create()
  const sibling = await given.merchant({ tenantId: merchant.tenantId })
  const other = await given.token(sibling, 'merchant_owner', `merchant:${sibling.id}`)
  expect((await call('updateWebhookSubscription', { as: other, params: { id }, body: { active: false } })).status).toBe(404)
  await call('deleteWebhookSubscription', { as, params: { id } })
  expect(await update(id, { active: true })).toMatchObject({ status: 404, body: { error: 'not_found' } })
  expect((await update(randomUUID(), { active: true })).status).toBe(404)
})
