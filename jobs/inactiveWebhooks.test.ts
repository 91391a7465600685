import { describe, expect, test } from 'vitest'
import { startPayments } from '../contract-tests/harness/payments.ts'
import { startReceiver } from '../contract-tests/harness/receiver.ts'
import { answering, trusting, webhooksOf } from '../contract-tests/harness/webhooks.ts'
import { writeEvent } from './paymentEvents.ts'
import { settleSubscription } from './webhookSweep.ts'

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

describe('an inactive subscription', () => {
  test('lets deliveries wait: none is made, none dies; turned on again they are due in order, ten a second', async () => {
    const { id, happen, update } = await subscribed()
    for (let n = 0; n < 12; n += 1) {
      clock.advance(10)
      await happen()
    }
    const deliveries = await hooks.deliveries(id)
    const [first, second] = deliveries
    if (!first || !second) throw new Error('no deliveries')
    await hooks.deliver(second, { sender: failing })
    await update(false)
    const before = receiver.received.length
    for (const delivery of deliveries) {
      await hooks.makeDue(delivery.id)
      expect(await hooks.deliver(delivery)).toBe('idle')
    }
    expect(receiver.received).toHaveLength(before)
    expect((await hooks.deliveries(id)).every(({ status, due_in }) => status === 'pending' && due_in === null)).toBe(true)
    await update(true)
    const due = (await hooks.deliveries(id)).map(({ due_in }) => due_in ?? Number.NaN)
    for (const [n, seconds] of due.entries()) expect(seconds - (due[0] ?? 0)).toBeCloseTo(n * 0.1, 1)
    for (const delivery of deliveries) expect((await hooks.jobs(delivery.id)).length).toBeGreaterThan(0)
    await hooks.makeDue(first.id)
    expect(await hooks.deliver(first)).toBe('delivered')
  })

  test('paused while an attempt is at work: its failure neither kills nor schedules it, and it counts from the activation', async () => {
    const { id, happen, update, read } = await subscribed()
    await happen()
    const delivery = await failTimes(id, 9)
    await hooks.makeDue(delivery.id)
    const pausing = { send: async () => (await update(false), failing.send({ url: '', headers: {}, body: '' })), close: () => Promise.resolve() }
    expect(await hooks.deliver(delivery, { sender: pausing })).toBe('waiting')
    expect(await hooks.delivery(id)).toMatchObject({ status: 'pending', due_in: null, round_failures: 10 })
    await update(true)
    expect(await failTimes(id, 5)).toMatchObject({ status: 'pending', round_failures: 15 })
    expect(await read()).toMatchObject({ active: true })
  })

  test('disabled by failures is turned on again by active true, and the next 10 failures disable it again', async () => {
    const { id, happen, update, read } = await subscribed()
    await happen()
    await failTimes(id, 10)
    expect(await update(true)).toMatchObject({ status: 200, body: { active: true, disabled_at: null, disabled_reason: null } })
    await happen()
    const delivery = (await hooks.deliveries(id)).find(({ status }) => status === 'pending')
    if (!delivery) throw new Error('no new delivery')
    for (let n = 0; n < 10; n += 1) {
      await hooks.makeDue(delivery.id)
      await hooks.deliver(delivery, { sender: failing })
    }
    expect(await read()).toMatchObject({ active: false, disabled_reason: 'failures' })
  })

  test('with more than are woken at once is gone through step by step, none twice', async () => {
    const { id, merchant, happen, update } = await subscribed()
    await happen()
    await database.query((sql) => sql`
      with copies as (
        insert into payments.events (id, tenant_id, merchant_id, kind, body, created_at)
        select gen_random_uuid(), tenant_id, merchant_id, kind, body, created_at from payments.events, generate_series(1, 304)
        where merchant_id = ${merchant.id} and kind = 'payment.completed' returning id, tenant_id, merchant_id, created_at)
      insert into payments.webhook_deliveries
        (id, tenant_id, merchant_id, event_id, subscription_id, status, round_started_at, due_at, scheduled_at, created_at)
      select gen_random_uuid(), tenant_id, merchant_id, id, ${id}, 'pending', now(), null, now(), created_at from copies`)
    await update(false)
    await update(true)
    const dueNow = async () => (await hooks.deliveries(id)).filter(({ due_in }) => due_in !== null).length
    const step = () => database.tx((sql) => settleSubscription(sql, bench.boss, { id, tenant_id: merchant.tenantId, merchant_id: merchant.id }))
    expect(await dueNow()).toBeGreaterThanOrEqual(300)
    // At once, as by the sweep of another worker: the pace is the subscription's, however many wake it.
    expect(await step()).toBe('nothing')
    const due = (await hooks.deliveries(id)).map(({ due_in }) => due_in ?? Number.NaN).sort((a, b) => a - b)
    for (const [n, seconds] of due.entries()) expect(seconds - (due[0] ?? 0)).toBeCloseTo(n * 0.1, 1)
    expect(due).toHaveLength(305)
    expect(await step()).toBe('nothing')
  })
})

test('deletion ends the work: what waits is dead, what is at work is judged dead, and nothing more is sent', async () => {
  const { id, as, happen } = await subscribed()
  await happen()
  await happen('payment.refunded')
  const [atWork, waiting] = await hooks.deliveries(id)
  if (!atWork || !waiting) throw new Error('no deliveries')
  const deleting = { send: async () => (await call('deleteWebhookSubscription', { as, params: { id } }), failing.send({ url: '', headers: {}, body: '' })), close: () => Promise.resolve() }
  expect(await hooks.deliver(atWork, { sender: deleting })).toBe('dead')
  expect(await hooks.deliver(waiting)).toBe('idle')
  expect(await hooks.deliveries(id)).toMatchObject([
    { status: 'dead', dead_reason: 'subscription_deleted' }, { status: 'dead', dead_reason: 'subscription_deleted' },
  ])
  await happen()
  expect(await hooks.deliveries(id)).toHaveLength(2)
})
