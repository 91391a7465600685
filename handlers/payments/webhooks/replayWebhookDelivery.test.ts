import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { startPayments } from '../../../contract-tests/harness/payments.ts'
import { startReceiver } from '../../../contract-tests/harness/receiver.ts'
import { subscribedIn } from '../../../contract-tests/harness/subscribed.ts'
import { answering, trusting, webhooksOf } from '../../../contract-tests/harness/webhooks.ts'

const receiver = await startReceiver()
const bench = await startPayments({ settings: trusting(receiver) })
const { call, clock, database, given, send } = bench
const hooks = webhooksOf(bench, receiver)
const subscribed = subscribedIn(bench, hooks)

const failing = answering({ status: 500, error: 'status' })
const once = async () => {
  const of = await subscribed()
  const event = await of.happen()
  const [delivery] = await of.deliveries()
  if (!delivery) throw new Error('no delivery')
  const replay = (key?: string) => call('replayWebhookDelivery', { as: of.as, params: { id: delivery.id }, ...(key !== undefined && { key }) })
  const now = async () => (await of.deliveries())[0]
  return { ...of, event, delivery, replay, now }
}
const audits = async (deliveryId: string) => {
  const rows = await database.query((sql) => sql<{ changed_keys: string[] }[]>`
    select changed_keys from payments.audit_events
    where action = 'payments.webhook_delivery.replayed' and target = ${`webhook_delivery:${deliveryId}`} order by id`)
  return rows.map(({ changed_keys }) => changed_keys)
}

describe('200', () => {
  test('what was delivered is sent again: same event id, same body, same row, the next number, and a round of its own', async () => {
    const { delivery, event, replay, now } = await once()
    await hooks.deliver(delivery, { sender: failing })
    await hooks.makeDue(delivery.id)
    await hooks.deliver(delivery)
    const answer = await replay()
    expect(answer).toMatchObject({
      status: 200, body: { id: delivery.id, event_id: event, status: 'pending', attempt_count: 2, round_failures: 0, dead_reason: null, ended_at: null },
    })
    expect((await now())?.due_in).toBeLessThanOrEqual(0)
    expect((await hooks.jobs(delivery.id)).some(({ starts_in }) => starts_in <= 0)).toBe(true)
    expect(await hooks.deliver(delivery)).toBe('delivered')
    const requests = receiver.received.filter(({ body }) => (JSON.parse(body.toString()) as { id: string }).id === event)
    expect(requests).toHaveLength(2)
    expect(requests[1]?.body).toEqual(requests[0]?.body)
    expect(requests[1]?.headers['x-service-delivery-id']).not.toBe(requests[0]?.headers['x-service-delivery-id'])
    expect((await hooks.attempts(delivery.id)).map(({ number, outcome }) => [number, outcome])).toEqual([[1, 'failed'], [2, 'succeeded'], [3, 'succeeded']])
    expect(await audits(delivery.id)).toEqual([['status', 'next_attempt_at']])
  })

  test('what is dead gets 16 tries of its own, and ten failures in a row are counted anew', async () => {
    const { delivery, replay, now, update } = await once()
    const fail = async (times: number) => {
      for (let n = 0; n < times; n += 1) {
        await hooks.makeDue(delivery.id)
        await hooks.deliver(delivery, { sender: failing })
      }
    }
    await fail(10)
    await update(true)
    expect(await now()).toMatchObject({ status: 'dead', dead_reason: 'failures' })
    expect(await replay()).toMatchObject({ status: 200, body: { status: 'pending', attempt_count: 10, round_failures: 0 } })
    await fail(9)
    expect(await now()).toMatchObject({ status: 'pending', round_failures: 9, attempt: 19 })
    await fail(1)
    expect(await now()).toMatchObject({ status: 'dead', round_failures: 10 })
  })

  test('what waits for a retry is due now, in the same round', async () => {
    const { delivery, replay, now } = await once()
    await hooks.deliver(delivery, { sender: failing })
    expect((await now())?.due_in).toBeGreaterThan(0)
    expect(await replay()).toMatchObject({ status: 200, body: { status: 'pending', attempt_count: 1, round_failures: 1 } })
    expect((await now())?.due_in).toBeLessThanOrEqual(0)
    expect(await audits(delivery.id)).toEqual([['next_attempt_at']])
  })

  test('what is in flight, or due already, stays as it is, however often it is asked for', async () => {
    const { as, delivery, replay, now } = await once()
    const jobs = await hooks.jobs(delivery.id)
    expect(await replay()).toMatchObject({ status: 200, body: { status: 'pending', attempt_count: 0 } })
    hooks.deliver(delivery, { sender: { send: () => new Promise(() => undefined), close: () => Promise.resolve() } }).catch(() => undefined)
    while (!(await now())?.leased) await Promise.resolve()
    for (let n = 0; n < 2; n += 1) expect(await replay()).toMatchObject({ status: 200, body: { status: 'in_flight', attempt_count: 1 } })
    const [attempt] = await hooks.attempts(delivery.id)
    expect(await call('replayWebhookDelivery', { as, params: { id: attempt?.id ?? '' } })).toMatchObject({ status: 200, body: { id: delivery.id } })
    expect(await hooks.jobs(delivery.id)).toHaveLength(jobs.length)
    expect(await audits(delivery.id)).toEqual([])
  })

  test('the same Idempotency-Key replays once, whatever has become of the delivery', async () => {
    const { delivery, replay, now } = await once()
    await hooks.deliver(delivery)
    const key = randomUUID()
    const first = await replay(key)
    expect(first).toMatchObject({ status: 200, body: { status: 'pending' } })
    await hooks.deliver(delivery)
    const again = await replay(key)
    expect(again.body).toEqual(first.body)
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expect(await now()).toMatchObject({ status: 'delivered', attempt: 2 })
  })

  test('of many at once one replays, and every other finds it due', async () => {
    const { delivery, replay, now } = await once()
    await hooks.deliver(delivery)
    const answers = await Promise.all(Array.from({ length: 8 }, () => replay()))
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 200))
    expect(await audits(delivery.id)).toHaveLength(1)
    expect(await now()).toMatchObject({ status: 'pending', attempt: 1 })
  })
})

describe('409', () => {
  test('invalid_state: the subscription is inactive, and nothing has changed; once it is active the replay goes through', async () => {
    const { delivery, replay, now, update } = await once()
    await hooks.deliver(delivery)
    await update(false)
    expect(await replay()).toMatchObject({ status: 409, body: { error: 'invalid_state', message: expect.stringContaining('inactive') as string } })
    expect(await now()).toMatchObject({ status: 'delivered' })
    await update(true)
    expect((await replay()).status).toBe(200)
  })

  test('invalid_state: the subscription is deleted; the delivery stays readable', async () => {
    const { as, delivery, replay, remove } = await once()
    await remove()
    expect(await replay()).toMatchObject({ status: 409, body: { error: 'invalid_state', message: expect.stringContaining('deleted') as string } })
    expect(await call('getWebhookDelivery', { as, params: { id: delivery.id } })).toMatchObject({ status: 200, body: { status: 'dead' } })
  })

  test('idempotency_key_reused: the key of another delivery', async () => {
    const { as, replay, happen, deliveries } = await once()
    const key = randomUUID()
    expect((await replay(key)).status).toBe(200)
    await happen()
    const [, second] = await deliveries()
    const answer = await call('replayWebhookDelivery', { as, params: { id: second?.id ?? '' }, key })
    expect(answer).toMatchObject({ status: 409, body: { error: 'idempotency_key_reused' } })
  })
})

test('429 rate_limited: one delivery is replayed once in 10 seconds, and Retry-After says when', async () => {
  const { delivery, replay, now } = await once()
  await hooks.deliver(delivery)
  await replay()
  await hooks.deliver(delivery)
  clock.advance(2500)
  const refused = await replay()
  expect(refused).toMatchObject({ status: 429, body: { error: 'rate_limited' } })
  const headers = ['retry-after', 'ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'].map((name) => refused.headers.get(name))
  expect(headers).toEqual(['8', '1', '0', '8'])
  expect(await now()).toMatchObject({ status: 'delivered', attempt: 2 })
  clock.advance(7500)
  expect(await replay()).toMatchObject({ status: 200, body: { status: 'pending' } })
})

test('404 not_found: unknown, malformed, or of another merchant, and it stays as it was', async () => {
  const { as, merchant, delivery, now } = await once()
  await hooks.deliver(delivery)
  const sibling = await given.merchant({ tenantId: merchant.tenantId })
  const other = await given.token(sibling, 'merchant_owner', `merchant:${sibling.id}`)
  expect(await call('replayWebhookDelivery', { as: other, params: { id: delivery.id } })).toMatchObject({ status: 404, body: { error: 'not_found' } })
  expect((await call('replayWebhookDelivery', { as, params: { id: randomUUID() } })).status).toBe(404)
  expect((await send('replayWebhookDelivery', { as, params: { id: 'x' } })).status).toBe(404)
  expect(await now()).toMatchObject({ status: 'delivered' })
})
