import { setTimeout as wait } from 'node:timers/promises'
import { purgeWebhookDeliveries } from '../../db/payments/webhookRetention.ts'
import { makeOwner, subscribe, writeBacklog, writeOne } from '../webhooks/events.ts'
import type { Owner } from '../webhooks/events.ts'
import { until } from '../webhooks/receiver.ts'
import { medianAndMost } from './drill.ts'
import { missingAt } from './webhookParts.ts'
import type { WebhookPart, WebhookStage } from './webhookParts.ts'

const p99LimitMs = 2000
const arriveWithinMs = 60_000

async function subscribed({ database, receiver, sealing }: WebhookStage, path: string): Promise<Owner> {
  const owner = await makeOwner(database)
  await subscribe(database, owner, `${receiver.url}${path}`, sealing)
  return owner
}

/** Milliseconds from the commit of each event to its arrival, sorted. */
function latencies({ receiver }: WebhookStage, written: ReadonlyMap<string, number>): number[] {
  const waits = [...written].map(([id, at]) => (receiver.arrived.get(id)?.[0]?.at ?? Number.NaN) - at)
  return waits.filter((value) => !Number.isNaN(value)).sort((a, b) => a - b)
}

function judgeLatency(values: readonly number[]): { text: string, failures: string[] } {
  const p99 = values[Math.min(values.length - 1, Math.floor(values.length * 0.99))] ?? Infinity
  return {
    text: `p99 ${Math.round(p99)} ms, ${medianAndMost(values)}, of ${values.length} events`,
    failures: p99 <= p99LimitMs ? [] : [`the p99 is ${Math.round(p99)} ms, more than ${p99LimitMs / 1000} s`],
  }
}

/** One endpoint that takes 30 s for everything, with a backlog, beside 99 that answer at once, each with events of its own. */
export const slowNeighbour: WebhookPart = {
  name: 'slow neighbour',
  async run(at, { short, say }) {
    const { database, boss, receiver, acknowledged } = at
    const healthy: Owner[] = []
    for (let n = 0; n < (short ? 19 : 99); n += 1) healthy.push(await subscribed(at, `/ok/${n}`))
    const slow = await subscribed(at, '/sleep/30000')
    const backlog = await writeBacklog(database, boss, slow, short ? 100 : 1000)
    receiver.forget()
    await until(() => receiver.count() >= 10, 10_000)
    const written = new Map<string, number>()
    const began = performance.now()
    for (let n = 0; performance.now() - began < (short ? 3000 : 20_000); n += 1) {
      const { id, at: committed } = await writeOne(database, boss, healthy[n % healthy.length] as Owner)
      written.set(id, committed)
      if (n % 20 === 0) acknowledged.push({ kind: 'event', id: (await writeOne(database, boss, slow)).id })
      await wait(10)
    }
    await until(() => [...written.keys()].every((id) => receiver.arrived.has(id)), arriveWithinMs)
    acknowledged.push(...[...written.keys(), ...backlog].map((id) => ({ kind: 'event' as const, id })))
    const { text, failures } = judgeLatency(latencies(at, written))
    say(text)
    return { figures: [[`${healthy.length} beside one of 30 s`, text]], failures: [...failures, ...missingAt(receiver, [...written.keys()])] }
  },
}

/** A tenant with an event now and then beside one with 100,000 at once. */
export const flood: WebhookPart = {
  name: 'flood',
  long: true,
  async run(at, { say }) {
    const { database, boss, receiver, acknowledged } = at
    const [flooding, quiet] = [await subscribed(at, '/ok/flood'), await subscribed(at, '/ok/quiet')]
    receiver.forget()
    const written = new Map<string, number>()
    let writing = true
    const trickle = (async () => {
      while (writing && !at.stage.closing.aborted) {
        const { id, at: committed } = await writeOne(database, boss, quiet)
        written.set(id, committed)
        await wait(100)
      }
    })()
    // Told when it is waited for: what fails before must not end the process.
    trickle.catch(() => undefined)
    const began = performance.now()
    const all = await writeBacklog(database, boss, flooding, 100_000)
    say(`${all.length} events are written`)
    const drained = await until(() => all.every((id) => receiver.arrived.has(id)), 300_000, 500)
    const seconds = (performance.now() - began) / 1000
    writing = false
    await trickle
    await until(() => [...written.keys()].every((id) => receiver.arrived.has(id)), arriveWithinMs)
    acknowledged.push(...[...all, ...written.keys()].map((id) => ({ kind: 'event' as const, id })))
    const { text, failures } = judgeLatency(latencies(at, written))
    say(`${text}; the flood took ${seconds.toFixed(0)} s`)
    return {
      figures: [
        [`one event in 100 ms beside ${all.length}`, text],
        ['the flood', `${(all.length / seconds).toFixed(0)} deliveries a second, written and delivered in ${seconds.toFixed(0)} s`],
      ],
      failures: [
        ...failures, ...missingAt(receiver, [...written.keys()]),
        ...(drained ? [] : missingAt(receiver, all, 'events of the flood that did not arrive')),
      ],
    }
  },
}

const cycles = 4
const perCycle = 4000
const purgedAtATime = 500
const grownAtMost = 1.5

/** Cycles of deliveries that are made and forgotten: the tables must not grow. What is forgotten is all that has ended, not what did so days ago. */
export const retention: WebhookPart = {
  name: 'retention',
  long: true,
  async run(at, { say }) {
    const { database, boss, receiver } = at
    const owners = await Promise.all(Array.from({ length: 8 }, (_, n) => subscribed(at, `/ok/cycle/${n}`)))
    // Vacuum comes once a minute by default; the cycles here are shorter than that.
    await database.query((sql) => sql`alter system set autovacuum_naptime = '1s'`)
    await database.query((sql) => sql`select pg_reload_conf()`)
    const sizes: number[] = []
    const dead: number[] = []
    const missing: string[] = []
    for (let cycle = 0; cycle < cycles; cycle += 1) {
      receiver.forget()
      const ids: string[] = []
      for (const owner of owners) ids.push(...await writeBacklog(database, boss, owner, perCycle / owners.length))
      await until(() => ids.every((id) => receiver.arrived.has(id)), arriveWithinMs)
      missing.push(...missingAt(receiver, ids))
      if (!await until(async () => await pendingOf(at, owners) === 0, arriveWithinMs, 250)) missing.push(`cycle ${cycle + 1}: deliveries are still pending`)
      const before = new Date()
      while (await database.tx((sql) => purgeWebhookDeliveries(sql, before, purgedAtATime)) === purgedAtATime);
      const { bytes, tuples } = await sizeOf(at)
      sizes.push(bytes)
      dead.push(tuples)
      say(`cycle ${cycle + 1} of ${cycles}: ${(bytes / 2 ** 20).toFixed(1)} MiB, ${tuples} dead rows`)
      await wait(1500)
    }
    const [, second = 0] = sizes
    const last = sizes.at(-1) ?? 0
    return {
      figures: [['size after each cycle', sizes.map((bytes) => `${(bytes / 2 ** 20).toFixed(1)}`).join(', ') + ' MiB'], ['dead rows', dead.join(', ')]],
      failures: [...missing, ...(last <= second * grownAtMost ? [] : [`the tables grew from ${second} to ${last} bytes`])],
    }
  },
}

async function pendingOf({ database }: WebhookStage, owners: readonly Owner[]): Promise<number> {
  const [row] = await database.query((sql) => sql<{ count: number }[]>`
    select count(*)::int as count from payments.webhook_deliveries
    where merchant_id = any(${owners.map(({ merchantId }) => merchantId)}::uuid[]) and status = 'pending'`)
  return row?.count ?? 0
}

async function sizeOf({ database }: WebhookStage): Promise<{ bytes: number, tuples: number }> {
  const [row] = await database.query((sql) => sql<{ bytes: number, tuples: number }[]>`
    select sum(pg_total_relation_size(relid))::int8 as bytes, sum(n_dead_tup)::int8 as tuples from pg_stat_user_tables
    where schemaname = 'payments' and relname in ('webhook_deliveries', 'webhook_attempts')`)
  return row ?? { bytes: Number.NaN, tuples: Number.NaN }
}
