import { describe, expect, test } from 'vitest'
import { startPayments } from '../contract-tests/harness/payments.ts'
import { startReceiver } from '../contract-tests/harness/receiver.ts'
import { subscribedIn } from '../contract-tests/harness/subscribed.ts'
import type { Subscribed } from '../contract-tests/harness/subscribed.ts'
import { answering, trusting, webhooksOf } from '../contract-tests/harness/webhooks.ts'
import type { ClaimedDelivery } from '../db/payments/webhookClaims.ts'
import { DatabaseUnavailable } from '../db/sql.ts'
import type { Database, UnavailableReason } from '../db/sql.ts'
import { makeAttempt } from './deliveryAttempt.ts'
import { answerRecorder } from './deliveryRecorder.ts'
import { sweepLapsedDeliveries } from './webhookSweep.ts'

const receiver = await startReceiver()
const bench = await startPayments({ settings: trusting(receiver) })
const { clock, database } = bench
const hooks = webhooksOf(bench, receiver)
const subscribed = subscribedIn(bench, hooks)
const turn = () => new Promise((resolve) => setImmediate(resolve))

const claim = ({ id, merchant }: Subscribed) => hooks.claim([{ tenant_id: merchant.tenantId, merchant_id: merchant.id, subscription_id: id }])
const claimed = async (count = 1) => {
  const of = await subscribed()
  for (let n = 0; n < count; n += 1) await of.happen()
  const [first, ...rest] = await claim(of)
  if (!first) throw new Error('nothing was claimed')
  return { of, first, rest, now: async () => (await of.deliveries())[0] }
}

interface Outage {
  /** Whether the database is away for its n-th work. */
  away: (work: number) => boolean
  reason?: UnavailableReason
  /** The work is done, only its answer is lost. */
  done?: boolean
}

/** A recorder whose database is away at times. Its waits take no time; `waiting` is called in each. */
function recorderOf({ away, reason = 'connect', done = false }: Outage, waiting: () => Promise<void> = () => Promise.resolve()) {
  const seen = { works: 0, waitedMs: 0 }
  const heartbeat = new Set<ClaimedDelivery>()
  const through = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    seen.works += 1
    if (!away(seen.works)) return work()
    if (done) await work()
    throw new DatabaseUnavailable(reason)
  }
  const unsteady: Database = { ...database, query: (work) => through(() => database.query(work)), tx: (work) => through(() => database.tx(work)) }
  const record = answerRecorder({
    ...hooks.settings, database: unsteady,
    runtime: {
      ...hooks.settings.runtime, now: () => new Date(clock.now().getTime() + seen.waitedMs),
      async sleep(milliseconds) {
        seen.waitedMs += milliseconds
        await waiting()
      },
    },
  })
  const attempt = (delivery: ClaimedDelivery, status: number) => makeAttempt(delivery, { ...hooks.settings, heartbeat, sender: answering({ status }) }, record)
  return { attempt, heartbeat, seen }
}

const kinds = [['a success', 200, 'delivered', 'succeeded'], ['a failure', 500, 'retrying', 'failed']] as const

describe.each(kinds)('%s that comes while PostgreSQL is away', (_, status, outcome, written) => {
  test('is kept, with its lease, and written once when it is back', async () => {
    const { first, now } = await claimed()
    const kept: boolean[] = []
    const { attempt, heartbeat, seen } = recorderOf({ away: (work) => work <= 3 }, async () => {
      kept.push(heartbeat.has(first))
      expect(await now()).toMatchObject({ status: 'pending', leased: true, round_failures: 0 })
    })
    expect(await attempt(first, status)).toBe(outcome)
    expect([kept, seen.works]).toEqual([[true, true, true], 4])
    expect(heartbeat.size).toBe(0)
    expect(await hooks.attempts(first.id)).toMatchObject([{ id: first.attempt_id, number: 1, outcome: written, status }])
    expect(await now()).toMatchObject({ status: status === 200 ? 'delivered' : 'pending', attempt: 1, round_failures: status === 200 ? 0 : 1, leased: false })
    expect(await hooks.jobs(first.id)).toHaveLength(status === 200 ? 1 : 2)
  })

  test('is written with those that come after it: they wait together and cost one write', async () => {
    const { of, first, rest } = await claimed(6)
    const later: Promise<string>[] = []
    const { attempt, seen } = recorderOf({ away: (work) => work === 1 }, async () => {
      later.push(...rest.map((delivery) => attempt(delivery, status)))
      await turn()
    })
    const outcomes = [await attempt(first, status), ...await Promise.all(later)]
    expect(outcomes).toEqual(Array.from({ length: 6 }, () => outcome))
    expect(seen.works).toBe(3)
    for (const { id } of await of.deliveries()) expect((await hooks.attempts(id)).map((made) => made.outcome)).toEqual([written])
  })

  test('is given up after as long as a lease may last: the delivery is free for another worker then', async () => {
    const { first, now } = await claimed()
    const { attempt, heartbeat, seen } = recorderOf({ away: () => true })
    await expect(attempt(first, status)).rejects.toThrow(DatabaseUnavailable)
    expect(seen.waitedMs).toBeGreaterThan(10_000)
    expect(seen.waitedMs).toBeLessThanOrEqual(10_500)
    expect(heartbeat.size).toBe(0)
    await hooks.lapse(first.id)
    await sweepLapsedDeliveries(hooks.settings)
    const delivery = await now()
    expect(delivery && await hooks.deliver(delivery)).toBe('delivered')
    expect((await hooks.attempts(first.id)).map((made) => made.outcome)).toEqual(['lost', 'succeeded'])
  })

  test('is not waited for by a worker that has closed its connections', async () => {
    const { first } = await claimed()
    const { attempt, seen } = recorderOf({ away: () => true, reason: 'closed' })
    await expect(attempt(first, status)).rejects.toThrow(DatabaseUnavailable)
    expect(seen).toEqual({ works: 1, waitedMs: 0 })
  })
})

describe('when the answer to a write is lost', () => {
  test('a failure is counted once, with one job for the next attempt', async () => {
    const { first, now } = await claimed()
    const { attempt } = recorderOf({ away: (work) => work <= 2, reason: 'lost', done: true })
    await attempt(first, 500)
    expect(await now()).toMatchObject({ status: 'pending', attempt: 1, round_failures: 1, leased: false, due_in: expect.any(Number) as number })
    expect((await hooks.attempts(first.id)).map(({ outcome }) => outcome)).toEqual(['failed'])
    expect(await hooks.jobs(first.id)).toHaveLength(2)
  })

  test('the tenth failure in a row disables the subscription with one audit row', async () => {
    const of = await subscribed()
    await of.happen()
    const delivery = await hooks.delivery(of.id)
    for (let n = 0; n < 9; n += 1) {
      await hooks.deliver(delivery, { sender: answering({ status: 500 }) })
      await hooks.makeDue(delivery.id)
    }
    const [tenth] = await claim(of)
    if (!tenth) throw new Error('nothing was claimed')
    await recorderOf({ away: (work) => work === 1, reason: 'lost', done: true }).attempt(tenth, 500)
    expect(await hooks.delivery(of.id)).toMatchObject({ status: 'dead', dead_reason: 'failures', attempt: 10, round_failures: 10 })
    const audits = await database.query((sql) => sql`
      select from payments.audit_events where target = ${`webhook_subscription:${of.id}`} and action = 'payments.webhook_subscription.disabled'`)
    expect(audits).toHaveLength(1)
  })

  test.each([
    ['the answer to the success', { away: (work: number) => work === 1, done: true }],
    ['the answer to the success, twice', { away: (work: number) => work <= 2, done: true }],
    ['the word to the subscription, not the success', { away: (work: number) => work === 2 }],
  ])('a success is recorded and its subscription is told of it all the same; lost was %s', async (_, outage) => {
    const of = await subscribed()
    await of.happen()
    const delivery = await hooks.delivery(of.id)
    await hooks.deliver(delivery, { sender: answering({ status: 500 }) })
    await hooks.makeDue(delivery.id)
    const [again] = await claim(of)
    if (!again) throw new Error('nothing was claimed')
    expect(await recorderOf({ ...outage, reason: 'lost' }).attempt(again, 200)).toBe('delivered')
    expect((await hooks.attempts(delivery.id)).map(({ outcome }) => outcome)).toEqual(['failed', 'succeeded'])
    const [told] = await database.query((sql) => sql<{ told: boolean }[]>`
      select last_success_at > last_failure_at as told from payments.webhook_subscriptions where id = ${of.id}`)
    expect(told).toEqual({ told: true })
  })
})
