import { setTimeout as wait } from 'node:timers/promises'
import { installQueues } from '../../jobs/queues.ts'
import { makeOwner, subscribe, writeBacklog } from '../webhooks/events.ts'
import { clockNow, until } from '../webhooks/receiver.ts'
import type { CutRequest, ReceiverProcess } from '../webhooks/receiver.ts'
import { startCreations } from './creations.ts'
import type { Creations } from './creations.ts'
import { between, failuresOf, medianAndMost } from './drill.ts'
import { countsByStatus, describe, isExcused, judgeAnswers } from './judgement.ts'
import type { Outage } from './judgement.ts'
import type { Try } from './requests.ts'
import type { StagedProcess } from './stage.ts'
import { missingAt } from './webhookParts.ts'
import type { WebhookPart, WebhookStage } from './webhookParts.ts'
import { within } from './within.ts'

const createEveryMs = 50
const settleMs = 1500
const takenOverWithinMs = 15_000
const deliveredWithinMs = 60_000
const cutSeenMs = 1500
const downMs = 3000
const startedWithinMs = 20_000

/** Subscribes the merchants whose intents are created to a receiver, for as long as the part runs. */
async function listen({ stage, database, receiver, sealing }: WebhookStage, path: string): Promise<{ stop(): Promise<void>, undelivered(): Promise<number> }> {
  const ids: string[] = []
  for (const { id: merchantId, tenantId } of stage.merchants) {
    ids.push(await subscribe(database, { tenantId, merchantId }, `${receiver.url}${path}`, sealing, ['payment_intent.created']))
  }
  return {
    async stop() {
      await database.query((sql) => sql`
        update payments.webhook_subscriptions set active = false, disabled_at = now(), disabled_reason = 'paused' where id = any(${ids}::uuid[])`)
    },
    async undelivered() {
      const [row] = await database.query((sql) => sql<{ count: number }[]>`
        select count(*)::int as count from payments.webhook_deliveries where subscription_id = any(${ids}::uuid[]) and status <> 'delivered'`)
      return row?.count ?? 0
    },
  }
}

/** Intents that the receiver was told of. */
function toldOf({ arrived }: ReceiverProcess): Set<string> {
  return new Set([...arrived.values()].flatMap((arrivals) => arrivals.flatMap(({ intent }) => intent ?? [])))
}

function repeatedArrivals({ arrived }: ReceiverProcess): number {
  return [...arrived.values()].reduce((count, arrivals) => count + arrivals.length - 1, 0)
}

/** What creations must be answered while workers, the queue or PostgreSQL are away: 503 to none but those that met PostgreSQL's outage. */
export function judgeCreations(tries: readonly Try[], outages: readonly Outage[]): string[] {
  return [
    ...judgeAnswers(tries),
    ...failuresOf('requests without an answer', tries.filter(({ status }) => status === null), describe),
    ...failuresOf('503 although PostgreSQL was there', tries.filter((entry) => entry.status === 503 && !isExcused(entry, outages)), describe),
  ]
}

/** What must hold once the load has ended: everything is answered, everything acknowledged is told, nothing is left. */
async function judgeLoad(at: WebhookStage, load: Creations, undelivered: () => Promise<number>, outages: readonly Outage[] = []): Promise<string[]> {
  at.acknowledged.push(...load.acknowledged.map((id) => ({ kind: 'intent' as const, id })))
  const done = await until(async () => await undelivered() === 0, deliveredWithinMs, 250)
  const told = toldOf(at.receiver)
  return [
    ...judgeCreations(load.tries, outages),
    ...failuresOf('wrong answers', load.wrong, (text) => text),
    ...(load.acknowledged.length === 0 ? ['no intent was created'] : []),
    ...(done ? [] : [`${await undelivered()} deliveries are not delivered after ${deliveredWithinMs / 1000} s`]),
    ...failuresOf('acknowledged intents that the receiver was not told of', load.acknowledged.filter((id) => !told.has(id)), (id) => id),
  ]
}

/** Kills a worker and waits until the supervisor has started it again. */
async function kill({ child }: StagedProcess): Promise<boolean> {
  const before = child.pid
  child.killNow()
  return until(() => child.pid !== undefined && child.pid !== before, 10_000, 20)
}

/** A worker is killed again and again while it holds deliveries. */
export const killedWorkers: WebhookPart = {
  name: 'killed workers',
  async run(at, { short, random, loadSeed, say }) {
    const { stage, receiver } = at
    const plan = Array.from({ length: short ? 2 : 20 }, () => ({
      victim: between(random, 0, stage.workers.length - 1), waitMs: between(random, 1500, short ? 2000 : 2500),
    }))
    receiver.forget()
    const { stop, undelivered } = await listen(at, '/sleep/1000')
    const load = startCreations(stage, stage.merchants, createEveryMs, loadSeed)
    await wait(settleMs)
    const inFlight: number[] = []
    let notStarted = 0
    for (const { victim, waitMs } of plan) {
      const cutsBefore = receiver.cuts.length
      const again = kill(stage.workers[victim] as StagedProcess)
      await until(() => receiver.cuts.length > cutsBefore, cutSeenMs)
      await wait(100)
      inFlight.push(receiver.cuts.length - cutsBefore)
      if (!await again) notStarted += 1
      say(`kill ${inFlight.length} of ${plan.length}: worker ${victim + 1} with ${inFlight.at(-1)} deliveries in flight`)
      await wait(waitMs)
    }
    await load.finish()
    const failures = await judgeLoad(at, load, undelivered)
    await stop()
    const taken = receiver.cuts.map((cut) => ({ cut, after: takenOver(receiver, cut) }))
    const late = taken.filter(({ after }) => after === null || after > takenOverWithinMs)
    return {
      failures: [
        ...failures,
        ...failuresOf(
          `deliveries in flight that were not taken over within ${takenOverWithinMs / 1000} s`, late, ({ cut, after }) => `${cut.event} after ${after} ms`,
        ),
        ...(notStarted > 0 ? [`a worker was not started again, ${notStarted} times`] : []),
        // A kill that meets nothing would prove nothing; now and then one meets a worker that has just begun.
        ...(inFlight.filter((count) => count > 0).length * 2 > inFlight.length ? [] : ['most kills met no delivery in flight']),
      ],
      figures: [
        ['kills', `${inFlight.length}, ${inFlight.filter((count) => count > 0).length} of them with deliveries in flight, ${receiver.cuts.length} in all`],
        ['taken over after', medianAndMost(taken.flatMap(({ after }) => after ?? []))],
        ['events', `${load.acknowledged.length}, of which ${repeatedArrivals(receiver)} arrivals were repeats`],
      ],
    }
  },
}

/** Milliseconds from a cut until the same event arrived again. */
function takenOver({ arrived }: ReceiverProcess, { at, event, delivery }: CutRequest): number | null {
  const next = arrived.get(event)?.find((arrival) => arrival.at > at && arrival.delivery !== delivery)
  return next ? next.at - at : null
}

/** PostgreSQL is stopped and started again while events are written and delivered. */
export const stoppedPostgres: WebhookPart = {
  name: 'PostgreSQL stopped',
  async run(at, { short, random, loadSeed, say }) {
    const { stage, receiver } = at
    const plan = (['immediate', 'fast', 'immediate', 'fast', 'immediate'] as const).slice(0, short ? 1 : 5)
      .map((mode) => ({ mode, waitMs: between(random, 1000, 2000) }))
    receiver.forget()
    const { stop, undelivered } = await listen(at, '/sleep/200')
    const endsBefore = [...stage.workers, ...stage.payments].map(({ ends }) => ends())
    const load = startCreations(stage, stage.merchants, createEveryMs, loadSeed)
    await wait(settleMs)
    const back: number[] = []
    const outages: Outage[] = []
    for (const { mode, waitMs } of plan) {
      const haltedAt = performance.now()
      await stage.postgres.halt(mode)
      await wait(short ? downMs / 3 : downMs)
      await stage.postgres.resume()
      outages.push({ from: haltedAt, to: performance.now() })
      const from = clockNow()
      await until(() => [...receiver.arrived.values()].some((arrivals) => (arrivals[0]?.at ?? 0) > from), deliveredWithinMs)
      back.push(clockNow() - from)
      say(`stopped (${mode}) and started: events arrive again after ${Math.round(back.at(-1) ?? 0)} ms`)
      await wait(waitMs)
    }
    await load.finish()
    const failures = await judgeLoad(at, load, undelivered, outages)
    await stop()
    const ended = [...stage.workers, ...stage.payments].filter(({ ends }, index) => ends() !== endsBefore[index])
    return {
      failures: [
        ...failures, ...failuresOf('processes that ended', ended, ({ child }) => child.name),
        ...failuresOf('no event within 15 s of the return', back.filter((time) => time > takenOverWithinMs), (time) => `${Math.round(time)} ms`),
      ],
      figures: [
        ['return to first new event', medianAndMost(back)],
        ['events', `${load.acknowledged.length}, of which ${repeatedArrivals(receiver)} arrivals were repeats`],
        ['requests by status', countsByStatus(load.tries)],
      ],
    }
  },
}

/** The schema of the job queue is dropped under load; later it is dropped while no worker runs, and all is started again. */
export const droppedQueue: WebhookPart = {
  name: 'queue dropped',
  async run(at, { short, loadSeed, say }) {
    const { stage, receiver, database } = at
    receiver.forget()
    const { stop, undelivered } = await listen(at, '/ok')
    const endsBefore = [...stage.workers, ...stage.payments].map(({ ends }) => ends())
    const load = startCreations(stage, stage.merchants, createEveryMs, loadSeed)
    await wait(settleMs)
    await database.query((sql) => sql`drop schema pgboss cascade`)
    const droppedAt = clockNow()
    await wait(short ? 2000 : 6000)
    await load.finish()
    const failures = await judgeLoad(at, load, undelivered)
    const without = clockNow() - droppedAt
    say(`${load.acknowledged.length} events, those without a queue delivered too`)
    const ended = [...stage.workers, ...stage.payments].filter(({ ends }, index) => ends() !== endsBefore[index])
    await stop()
    await Promise.all(stage.workers.map(({ child }) => child.stop()))
    const owner = await makeOwner(database)
    await subscribe(database, owner, `${receiver.url}/ok`, at.sealing)
    await installQueues(stage.databaseUrl)
    const due = await writeBacklog(database, at.boss, owner, short ? 500 : 5000)
    at.acknowledged.push(...due.map((id) => ({ kind: 'event' as const, id })))
    await database.query((sql) => sql`drop schema pgboss cascade`)
    await installQueues(stage.databaseUrl)
    const from = clockNow()
    const started = await within(startedWithinMs, Promise.all(stage.workers.map(({ child }) => child.restart())), [false])
    await until(() => due.every((id) => receiver.arrived.has(id)), deliveredWithinMs)
    const took = clockNow() - from
    return {
      failures: [
        ...failures, ...failuresOf('processes that ended', ended, ({ child }) => child.name),
        ...(started.every(Boolean) ? [] : [`a worker did not start again within ${startedWithinMs / 1000} s`]),
        ...missingAt(receiver, due, `due events that did not arrive within ${deliveredWithinMs / 1000} s of starting again`),
      ],
      figures: [
        ['without the queue', `${load.acknowledged.length} creations, all delivered ${(without / 1000).toFixed(1)} s after it was dropped`],
        ['dropped and started again', `${due.length} due events delivered ${(took / 1000).toFixed(1)} s after the start`],
      ],
    }
  },
}
