import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { startPayments } from '../contract-tests/harness/payments.ts'
import { startReceiver } from '../contract-tests/harness/receiver.ts'
import { trusting, webhooksOf } from '../contract-tests/harness/webhooks.ts'
import { eventKinds } from '../domain/webhookEvents.ts'
import type { EventKind } from '../domain/webhookEvents.ts'
import type { Boss } from './boss.ts'
import { writeEvent } from './paymentEvents.ts'

const receiver = await startReceiver()
const bench = await startPayments({ settings: trusting(receiver) })
const { call, clock, creation, database, given } = bench
const hooks = webhooksOf(bench, receiver)

const draft = (merchant: { id: string, tenantId: string }, kind: EventKind) => ({
  kind, tenantId: merchant.tenantId, merchantId: merchant.id, intentId: null, data: { note: randomUUID() },
})
const countsOf = async (merchantId: string) => {
  const [row] = await database.query((sql) => sql<{ events: number, deliveries: number, jobs: number }[]>`
    select (select count(*)::int from payments.events where merchant_id = ${merchantId}) as events,
      (select count(*)::int from payments.webhook_deliveries where merchant_id = ${merchantId}) as deliveries,
      (select count(*)::int from pgboss.job where name = 'deliver-webhook' and data->>'merchant_id' = ${merchantId}) as jobs`)
  return row
}

test('an event makes one delivery, due now, and one job for each active subscription of the merchant to its kind, and for no other', async () => {
  const tenantId = randomUUID()
  const [merchant, sibling] = [await given.merchant({ tenantId }), await given.merchant({ tenantId })]
  const matching = [await hooks.subscribe(merchant, ['payment.completed']), await hooks.subscribe(merchant, [...eventKinds])]
  const otherKind = await hooks.subscribe(merchant, ['payment.failed'])
  const paused = await hooks.subscribe(merchant, ['payment.completed'])
  const deleted = await hooks.subscribe(merchant, ['payment.completed'])
  const as = await given.token(merchant, 'tenant_admin', '*')
  await call('updateWebhookSubscription', { as, params: { id: paused.id }, body: { active: false } })
  await call('deleteWebhookSubscription', { as, params: { id: deleted.id } })
  const foreign = await hooks.subscribe(sibling, [...eventKinds])
  await database.tx((sql) => writeEvent(sql, draft(merchant, 'payment.completed'), creation, clock.now()))
  const found = await Promise.all(matching.map(({ id }) => hooks.delivery(id)))
  expect(new Set(found.map(({ event_id }) => event_id)).size).toBe(1)
  for (const delivery of found) {
    expect(delivery).toMatchObject({ status: 'pending', attempt: 0, kind: 'payment.completed' })
    expect(delivery.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(delivery.due_in).toBeLessThanOrEqual(0)
    expect(await hooks.jobs(delivery.id)).toHaveLength(1)
  }
  for (const { id } of [otherKind, paused, deleted, foreign]) expect(await hooks.deliveries(id)).toEqual([])
})

test.each(eventKinds)('%s reaches who subscribed to it', async (kind) => {
  const merchant = await given.merchant()
  const { id } = await hooks.subscribe(merchant, [kind])
  for (const other of eventKinds) await database.tx((sql) => writeEvent(sql, draft(merchant, other), creation, clock.now()))
  expect(await hooks.delivery(id)).toMatchObject({ kind })
})

test('without a subscription there is the event and no job', async () => {
  const merchant = await given.merchant()
  await database.tx((sql) => writeEvent(sql, draft(merchant, 'payment.completed'), creation, clock.now()))
  expect(await countsOf(merchant.id)).toEqual({ events: 1, deliveries: 0, jobs: 0 })
})

test('a change that is rolled back leaves neither event nor delivery nor job', async () => {
  const merchant = await given.merchant()
  await hooks.subscribe(merchant, ['payment.completed'])
  await expect(database.tx(async (sql) => {
    await writeEvent(sql, draft(merchant, 'payment.completed'), creation, clock.now())
    const inside = await sql<{ count: number }[]>`select count(*)::int as count from pgboss.job where data->>'merchant_id' = ${merchant.id}`
    expect(inside[0]?.count).toBe(1)
    throw new Error('rolled back')
  })).rejects.toThrow('rolled back')
  expect(await countsOf(merchant.id)).toEqual({ events: 0, deliveries: 0, jobs: 0 })
})

test('with the queue away a change is told all the same: the event and its delivery are there, which the rows tell of without a job', async () => {
  const merchant = await given.merchant()
  const away: Boss = { client: undefined, whenReady: () => new Promise(() => undefined), noteAbsence: () => undefined, stop: () => Promise.resolve() }
  const { id } = await hooks.subscribe(merchant, ['payment.completed'])
  await database.tx((sql) => writeEvent(sql, draft(merchant, 'payment.completed'), { ...creation, boss: away }, clock.now()))
  expect(await countsOf(merchant.id)).toEqual({ events: 1, deliveries: 1, jobs: 0 })
  expect(await hooks.deliver(await hooks.delivery(id))).toBe('delivered')
})

test('an event carries how many subscriptions matched it, as many as it has deliveries', async () => {
  const merchant = await given.merchant()
  const matched = async () => {
    await database.tx((sql) => writeEvent(sql, draft(merchant, 'payment.completed'), creation, clock.now()))
    const [row] = await database.query((sql) => sql<{ matched: number, deliveries: number }[]>`
      select matched, (select count(*)::int from payments.webhook_deliveries d where d.event_id = e.id) as deliveries
      from payments.events e where merchant_id = ${merchant.id} order by position desc limit 1`)
    return row
  }
  expect(await matched()).toEqual({ matched: 0, deliveries: 0 })
  await hooks.subscribe(merchant, ['payment.completed'])
  await hooks.subscribe(merchant, ['payment.completed', 'payment.failed'])
  await hooks.subscribe(merchant, ['payment.failed'])
  expect(await matched()).toEqual({ matched: 2, deliveries: 2 })
})

test('creating and paying an intent is told to a receiver, the event being what the API says of it', async () => {
  const merchant = await given.merchant()
  const as = await given.apiKey(merchant)
  const { id } = await hooks.subscribe(merchant, [...eventKinds])
  const intent = await call('createPaymentIntent', { as, body: { amount_idr: 150_000, allowed_channels: ['qris', 'va_bank_a'] } })
  if (intent.status !== 201) throw new Error('not created')
  const delivery = await hooks.delivery(id)
  const before = receiver.received.length
  await hooks.deliver(delivery)
  const body = JSON.parse(receiver.received[before]?.body.toString() ?? '') as { id: string, data: object }
  expect(body.data).toEqual({ intent: intent.body })
  expect((await call('getEvent', { as, params: { id: body.id } })).body).toEqual(body)
})
