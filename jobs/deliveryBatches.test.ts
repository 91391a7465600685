import { expect, test } from 'vitest'
import { startPayments } from '../contract-tests/harness/payments.ts'
import { startReceiver } from '../contract-tests/harness/receiver.ts'
import { subscribedIn } from '../contract-tests/harness/subscribed.ts'
import type { Subscribed } from '../contract-tests/harness/subscribed.ts'
import { answering, trusting, webhooksOf } from '../contract-tests/harness/webhooks.ts'
import type { ClaimedDelivery } from '../db/payments/webhookClaims.ts'
import type { Database } from '../db/sql.ts'
import { makeAttempt } from './deliveryAttempt.ts'
import { answerRecorder } from './deliveryRecorder.ts'
import type { AnsweredDelivery } from './deliveryResults.ts'
import { sweepLapsedDeliveries } from './webhookSweep.ts'

const receiver = await startReceiver()
const bench = await startPayments({ settings: trusting(receiver) })
const { call, database } = bench
const hooks = webhooksOf(bench, receiver)
const subscribed = subscribedIn(bench, hooks)

type Answer = Parameters<typeof answering>[0]

const broken = new Error('a statement that fails')
const failing = answering({ status: 500 })

/** A subscription with this many deliveries. */
const withDeliveries = async (count: number) => {
  const of = await subscribed()
  for (let n = 0; n < count; n += 1) await of.happen()
  return of
}
const laneOf = ({ id, merchant }: Subscribed) => ({ tenant_id: merchant.tenantId, merchant_id: merchant.id, subscription_id: id })
/** Fails one of its deliveries nine times; it is due for the tenth. */
const failNineTimes = async (of: Subscribed, at: number) => {
  const delivery = (await of.deliveries())[at]
  if (!delivery) throw new Error('no such delivery')
  for (let n = 0; n < 9; n += 1) {
    expect(await hooks.deliver(delivery, { sender: failing })).toBe('retrying')
    await hooks.makeDue(delivery.id)
  }
}
const read = async (of: Subscribed) => (await call('getWebhookSubscription', { as: of.as, params: { id: of.id } })).body
const disablings = (of: Subscribed) => database.query((sql) => sql<{ request_id: string }[]>`
  select request_id from payments.audit_events where target = ${`webhook_subscription:${of.id}`} and action = 'payments.webhook_subscription.disabled'`)

/**
 * Attempts of one recorder whose answers all come before any is written, in the order of the deliveries. The first failure, and
 * the first success, is written alone and the others after it together. Counts transactions, of which the `broken` one fails.
 */
async function together(deliveries: readonly ClaimedDelivery[], answerOf: (delivery: ClaimedDelivery, at: number) => Answer, failed?: number) {
  const all = Promise.withResolvers<void>()
  let [answers, transactions] = [0, 0]
  const held: Database = {
    ...database,
    async query(work) {
      await all.promise
      return database.query(work)
    },
    async tx(work) {
      transactions += 1
      if (transactions === failed) throw broken
      await all.promise
      return database.tx(work)
    },
  }
  const write = answerRecorder({ ...hooks.settings, database: held })
  const record = (answer: AnsweredDelivery) => {
    const outcome = write(answer)
    answers += 1
    if (answers === deliveries.length) all.resolve()
    return outcome
  }
  const settled = await Promise.allSettled(deliveries.map((delivery, at) => (
    makeAttempt(delivery, { ...hooks.settings, sender: answering(answerOf(delivery, at)) }, record))))
  return { outcomes: settled.map((each) => each.status === 'fulfilled' ? each.value : each.reason as Error), transactions }
}

test('failures judged in one transaction, two tenths in a row among them: the first disables, once, and what comes after it waits', async () => {
  const [lead, of] = [await withDeliveries(1), await withDeliveries(10)]
  for (const at of [4, 7]) await failNineTimes(of, at)
  const claimed = [...await hooks.claim([laneOf(lead)]), ...await hooks.claim([laneOf(of)])]
  const { outcomes, transactions } = await together(claimed, () => ({ status: 500 }))
  expect(transactions).toBe(2)
  expect(outcomes).toEqual(['retrying', ...Array.from({ length: 4 }, () => 'retrying'), 'dead', ...Array.from({ length: 5 }, () => 'waiting')])
  expect(await read(of)).toMatchObject({ active: false, disabled_reason: 'failures' })
  expect(await disablings(of)).toEqual([{ request_id: claimed[5]?.attempt_id }])
  const deliveries = await of.deliveries()
  for (const [at, delivery] of deliveries.entries()) {
    const tries = at === 4 || at === 7 ? 10 : 1
    expect(delivery).toMatchObject({
      status: at === 4 ? 'dead' : 'pending', dead_reason: at === 4 ? 'failures' : null, attempt: tries, round_failures: tries, leased: false,
      due_in: at < 4 ? expect.any(Number) as number : null,
    })
    const attempts = await hooks.attempts(delivery.id)
    expect(attempts.map(({ number, outcome }) => `${number} ${outcome}`)).toEqual(Array.from({ length: tries }, (_, n) => `${n + 1} failed`))
    expect(await hooks.jobs(delivery.id)).toHaveLength(at < 4 ? 2 : at === 4 || at === 7 ? 10 : 1)
  }
})

test('what was judged before the disabling waits as well once it is due, and all that waits goes on with the activation', async () => {
  const of = await withDeliveries(3)
  await failNineTimes(of, 1)
  await together(await hooks.claim([laneOf(of)]), () => ({ status: 500 }))
  const [before, dead, after] = await of.deliveries()
  if (!before || !dead || !after) throw new Error('no deliveries')
  await hooks.makeDue(before.id)
  expect(await hooks.claim([laneOf(of)])).toEqual([])
  expect(await of.deliveries()).toMatchObject([{ status: 'pending', due_in: null }, { status: 'dead' }, { status: 'pending', due_in: null }])
  await of.update(true)
  for (const { id } of [before, after]) await hooks.makeDue(id)
  const { outcomes } = await together(await hooks.claim([laneOf(of)]), () => ({ status: 500 }))
  expect(outcomes).toEqual(['retrying', 'retrying'])
  expect(await read(of)).toMatchObject({ active: true })
})

test('two workers that each judge a tenth in a row at once: one of them disables, the other lets its delivery wait', async () => {
  const of = await withDeliveries(2)
  for (const at of [0, 1]) await failNineTimes(of, at)
  const judged = await Promise.all((await hooks.claim([laneOf(of)])).map((delivery) => together([delivery], () => ({ status: 500 }))))
  expect(judged.flatMap(({ outcomes }) => outcomes).sort()).toEqual(['dead', 'waiting'])
  expect(await disablings(of)).toHaveLength(1)
  const states = (await of.deliveries()).map(({ status, attempt, round_failures }) => `${status} ${attempt} ${round_failures}`)
  expect(states.sort()).toEqual(['dead 10 10', 'pending 10 10'])
})

test('a batch of successes, retries, deaths and what was taken over: each delivery gets what is its own', async () => {
  const [lead, of, removed] = [await withDeliveries(2), await withDeliveries(8), await withDeliveries(2)]
  const [, , , last] = await of.deliveries()
  await database.query((sql) => sql`update payments.webhook_deliveries set round_failures = 15 where id = ${last?.id ?? ''}`)
  const claimed = await hooks.claim([laneOf(lead), laneOf(of), laneOf(removed)])
  for (const { id } of claimed.slice(8, 10)) await hooks.lapse(id)
  await sweepLapsedDeliveries(hooks.settings)
  await removed.remove()
  const answers: Answer[] = [
    { status: 200 }, { status: 500 },
    { status: 200 }, { status: 500 }, { status: 503, headers: { 'retry-after': '600' } }, { status: 502 }, { status: 204 }, { status: null, error: 'timeout' },
    { status: 500 }, { status: 200 },
    { status: 400 }, { status: 201 },
  ]
  const { outcomes, transactions } = await together(claimed, ({ event_id }, at) => ({ status: null, ...answers[at], body: Buffer.from(event_id) }))
  expect(transactions).toBe(3)
  expect(outcomes).toEqual([
    'delivered', 'retrying', 'delivered', 'retrying', 'retrying', 'dead', 'delivered', 'retrying', 'overtaken', 'overtaken', 'dead', 'delivered',
  ])
  const [done, again, freed] = [
    { status: 'delivered', due_in: null, round_failures: 0 }, { status: 'pending', round_failures: 1 }, { status: 'pending', round_failures: 0 },
  ]
  const deliveries = await of.deliveries()
  expect(deliveries).toMatchObject([done, again, again, { status: 'dead', dead_reason: 'exhausted', round_failures: 16 }, done, again, freed, freed])
  expect(deliveries[1]?.due_in).toBeLessThan(3)
  expect(deliveries[2]?.due_in).toBeGreaterThan(590)
  expect(await removed.deliveries()).toMatchObject([{ status: 'dead', dead_reason: 'subscription_deleted' }, done])
  for (const [at, { id, event_id, attempt_id }] of claimed.entries()) {
    const lost = at === 8 || at === 9
    const kept = { status: answers[at]?.status, response_body: Buffer.from(event_id), outcome: outcomes[at] === 'delivered' ? 'succeeded' : 'failed' }
    expect(await hooks.attempts(id)).toMatchObject([{ id: attempt_id, number: 1, ...(lost ? { outcome: 'lost', status: null, response_body: null } : kept) }])
  }
  expect(await read(of)).toMatchObject({ active: true })
})

test('failures of one subscription that cannot be written keep nobody else\'s from being written', async () => {
  const [lead, sick, well] = [await withDeliveries(1), await withDeliveries(2), await withDeliveries(2)]
  const claimed = [...await hooks.claim([laneOf(lead)]), ...await hooks.claim([laneOf(sick)]), ...await hooks.claim([laneOf(well)])]
  const { outcomes } = await together(claimed, () => ({ status: 500 }), 2)
  expect(outcomes).toEqual(['retrying', broken, broken, 'retrying', 'retrying'])
  expect(await sick.deliveries()).toMatchObject(Array.from({ length: 2 }, () => ({ status: 'pending', leased: true, round_failures: 0 })))
})
