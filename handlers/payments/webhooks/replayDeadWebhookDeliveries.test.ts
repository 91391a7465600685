import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { startPayments } from '../../../contract-tests/harness/payments.ts'
import { startReceiver } from '../../../contract-tests/harness/receiver.ts'
import { replaysOf } from '../../../contract-tests/harness/replays.ts'
import { subscribedIn } from '../../../contract-tests/harness/subscribed.ts'
import type { Subscribed } from '../../../contract-tests/harness/subscribed.ts'
import { trusting, webhooksOf } from '../../../contract-tests/harness/webhooks.ts'
import type { components } from '../../../generated/payments.ts'

type Filters = components['schemas']['WebhookDeadLetterReplayRequest']

const receiver = await startReceiver()
const bench = await startPayments({ settings: trusting(receiver) })
const { call, clock, database, given, send } = bench
const hooks = webhooksOf(bench, receiver)
const replays = replaysOf(bench, hooks)
const subscribed = subscribedIn(bench, hooks)

const ask = (as: string, body: Filters = {}, key?: string) => call('replayDeadWebhookDeliveries', { as, body, ...(key !== undefined && { key }) })
const jobOf = (answer: Awaited<ReturnType<typeof ask>>) => {
  if (answer.status !== 202) throw new Error(JSON.stringify(answer.body))
  return answer.body
}
const deathOf = async (of: Subscribed, kinds: Parameters<Subscribed['happen']>[0][]) => {
  for (const kind of kinds) await of.happen(kind)
  for (const delivery of await of.deliveries()) await of.die(delivery)
}
const statuses = async (of: Subscribed) => (await of.deliveries()).map(({ status }) => status)
const finished = async (as: string, id: string) => {
  await replays.run(id)
  return (await call('getWebhookReplayJob', { as, params: { id } })).body
}

describe('202', () => {
  test('every dead delivery of the merchant begins a new round, and nothing else moves', async () => {
    const of = await subscribed()
    await of.happen()
    for (const delivery of await of.deliveries()) await hooks.deliver(delivery)
    await deathOf(await subscribed(of.merchant), ['payment.completed'])
    const second = await subscribed(of.merchant)
    await deathOf(second, ['payment.failed', 'payment.completed'])
    const job = jobOf(await ask(of.as))
    expect(job).toEqual({
      id: job.id, kind: 'dead_letters', merchant_id: of.merchant.id, subscription_id: null, event_kinds: null, since: null, until: null, status: 'queued',
      failure_reason: null, progress: { total: null, done: 0, replayed: 0, skipped: 0 }, created_at: clock.now().toISOString(),
      started_at: null, ended_at: null,
    })
    expect(await finished(of.as, job.id)).toMatchObject({
      status: 'succeeded', progress: { total: 3, done: 3, replayed: 3, skipped: 0 }, ended_at: clock.now().toISOString(),
    })
    expect(await statuses(second)).toEqual(['pending', 'pending'])
    expect(await second.deliveries()).toMatchObject([{ round_failures: 0, dead_reason: null }, { round_failures: 0 }])
    expect((await statuses(of))[0]).toBe('delivered')
    const [row] = await database.query((sql) => sql`select * from payments.audit_events where target = ${`webhook_replay:${job.id}`}`)
    expect(row).toMatchObject({ action: 'payments.webhook_replay.dead_letters', changed_keys: [] })
  })

  test('with filters only those of the subscription, the kind and the time', async () => {
    const of = await subscribed()
    const other = await subscribed(of.merchant)
    await deathOf(of, ['payment.completed', 'payment.failed', 'payment.completed'])
    const created_from = clock.now().toISOString()
    for (const delivery of await other.deliveries()) await other.die(delivery)
    const job = jobOf(await ask(of.as, { subscription_id: of.id, event: 'payment.completed', created_from, merchant_id: of.merchant.id }))
    expect(job).toMatchObject({ subscription_id: of.id, event_kinds: ['payment.completed'], since: created_from, until: null })
    expect(await finished(of.as, job.id)).toMatchObject({ progress: { total: 1, done: 1, replayed: 1 } })
    expect(await statuses(of)).toEqual(['dead', 'dead', 'pending'])
    expect(await statuses(other)).toEqual(['dead', 'dead', 'dead'])
    clock.advance(60_000)
    expect(await finished(of.as, jobOf(await ask(of.as, { created_to: created_from })).id)).toMatchObject({ progress: { total: 4, replayed: 4 } })
  })

  test('what belongs to an inactive or deleted subscription is skipped and stays dead', async () => {
    const [of, paused] = [await subscribed(), await subscribed()]
    const inactive = await subscribed(of.merchant)
    const gone = await subscribed(of.merchant)
    await deathOf(of, ['payment.completed'])
    for (const each of [inactive, gone]) for (const delivery of await each.deliveries()) await each.die(delivery)
    await inactive.update(false)
    await gone.remove()
    await paused.update(false)
    expect(await finished(of.as, jobOf(await ask(of.as)).id)).toMatchObject({ status: 'succeeded', progress: { total: 3, done: 3, replayed: 1, skipped: 2 } })
    expect([await statuses(of), await statuses(inactive), await statuses(gone)]).toEqual([['pending'], ['dead'], ['dead']])
  })

  test('the same body while it is unfinished answers the same job, and the same Idempotency-Key for ever', async () => {
    const of = await subscribed()
    const answers = await Promise.all(Array.from({ length: 6 }, () => ask(of.as)))
    const ids = new Set(answers.map((answer) => jobOf(answer).id))
    expect(ids.size).toBe(1)
    const key = randomUUID()
    const first = jobOf(await ask(of.as, {}, key))
    expect(ids.has(first.id)).toBe(true)
    await replays.run(first.id)
    expect(jobOf(await ask(of.as, {}, key))).toEqual(first)
  })
})

describe('400 validation_failed', () => {
  test('a subscription that is not the merchant\'s, or deleted, is named', async () => {
    const [of, stranger] = [await subscribed(), await subscribed()]
    const sibling = await subscribed(await given.merchant({ tenantId: of.merchant.tenantId }))
    await of.remove()
    for (const subscription_id of [stranger.id, sibling.id, of.id, randomUUID()]) {
      expect(await ask(of.as, { subscription_id })).toMatchObject({
        status: 400, body: { error: 'validation_failed', fields: { subscription_id: 'is no subscription of the merchant, or is deleted' } },
      })
    }
  })

  test('a caller with several merchants must say which', async () => {
    const of = await subscribed()
    await given.merchant({ tenantId: of.merchant.tenantId })
    const admin = await given.token(of.merchant, 'tenant_admin', '*')
    expect(await ask(admin)).toMatchObject({ status: 400, body: { fields: { merchant_id: expect.any(String) as string } } })
    expect(jobOf(await ask(admin, { merchant_id: of.merchant.id }))).toMatchObject({ merchant_id: of.merchant.id })
  })

  test.each([{ subscription_id: 'x' }, { event: '' }, { created_from: 'x' }, { all: true }, { status: 'dead' }])('the body %j', async (body) => {
    const { as } = await subscribed()
    const answer = await send('replayDeadWebhookDeliveries', { as, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) })
    expect(answer).toMatchObject({ status: 400, body: { error: 'validation_failed' } })
  })
})

test('404 not_found: the merchant named is not within reach', async () => {
  const [{ as }, other] = [await subscribed(), await subscribed()]
  expect(await ask(as, { merchant_id: other.merchant.id })).toMatchObject({ status: 404, body: { error: 'not_found' } })
})

describe('409', () => {
  test('invalid_state: another job of the merchant is unfinished, which the message names', async () => {
    const of = await subscribed()
    const { id } = jobOf(await ask(of.as))
    const answer = await ask(of.as, { event: 'payment.failed' })
    expect(answer).toMatchObject({ status: 409, body: { error: 'invalid_state', message: expect.stringContaining(id) as string } })
  })

  test('invalid_state: the subscription named is inactive', async () => {
    const of = await subscribed()
    await of.update(false)
    const answer = await ask(of.as, { subscription_id: of.id })
    expect(answer).toMatchObject({ status: 409, body: { error: 'invalid_state', message: expect.stringContaining('inactive') as string } })
  })

  test('idempotency_key_reused: the key of another body', async () => {
    const { as } = await subscribed()
    const key = randomUUID()
    await ask(as, {}, key)
    expect(await ask(as, { event: 'payment.failed' }, key)).toMatchObject({ status: 409, body: { error: 'idempotency_key_reused' } })
  })
})

test('429 rate_limited: a further job comes 60 seconds after the last at the soonest', async () => {
  const { as } = await subscribed()
  await replays.run(jobOf(await ask(as)).id)
  const refused = await ask(as, { event: 'payment.failed' })
  expect(refused).toMatchObject({ status: 429, body: { error: 'rate_limited' } })
  expect(refused.headers.get('retry-after')).toBe('60')
  clock.advance(60_000)
  expect((await ask(as)).status).toBe(202)
})
