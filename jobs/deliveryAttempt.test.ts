import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { startPayments } from '../contract-tests/harness/payments.ts'
import { startReceiver } from '../contract-tests/harness/receiver.ts'
import { answering, isGenuine, trusting, webhooksOf } from '../contract-tests/harness/webhooks.ts'
import type { WebhookAnswer } from '../providers/webhookSender.ts'
import { writeEvent } from './paymentEvents.ts'
import { sweepLapsedDeliveries } from './webhookSweep.ts'

const receiver = await startReceiver()
const bench = await startPayments({ settings: trusting(receiver) })
const { call, clock, creation, database, given } = bench
const hooks = webhooksOf(bench, receiver)

/** A merchant with one subscription; `happen` writes an event of it. */
const subscribed = async () => {
  const merchant = await given.merchant()
  const as = await given.token(merchant, 'merchant_owner', `merchant:${merchant.id}`)
  const { id, secret } = await hooks.subscribe(merchant, ['payment.completed', 'payment.refunded'])
  const happen = (kind: 'payment.completed' | 'payment.refunded' | 'payment.failed' = 'payment.completed') => database.tx((sql) => writeEvent(sql, {
    kind, tenantId: merchant.tenantId, merchantId: merchant.id, intentId: null, data: { note: 'kopi ☕' },
  }, creation, clock.now()))
  const read = async () => (await call('getWebhookSubscription', { as, params: { id } })).body
  const update = (active: boolean) => call('updateWebhookSubscription', { as, params: { id }, body: { active } })
  return { merchant, as, id, secret, happen, read, update }
}

const failing = answering({ status: 500 })
/** Fails the only delivery `times` times. */
const failTimes = async (subscriptionId: string, times: number, sender = failing) => {
  for (let n = 0; n < times; n += 1) {
    const delivery = await hooks.delivery(subscriptionId)
    await hooks.makeDue(delivery.id)
    await hooks.deliver(delivery, { sender })
  }
  return hooks.delivery(subscriptionId)
}

describe('an attempt', () => {
  test('brings the stored bytes, signed as the brief says, with an id of its own', async () => {
    const { id, secret, happen, merchant } = await subscribed()
    await happen()
    const delivery = await hooks.delivery(id)
    const before = receiver.received.length
    expect(await hooks.deliver(delivery)).toBe('delivered')
    const [request, ...more] = receiver.received.slice(before)
    if (!request || more.length > 0) throw new Error('not one request')
    expect(isGenuine(request, secret, clock.now())).toBe(true)
    expect(isGenuine(request, secret, new Date(clock.now().getTime() + 302_000))).toBe(false)
    expect(isGenuine({ ...request, body: Buffer.concat([request.body, Buffer.from(' ')]) }, secret, clock.now())).toBe(false)
    expect(isGenuine(request, `${secret}x`, clock.now())).toBe(false)
    const body = JSON.parse(request.body.toString()) as object
    expect(body).toEqual({
      id: delivery.event_id, event: 'payment.completed', created_at: clock.now().toISOString(), environment: 'sandbox', api_version: 'v1',
      merchant_id: merchant.id, data: { note: 'kopi ☕' },
    })
    const [attempt] = await hooks.attempts(delivery.id)
    expect(request).toMatchObject({
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-service-event-kind': 'payment.completed', 'x-service-delivery-id': attempt?.id },
    })
    expect(attempt).toMatchObject({ number: 1, outcome: 'succeeded', status: 204, error: null })
    expect(await hooks.delivery(id)).toMatchObject({ status: 'delivered', attempt: 1, leased: false, due_in: null })
  })

  test('keeps the first 2 KiB of the answer, whatever bytes they are', async () => {
    const { id, happen } = await subscribed()
    await happen()
    const delivery = await hooks.delivery(id)
    const body = Buffer.from([0, 255, 128, 1])
    await hooks.deliver(delivery, { sender: answering({ status: 500, body, headers: { server: 'x' } }) })
    expect((await hooks.attempts(delivery.id))[0]).toMatchObject({ outcome: 'failed', status: 500, error: 'status', response_body: body })
  })

  test('by two workers at once is made once', async () => {
    const { id, happen } = await subscribed()
    await happen()
    const delivery = await hooks.delivery(id)
    const before = receiver.received.length
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => hooks.deliver(delivery)))
    expect(outcomes.sort()).toEqual(['delivered', ...Array.from({ length: 7 }, () => 'idle')])
    expect(receiver.received).toHaveLength(before + 1)
  })

  test('is not made before its time, nor again after success', async () => {
    const { id, happen } = await subscribed()
    await happen()
    const delivery = await failTimes(id, 1)
    expect(delivery.due_in).toBeGreaterThan(0)
    expect(await hooks.deliver(delivery)).toBe('idle')
    await hooks.makeDue(delivery.id)
    expect([await hooks.deliver(delivery), await hooks.deliver(delivery)]).toEqual(['delivered', 'idle'])
    const [first, second] = await hooks.attempts(delivery.id)
    expect([first?.outcome, second?.outcome]).toEqual(['failed', 'succeeded'])
    expect(first?.id).not.toBe(second?.id)
  })
})

describe('a failure', () => {
  test('is tried again by the formula, with a job at exactly that time', async () => {
    const { id, happen } = await subscribed()
    await happen()
    for (const [failures, low, high] of [[1, 1, 3], [2, 2, 6], [3, 4, 12]] as const) {
      const delivery = await failTimes(id, 1)
      expect(delivery).toMatchObject({ status: 'pending', round_failures: failures, attempt: failures, leased: false })
      expect(delivery.due_in).toBeGreaterThan(low - 1)
      expect(delivery.due_in).toBeLessThan(high)
      const jobs = await hooks.jobs(delivery.id)
      expect(jobs.some(({ starts_in }) => Math.abs(starts_in - (delivery.due_in ?? 0)) < 0.2)).toBe(true)
    }
  })

  test('takes the random factor from the runtime, and the longer of both delays when the receiver asks for one', async () => {
    const { id, happen } = await subscribed()
    await happen()
    const delivery = await hooks.delivery(id)
    const runtime = { randomBytes: (size: number) => size === 6 ? Buffer.alloc(6) : randomBytes(size) }
    await hooks.deliver(delivery, { runtime, sender: failing })
    const half = (await hooks.delivery(id)).due_in ?? 0
    expect(half).toBeGreaterThan(0.2)
    expect(half).toBeLessThanOrEqual(1)
    await hooks.makeDue(delivery.id)
    await hooks.deliver(delivery, { sender: answering({ status: 503, headers: { 'retry-after': '600' } }) })
    const asked = (await hooks.delivery(id)).due_in ?? 0
    expect(asked).toBeGreaterThan(598)
    expect(asked).toBeLessThanOrEqual(600)
  })

  test('for the 10th time in a row makes the delivery dead and disables the subscription, with an audit row; the next events make no delivery', async () => {
    const { id, happen, read, merchant } = await subscribed()
    await happen()
    expect(await failTimes(id, 9)).toMatchObject({ status: 'pending' })
    expect((await read())).toMatchObject({ active: true })
    expect(await failTimes(id, 1)).toMatchObject({ status: 'dead', dead_reason: 'failures', round_failures: 10 })
    expect(await read()).toMatchObject({ active: false, disabled_reason: 'failures', disabled_at: clock.now().toISOString() })
    await happen()
    expect(await hooks.deliveries(id)).toHaveLength(1)
    const audits = await database.query((sql) => sql`
      select from payments.audit_events where merchant_id = ${merchant.id} and action = 'payments.webhook_subscription.disabled'`)
    expect(audits).toHaveLength(1)
  })

  test('does not count towards the run once another delivery has succeeded; the 16th of the round is dead by itself', async () => {
    const { id, happen, read } = await subscribed()
    await happen()
    const sick = await failTimes(id, 9)
    await happen('payment.refunded')
    const healthy = (await hooks.deliveries(id)).find((entry) => entry.id !== sick.id)
    if (!healthy) throw new Error('no second delivery')
    expect(await hooks.deliver(healthy)).toBe('delivered')
    const outcomes = []
    for (let n = 10; n <= 16; n += 1) {
      await hooks.makeDue(sick.id)
      outcomes.push(await hooks.deliver(sick, { sender: failing }))
    }
    expect(outcomes).toEqual([...Array.from({ length: 6 }, () => 'retrying'), 'dead'])
    expect(await read()).toMatchObject({ active: true })
    expect((await hooks.deliveries(id)).find((entry) => entry.id === sick.id)).toMatchObject({ status: 'dead', dead_reason: 'exhausted', round_failures: 16 })
  })

  test('is written to the subscription, a success only after a failure: no row is hot while all goes well', async () => {
    const { id, happen } = await subscribed()
    const lastSuccess = async () => {
      const [row] = await database.query((sql) => sql<{ last_success_at: Date | null, xmin: string }[]>`
        select last_success_at, xmin::text from payments.webhook_subscriptions where id = ${id}`)
      return row
    }
    const before = await lastSuccess()
    await happen()
    await hooks.deliver(await hooks.delivery(id))
    expect(await lastSuccess()).toEqual(before)
    await happen()
    const [, second] = await hooks.deliveries(id)
    if (!second) throw new Error('no second delivery')
    await hooks.deliver(second, { sender: failing })
    await hooks.makeDue(second.id)
    await hooks.deliver(second)
    expect((await lastSuccess())?.last_success_at).not.toBeNull()
  })
})

describe('a worker that is killed in the middle', () => {
  test('loses the attempt, not the delivery: it is made again with the same event and a new delivery id', async () => {
    const { id, happen } = await subscribed()
    await happen()
    const delivery = await hooks.delivery(id)
    const before = receiver.received.length
    const held = Promise.withResolvers<WebhookAnswer>()
    const { sender } = hooks.settings
    const slow = hooks.deliver(delivery, { sender: { send: (message) => sender.send(message).then(() => held.promise), close: () => Promise.resolve() } })
    await receiver.untilReceived(before + 1)
    expect(await hooks.deliver(delivery)).toBe('idle')
    await hooks.lapse(delivery.id)
    await sweepLapsedDeliveries(hooks.settings)
    expect(await hooks.delivery(id)).toMatchObject({ status: 'pending', leased: false, round_failures: 0 })
    expect((await hooks.jobs(delivery.id)).length).toBeGreaterThan(0)
    expect(await hooks.deliver(delivery)).toBe('delivered')
    const [first, second] = receiver.received.slice(before)
    expect(first?.body).toEqual(second?.body)
    expect(first?.headers['x-service-delivery-id']).not.toBe(second?.headers['x-service-delivery-id'])
    held.resolve({ succeeded: false, status: 500, headers: null, body: null, durationMs: 1, error: 'status' })
    expect(await slow).toBe('overtaken')
    expect((await hooks.attempts(delivery.id)).map(({ outcome }) => outcome)).toEqual(['lost', 'succeeded'])
    expect(await hooks.delivery(id)).toMatchObject({ status: 'delivered', attempt: 2, round_failures: 0 })
  })

  test('has its delivery given back by the sweep: a claim leaves a lapsed lease alone, and the attempt is lost once', async () => {
    const { id, happen } = await subscribed()
    await happen()
    const delivery = await hooks.delivery(id)
    const gone = hooks.deliver(delivery, { sender: { send: () => new Promise(() => undefined), close: () => Promise.resolve() } })
    gone.catch(() => undefined)
    while (!(await hooks.delivery(id)).leased);
    await hooks.lapse(delivery.id)
    expect(await hooks.deliver(delivery)).toBe('idle')
    expect((await hooks.attempts(delivery.id)).map(({ outcome }) => outcome)).toEqual([null])
    await sweepLapsedDeliveries(hooks.settings)
    expect(await hooks.deliver(delivery)).toBe('delivered')
    expect((await hooks.attempts(delivery.id)).map(({ number, outcome }) => `${number} ${outcome}`)).toEqual(['1 lost', '2 succeeded'])
  })

  test('and whose success comes late writes nothing over what another has done', async () => {
    const { id, happen } = await subscribed()
    await happen()
    const delivery = await hooks.delivery(id)
    const held = Promise.withResolvers<WebhookAnswer>()
    const slow = hooks.deliver(delivery, { sender: { send: () => held.promise, close: () => Promise.resolve() } })
    while (!(await hooks.delivery(id)).leased);
    await hooks.lapse(delivery.id)
    await sweepLapsedDeliveries(hooks.settings)
    expect(await hooks.deliver(delivery, { sender: failing })).toBe('retrying')
    held.resolve({ succeeded: true, status: 200, headers: {}, body: null, durationMs: 1, error: null })
    expect(await slow).toBe('overtaken')
    expect((await hooks.attempts(delivery.id)).map(({ outcome }) => outcome)).toEqual(['lost', 'failed'])
    expect(await hooks.delivery(id)).toMatchObject({ status: 'pending', round_failures: 1 })
  })
})
