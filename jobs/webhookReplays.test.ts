import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { startPayments } from '../contract-tests/harness/payments.ts'
import { startReceiver } from '../contract-tests/harness/receiver.ts'
import { replaysOf } from '../contract-tests/harness/replays.ts'
import { subscribedIn } from '../contract-tests/harness/subscribed.ts'
import type { Subscribed } from '../contract-tests/harness/subscribed.ts'
import { trusting, webhooksOf } from '../contract-tests/harness/webhooks.ts'
import type { Database } from '../db/sql.ts'
import { purgeDue } from './retention.ts'
import { startWebhookReplays } from './webhookReplays.ts'

const receiver = await startReceiver()
const bench = await startPayments({ settings: trusting(receiver) })
const { call, clock, database } = bench
const hooks = webhooksOf(bench, receiver)
const { makeDue, ready, run, step } = replaysOf(bench, hooks)
const subscribed = subscribedIn(bench, hooks)

/** Events of a subscription, a hundredth of a millisecond apart; with a delivery each that is dead, or none. */
const history = (of: Subscribed, count: number, deliveries: 'dead' | 'none') => database.query((sql) => sql`
  with copies as (
    insert into payments.events (id, tenant_id, merchant_id, kind, body, created_at)
    select gen_random_uuid(), ${of.merchant.tenantId}::uuid, ${of.merchant.id}::uuid, 'payment.completed', '{}',
      ${clock.now()}::timestamptz - n * interval '10 microseconds'
    from generate_series(1, ${count}) n returning *)
  insert into payments.webhook_deliveries
    (id, tenant_id, merchant_id, event_id, subscription_id, status, round_started_at, round_failures, scheduled_at, created_at, ended_at, dead_reason)
  select gen_random_uuid(), tenant_id, merchant_id, id, ${of.id}, 'dead', now(), 16, now(), created_at, now(), 'exhausted'
  from copies where ${deliveries === 'dead'}`)
const since = () => new Date(clock.now().getTime() - 3_600_000).toISOString()
const resend = async (of: Subscribed) => {
  const answer = await call('resendEvents', { as: of.as, params: { id: of.id }, body: { since: since() } })
  if (answer.status !== 202) throw new Error(JSON.stringify(answer.body))
  return answer.body.id
}
const replayDead = async (of: Subscribed) => {
  const answer = await call('replayDeadWebhookDeliveries', { as: of.as, body: {} })
  if (answer.status !== 202) throw new Error(JSON.stringify(answer.body))
  return answer.body.id
}
const jobOf = async (of: Subscribed, id: string) => {
  const answer = await call('getWebhookReplayJob', { as: of.as, params: { id } })
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
  return answer.body
}
/** Due jobs in the queue, by delivery. */
const woken = async (of: Subscribed) => {
  const rows = await database.query((sql) => sql<{ jobs: number }[]>`
    select count(*)::int as jobs from pgboss.job where name = 'deliver-webhook' and data->>'subscription_id' = ${of.id} group by data->>'id'`)
  return rows.map(({ jobs }) => jobs)
}
/** Works, and then ends like a process that is killed before the commit, every other time. */
const dying = (): Database => {
  let turn = 0
  return { ...database, tx: (work) => database.tx(async (sql) => {
    const result = await work(sql)
    turn += 1
    if (turn % 2 === 1) throw new Error('killed')
    return result
  }) }
}

describe.each([['replayDeadWebhookDeliveries', 'dead', replayDead], ['resendEvents', 'none', resend]] as const)('a job of %s', (_, deliveries, ask) => {
  test('goes through each once and in order, fifty a second, though its worker is killed at every batch', async () => {
    const of = await subscribed()
    await history(of, 620, deliveries)
    clock.advance(1)
    const id = await ask(of)
    const dies = dying()
    for (const expected of [{ total: 620, done: 250 }, { total: 620, done: 500 }, { total: 620, done: 620 }]) {
      await ready(id)
      await expect(step(id, { database: dies })).rejects.toThrow('killed')
      expect(await step(id, { database: dies })).toBe(expected.done === 620 ? 'ended' : 'waiting')
      expect(await jobOf(of, id)).toMatchObject({ progress: { ...expected, replayed: expected.done, skipped: 0 } })
      expect(await step(id)).toBe('not due')
      const due = (await of.deliveries()).filter(({ due_in }) => due_in !== null)
      expect(due).toHaveLength(expected.done)
    }
    expect(await jobOf(of, id)).toMatchObject({ status: 'succeeded' })
    expect(await woken(of)).toEqual(Array.from({ length: 620 }, () => 1))
    const order = await database.query((sql) => sql<{ due_at: Date }[]>`
      select d.due_at from payments.webhook_deliveries d join payments.events e on e.id = d.event_id where d.subscription_id = ${of.id} order by e.created_at`)
    for (const batch of [order.slice(0, 250), order.slice(250, 500), order.slice(500)]) {
      const [first] = batch
      const late = batch.map(({ due_at }, n) => due_at.getTime() - (first?.due_at.getTime() ?? 0) - n * 20)
      // Times are cut to the millisecond.
      expect(late.every((milliseconds) => Math.abs(milliseconds) <= 1)).toBe(true)
    }
  })

  test('is worked on by one of many workers at a time', async () => {
    const of = await subscribed()
    await history(of, 300, deliveries)
    clock.advance(1)
    const id = await ask(of)
    for (let round = 0; round < 2; round += 1) {
      await ready(id)
      const outcomes = await Promise.all([1, 2, 3, 4].map(() => step(id)))
      expect(outcomes.filter((outcome) => outcome !== 'not due')).toHaveLength(1)
    }
    expect(await jobOf(of, id)).toMatchObject({ status: 'succeeded', progress: { total: 300, done: 300, replayed: 300 } })
    expect(await woken(of)).toEqual(Array.from({ length: 300 }, () => 1))
  })

  test('about nothing succeeds at once', async () => {
    const of = await subscribed()
    const id = await ask(of)
    await run(id)
    expect(await jobOf(of, id)).toMatchObject({ status: 'succeeded', progress: { total: 0, done: 0, replayed: 0, skipped: 0 } })
  })
})

describe('a resend', () => {
  test.each([
    ['paused', 'subscription_inactive', (of: Subscribed) => of.update(false), 'pending'],
    ['deleted', 'subscription_deleted', (of: Subscribed) => of.remove(), 'dead'],
  ] as const)('fails when its subscription is %s; nothing more is made due', async (_, failure_reason, end, status) => {
    const of = await subscribed()
    await history(of, 300, 'none')
    clock.advance(1)
    const id = await resend(of)
    await ready(id)
    await step(id)
    await end(of)
    await ready(id)
    expect(await step(id)).toBe('ended')
    expect(await jobOf(of, id)).toMatchObject({ status: 'failed', failure_reason, progress: { total: 300, done: 250 }, ended_at: clock.now().toISOString() })
    expect((await of.deliveries()).map((delivery) => delivery.status)).toEqual(Array.from({ length: 250 }, () => status))
  })

  test('leaves alone what is in flight or due, brings forward what waits for a retry, and begins a round of what has ended', async () => {
    const of = await subscribed()
    for (let n = 0; n < 4; n += 1) await of.happen()
    const [flying, due, waiting, done] = await of.deliveries()
    if (!flying || !due || !waiting || !done) throw new Error('no deliveries')
    hooks.deliver(flying, { sender: { send: () => new Promise(() => undefined), close: () => Promise.resolve() } }).catch(() => undefined)
    while (!(await of.deliveries())[0]?.leased) await Promise.resolve()
    await hooks.deliver(done)
    await database.query((sql) => sql`update payments.webhook_deliveries set due_at = now() + interval '1 hour', round_failures = 3 where id = ${waiting.id}`)
    clock.advance(1)
    const id = await resend(of)
    await run(id)
    expect(await jobOf(of, id)).toMatchObject({ progress: { total: 4, done: 4, replayed: 2, skipped: 2 } })
    const after = await of.deliveries()
    expect(after).toMatchObject([
      { leased: true, attempt: 1 }, { status: 'pending' }, { status: 'pending', round_failures: 3 }, { status: 'pending', round_failures: 0 },
    ])
    for (const { due_in } of after.slice(1)) expect(due_in).toBeLessThan(1)
  })

  test('waits for whoever began to write an event while the subscription was inactive, and sends it', async () => {
    const of = await subscribed()
    await of.update(false)
    const [begun, commit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const writing = database.tx(async (sql) => {
      await sql`
        insert into payments.events (id, tenant_id, merchant_id, kind, body, created_at)
        values (gen_random_uuid(), ${of.merchant.tenantId}, ${of.merchant.id}, 'payment.failed', '{}', ${new Date(clock.now().getTime() + 2000)})`
      begun.resolve()
      await commit.promise
    })
    await begun.promise
    await of.update(true)
    const id = await resend(of)
    await makeDue(id)
    expect(await step(id)).toBe('waiting')
    expect(await jobOf(of, id)).toMatchObject({ status: 'queued', progress: { total: null } })
    commit.resolve()
    await writing
    await run(id)
    expect(await jobOf(of, id)).toMatchObject({ status: 'succeeded', progress: { total: 1, done: 1, replayed: 1 } })
  })

  test('takes nothing that happens after it was asked for: that is delivered by itself', async () => {
    const of = await subscribed()
    const id = await resend(of)
    await of.happen()
    await run(id)
    expect(await jobOf(of, id)).toMatchObject({ progress: { total: 0, done: 0 } })
    expect(await of.deliveries()).toMatchObject([{ status: 'pending', attempt: 0 }])
  })
})

test('a dead letter that dies again while the job goes on is not taken twice, nor is one that dies meanwhile', async () => {
  const of = await subscribed()
  await history(of, 251, 'dead')
  const id = await replayDead(of)
  await makeDue(id)
  await step(id)
  await of.happen()
  for (const delivery of (await of.deliveries()).filter(({ status }) => status === 'pending')) await of.die(delivery)
  await run(id)
  expect(await jobOf(of, id)).toMatchObject({ status: 'succeeded', progress: { total: 251, done: 251, replayed: 251 } })
  const states = (await of.deliveries()).map(({ status }) => status)
  expect([states.filter((status) => status === 'dead').length, states.filter((status) => status === 'pending').length]).toEqual([251, 1])
})

test('dead letters that cannot be replayed cost no waiting: the next batch follows at once', async () => {
  const of = await subscribed()
  await history(of, 260, 'dead')
  await of.update(false)
  const id = await replayDead(of)
  expect(await step(id)).toBe('going on')
  expect(await step(id)).toBe('ended')
  expect(await jobOf(of, id)).toMatchObject({ progress: { done: 260, replayed: 0, skipped: 260 } })
})

test('a worker finds the jobs by itself and brings them to their end', async () => {
  const of = await subscribed()
  await history(of, 3, 'dead')
  const id = await replayDead(of)
  const reported: unknown[] = []
  const worker = startWebhookReplays({
    ...hooks.settings, report: (error) => reported.push(error),
    runtime: { ...hooks.settings.runtime, sleep: (milliseconds) => wait(milliseconds, undefined, { ref: false }) },
  })
  while ((await jobOf(of, id)).status !== 'succeeded');
  await worker.stop()
  expect((await of.deliveries()).map(({ status }) => status)).toEqual(['pending', 'pending', 'pending'])
  expect(reported).toEqual([])
})

test('a finished job is forgotten after 30 days, an unfinished one never', async () => {
  const [done, open] = [await subscribed(), await subscribed()]
  const id = await replayDead(done)
  await run(id)
  await replayDead(open)
  const kept = async (of: Subscribed) => (await database.query((sql) => sql`select from payments.webhook_replays where merchant_id = ${of.merchant.id}`)).length
  const later = new Date(clock.now().getTime() + 30 * 86_400_000)
  await purgeDue(database, later)
  expect(await kept(done)).toBe(1)
  await purgeDue(database, new Date(later.getTime() + 1))
  expect([await kept(done), await kept(open)]).toEqual([0, 1])
})
