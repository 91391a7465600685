import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { startPayments } from '../../../contract-tests/harness/payments.ts'
import { startReceiver } from '../../../contract-tests/harness/receiver.ts'
import { replaysOf } from '../../../contract-tests/harness/replays.ts'
import { subscribedIn } from '../../../contract-tests/harness/subscribed.ts'
import { trusting, webhooksOf } from '../../../contract-tests/harness/webhooks.ts'

const receiver = await startReceiver()
const bench = await startPayments({ settings: trusting(receiver) })
const { call, clock, database, given, send } = bench
const hooks = webhooksOf(bench, receiver)
const replays = replaysOf(bench, hooks)
const subscribed = subscribedIn(bench, hooks)

const ago = (seconds: number) => new Date(clock.now().getTime() - seconds * 1000).toISOString()
const asker = (of: { as: string, id: string }) => (body: { since: string, until?: string, kinds?: string[] }, key?: string) =>
  call('resendEvents', { as: of.as, params: { id: of.id }, body, ...(key !== undefined && { key }) })
const jobOf = (answer: Awaited<ReturnType<ReturnType<typeof asker>>>) => {
  if (answer.status !== 202) throw new Error(JSON.stringify(answer.body))
  return answer.body
}
const read = async (of: { as: string }, id: string) => (await call('getWebhookReplayJob', { as: of.as, params: { id } })).body
const received = (event: string) => receiver.received.filter(({ body }) => (JSON.parse(body.toString()) as { id: string }).id === event).length

describe('202', () => {
  test('the job is queued, says what it is about, and is written to the audit log by the names of its filters', async () => {
    const of = await subscribed()
    const since = ago(3600)
    const job = jobOf(await asker(of)({ since }))
    expect(job).toEqual({
      id: job.id, kind: 'resend', merchant_id: of.merchant.id, subscription_id: of.id, event_kinds: ['payment.completed', 'payment.failed'], since,
      until: null, status: 'queued', failure_reason: null, progress: { total: null, done: 0, replayed: 0, skipped: 0 },
      created_at: clock.now().toISOString(), started_at: null, ended_at: null,
    })
    const [row] = await database.query((sql) => sql`select * from payments.audit_events where target = ${`webhook_replay:${job.id}`}`)
    expect(row).toMatchObject({ action: 'payments.webhook_replay.resend', changed_keys: ['subscription_id', 'event_kinds', 'since'] })
  })

  test('what was missed while inactive is sent, what was delivered is sent again, each under its own event id', async () => {
    const of = await subscribed()
    const before = await of.happen()
    const since = ago(-0.001)
    const delivered = await of.happen()
    for (const delivery of await of.deliveries()) await hooks.deliver(delivery)
    await of.update(false)
    const missed = await of.happen('payment.failed')
    expect(await of.deliveries()).toHaveLength(2)
    await of.update(true)
    const job = jobOf(await asker(of)({ since }))
    await replays.run(job.id)
    expect(await read(of, job.id)).toMatchObject({ status: 'succeeded', progress: { total: 2, done: 2, replayed: 2 } })
    for (const delivery of (await of.deliveries()).filter(({ status }) => status === 'pending')) {
      await hooks.makeDue(delivery.id)
      await hooks.deliver(delivery)
    }
    expect([before, delivered, missed].map(received)).toEqual([1, 2, 1])
    const listed = await call('listWebhookDeliveries', { as: of.as })
    expect(listed.body).toMatchObject({ deliveries: expect.arrayContaining([
      expect.objectContaining({ event_id: missed, origin: 'resend', event: 'payment.failed' }),
      expect.objectContaining({ event_id: delivered, origin: 'event', attempt_count: 2 }),
    ]) as unknown[], total: 3 })
  })

  test('only the kinds and the time that are asked for, since included and until not', async () => {
    const of = await subscribed()
    await of.happen()
    const since = ago(-0.001)
    await of.happen('payment.failed')
    await of.happen()
    const until = ago(-1)
    await of.happen()
    await of.happen()
    const job = jobOf(await asker(of)({ since, until, kinds: ['payment.completed'] }))
    expect(job).toMatchObject({ since, until, event_kinds: ['payment.completed'] })
    await replays.run(job.id)
    expect(await read(of, job.id)).toMatchObject({ status: 'succeeded', progress: { total: 1, done: 1 } })
  })

  test('an end that is to come is none', async () => {
    const of = await subscribed()
    expect(jobOf(await asker(of)({ since: ago(60), until: ago(-3600) })).until).toBeNull()
  })

  test('the same body while it is unfinished answers the same job; so does the same Idempotency-Key for ever', async () => {
    const of = await subscribed()
    const ask = asker(of)
    const [body, key] = [{ since: ago(60) }, randomUUID()]
    const answers = await Promise.all(Array.from({ length: 6 }, () => ask(body)))
    expect(new Set(answers.map((answer) => jobOf(answer).id)).size).toBe(1)
    const first = jobOf(await ask(body, key))
    await replays.run(first.id)
    clock.advance(120_000)
    const again = await ask(body, key)
    expect(jobOf(again)).toEqual(first)
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expect(await database.query((sql) => sql`select from payments.webhook_replays where subscription_id = ${of.id}`)).toHaveLength(1)
  })
})

describe('400 validation_failed', () => {
  test('a time that is to come, an end before its beginning, kinds that the subscription does not ask for', async () => {
    const ask = asker(await subscribed())
    expect(await ask({ since: ago(-1) })).toMatchObject({ status: 400, body: { fields: { since: 'must be in the past' } } })
    expect(await ask({ since: ago(60), until: ago(60) })).toMatchObject({ status: 400, body: { fields: { until: 'must be after since' } } })
    expect(await ask({ since: ago(60), kinds: ['payment.completed', 'payment.refunded', 'x'] })).toMatchObject({
      status: 400, body: { fields: { kinds: 'the subscription does not ask for payment.refunded, x' } },
    })
  })

  const since = '2026-01-01T00:00:00Z'
  test.each([{}, { since: 'yesterday' }, { since: null }, { since, kinds: [] }, { since, all: true }])('the body %j', async (body) => {
    const { as, id } = await subscribed()
    const answer = await send('resendEvents', { as, params: { id }, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) })
    expect(answer).toMatchObject({ status: 400, body: { error: 'validation_failed' } })
  })
})

describe('409', () => {
  test('invalid_state: another resend of the subscription is unfinished, which the message names', async () => {
    const ask = asker(await subscribed())
    const { id } = jobOf(await ask({ since: ago(60) }))
    expect(await ask({ since: ago(61) })).toMatchObject({ status: 409, body: { error: 'invalid_state', message: expect.stringContaining(id) as string } })
  })

  test('invalid_state: the subscription is inactive', async () => {
    const of = await subscribed()
    await of.update(false)
    const answer = await asker(of)({ since: ago(60) })
    expect(answer).toMatchObject({ status: 409, body: { error: 'invalid_state', message: expect.stringContaining('inactive') as string } })
  })

  test('idempotency_key_reused: the key of another body', async () => {
    const ask = asker(await subscribed())
    const key = randomUUID()
    await ask({ since: ago(60) }, key)
    expect(await ask({ since: ago(61) }, key)).toMatchObject({ status: 409, body: { error: 'idempotency_key_reused' } })
  })
})

test('429 rate_limited: a further job comes 60 seconds after the last at the soonest', async () => {
  const ask = asker(await subscribed())
  const first = jobOf(await ask({ since: ago(60) }))
  await replays.run(first.id)
  clock.advance(59_001)
  const refused = await ask({ since: ago(60) })
  expect(refused).toMatchObject({ status: 429, body: { error: 'rate_limited' } })
  expect(refused.headers.get('retry-after')).toBe('1')
  clock.advance(999)
  expect(jobOf(await ask({ since: ago(60) })).id).not.toBe(first.id)
})

test('404 not_found: unknown, deleted, or of another merchant', async () => {
  const of = await subscribed()
  const sibling = await given.merchant({ tenantId: of.merchant.tenantId })
  const other = await given.token(sibling, 'merchant_owner', `merchant:${sibling.id}`)
  expect(await asker({ as: other, id: of.id })({ since: ago(60) })).toMatchObject({ status: 404, body: { error: 'not_found' } })
  expect((await asker({ as: of.as, id: randomUUID() })({ since: ago(60) })).status).toBe(404)
  await of.remove()
  expect((await asker(of)({ since: ago(60) })).status).toBe(404)
})
