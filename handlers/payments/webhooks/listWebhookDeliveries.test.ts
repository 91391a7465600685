import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { startPayments } from '../../../contract-tests/harness/payments.ts'
import { startReceiver } from '../../../contract-tests/harness/receiver.ts'
import { subscribedIn } from '../../../contract-tests/harness/subscribed.ts'
import { answering, trusting, webhooksOf } from '../../../contract-tests/harness/webhooks.ts'

const receiver = await startReceiver()
const bench = await startPayments({ settings: trusting(receiver) })
const { call, clock, given } = bench
const hooks = webhooksOf(bench, receiver)
const subscribed = subscribedIn(bench, hooks)

const list = async (as: string, query: Record<string, string> = {}) => {
  const answer = await call('listWebhookDeliveries', { as, query })
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
  return answer.body
}
const eventsOf = async (as: string, query: Record<string, string> = {}) => (await list(as, query)).deliveries.map(({ event_id }) => event_id)

describe('200', () => {
  test('each delivery says what it is, how often it was tried, how the last attempt ended, and when the next is due', async () => {
    const { as, id, merchant, happen, deliveries } = await subscribed()
    const event = await happen()
    const createdAt = clock.now().toISOString()
    const [delivery] = await deliveries()
    if (!delivery) throw new Error('no delivery')
    const row = {
      id: delivery.id, merchant_id: merchant.id, subscription_id: id, event_id: event, event: 'payment.completed', origin: 'event', status: 'pending',
      dead_reason: null, attempt_count: 0, round_failures: 0, next_attempt_at: expect.any(String) as string, last_status: null, last_error: null,
      created_at: createdAt, ended_at: null,
    }
    expect(await list(as)).toEqual({ deliveries: [row], total: 1, page: 1, limit: 20, total_pages: 1 })
    await hooks.deliver(delivery, { sender: answering({ status: 500, error: 'status' }) })
    expect((await list(as)).deliveries).toEqual([{ ...row, attempt_count: 1, round_failures: 1, last_status: 500, last_error: 'status' }])
    await hooks.makeDue(delivery.id)
    await hooks.deliver(delivery, { sender: answering({ status: 204, succeeded: true }) })
    expect((await list(as)).deliveries).toEqual([{
      ...row, status: 'delivered', attempt_count: 2, round_failures: 1, next_attempt_at: null, last_status: 204, ended_at: expect.any(String) as string,
    }])
  })

  test('a status is told apart: pending, in_flight, delivered, dead; another matches nothing', async () => {
    const { as, happen, deliveries, die } = await subscribed()
    const events = [await happen(), await happen(), await happen(), await happen()]
    const [waiting, flying, done, dead] = await deliveries()
    if (!waiting || !flying || !done || !dead) throw new Error('no deliveries')
    hooks.deliver(flying, { sender: { send: () => new Promise(() => undefined), close: () => Promise.resolve() } }).catch(() => undefined)
    while (!(await deliveries())[1]?.leased) await Promise.resolve()
    await hooks.deliver(done)
    await die(dead)
    for (const [n, status] of ['pending', 'in_flight', 'delivered', 'dead'].entries()) {
      expect(await eventsOf(as, { status })).toEqual([events[n]])
      const next_attempt_at = status === 'pending' ? expect.any(String) as string : null
      expect(await list(as, { status })).toMatchObject({ deliveries: [{ status, next_attempt_at }], total: 1 })
    }
    expect((await list(as, { status: 'dead' })).deliveries).toMatchObject([{ dead_reason: 'exhausted', round_failures: 16 }])
    for (const status of ['retrying', 'PENDING', '%']) expect(await list(as, { status })).toMatchObject({ deliveries: [], total: 0, total_pages: 0 })
    expect(await eventsOf(as)).toEqual([...events].reverse())
  })

  test('a pending one has no next attempt while its subscription is not active', async () => {
    const { as, happen, update } = await subscribed()
    await happen()
    await update(false)
    expect((await list(as)).deliveries).toMatchObject([{ status: 'pending', next_attempt_at: null }])
  })

  test('newest first, of all states together, in pages', async () => {
    const { as, happen, deliveries, die } = await subscribed()
    const events: string[] = []
    for (let n = 0; n < 7; n += 1) events.unshift(await happen())
    for (const [n, delivery] of (await deliveries()).entries()) {
      if (n % 3 === 1) await die(delivery)
      if (n % 3 === 2) await hooks.deliver(delivery)
    }
    expect(await eventsOf(as)).toEqual(events)
    expect(await list(as, { limit: '3' })).toMatchObject({ total: 7, page: 1, limit: 3, total_pages: 3 })
    expect(await eventsOf(as, { limit: '3', page: '2' })).toEqual(events.slice(3, 6))
    expect(await eventsOf(as, { limit: '3', page: '3' })).toEqual(events.slice(6))
    expect(await list(as, { page: '9' })).toMatchObject({ deliveries: [], total: 7, page: 9 })
  })

  test('by subscription, event, kind, intent and time, alone and together', async () => {
    const { as, id, merchant, happen } = await subscribed()
    const other = await subscribed(merchant)
    const intent = randomUUID()
    const first = await happen()
    const from = clock.now().toISOString()
    const second = await happen('payment.failed', intent)
    const to = clock.now().toISOString()
    const third = await happen('payment.completed', intent)
    expect(await list(as)).toMatchObject({ total: 6 })
    expect(await eventsOf(as, { subscription_id: id })).toEqual([third, second, first])
    expect(await eventsOf(as, { event_id: second })).toEqual([second, second])
    expect(await eventsOf(as, { event: 'payment.failed', subscription_id: other.id })).toEqual([second])
    expect(await eventsOf(as, { intent_id: intent, subscription_id: id })).toEqual([third, second])
    expect(await eventsOf(as, { created_from: from, created_to: to, subscription_id: id })).toEqual([first])
    expect(await list(as, { event: 'payment.completed', created_from: to })).toMatchObject({ total: 2 })
    expect(await list(as, { event_id: first, event: 'payment.failed' })).toMatchObject({ deliveries: [], total: 0 })
    for (const query of [{ subscription_id: randomUUID() }, { event_id: randomUUID() }, { intent_id: randomUUID() }, { event: 'payment.unknown' }]) {
      expect(await list(as, query as Record<string, string>)).toMatchObject({ deliveries: [], total: 0 })
    }
  })

  test('every merchant within reach or the one named, and what a deleted subscription had; nothing of another by any filter', async () => {
    const { as, id, merchant, happen, remove } = await subscribed()
    const sibling = await subscribed(await given.merchant({ tenantId: merchant.tenantId }))
    const stranger = await subscribed()
    const own = await happen()
    const brother = await sibling.happen()
    const foreign = await stranger.happen()
    const admin = await given.token(merchant, 'tenant_admin', '*')
    expect(await eventsOf(admin)).toEqual([brother, own])
    expect(await eventsOf(admin, { merchant_id: sibling.merchant.id })).toEqual([brother])
    expect(await eventsOf(await given.token(merchant, 'merchant_support', `merchant:${merchant.id}`))).toEqual([own])
    for (const query of [{ subscription_id: stranger.id }, { event_id: foreign }, { subscription_id: sibling.id }]) {
      expect(await list(as, query as Record<string, string>)).toMatchObject({ deliveries: [], total: 0 })
    }
    await remove()
    expect((await list(as, { subscription_id: id })).deliveries).toMatchObject([{ event_id: own, status: 'dead', dead_reason: 'subscription_deleted' }])
  })
})

test.each([
  { subscription_id: 'x' }, { event_id: '1' }, { intent_id: '' }, { created_from: 'yesterday' }, { status: '' }, { page: 'x' }, { search: 'x' },
  { page: '20000', limit: '100' },
])(
  '400 validation_failed: %j', async (query) => {
    const { as } = await subscribed()
    expect(await call('listWebhookDeliveries', { as, query: query })).toMatchObject({ status: 400, body: { error: 'validation_failed' } })
  })

test('404 not_found: the merchant named is not within reach', async () => {
  const [{ as }, other] = [await subscribed(), await subscribed()]
  expect(await call('listWebhookDeliveries', { as, query: { merchant_id: other.merchant.id } })).toMatchObject({ status: 404, body: { error: 'not_found' } })
})
