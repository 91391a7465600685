import { setTimeout as wait } from 'node:timers/promises'
import { median } from './median.ts'
import { cpuSeconds } from './webhooks/cpu.ts'
import { makeOwner, subscribe, writeBacklog, writeFinished, writeMany, writeOne } from './webhooks/events.ts'
import type { Owner } from './webhooks/events.ts'
import { until } from './webhooks/receiver.ts'
import { startDeliverySystem } from './webhooks/system.ts'
import type { DeliverySystem } from './webhooks/system.ts'

/** Deliveries of events that wait when the workers start. */
export interface DrainSpeed {
  name: string
  perSecond: readonly number[]
  /** CPU microseconds for each delivery, of the workers and of PostgreSQL; null where that cannot be read. */
  cpu: readonly (number | null)[]
  /** Events that did not reach the receiver, and arrivals beyond the first. */
  missing: number
  repeated: number
}

/** Milliseconds from the commit of an event to its arrival. */
export interface Latency {
  name: string
  events: number
  /** Events a second that were written and that arrived, whichever is less. */
  perSecond: number
  /** Of them so many were to be a second, where that is judged. */
  bar: number | null
  p50: number
  p99: number
  missing: number
}

export interface DeliverySpeed {
  drains: readonly DrainSpeed[]
  latencies: readonly Latency[]
  serverVersion: string
}

const owners = 20
const drained = 12_000
const rounds = 3
const waiting = 100_000
const finished = 1_000_000
const sustainedSeconds = 20
/** How many a second are to be written and to arrive. A little more is asked for, so that it is not a matter of rounding. */
const sustainedRates = [600, 1000]
const aLittleMore = 1.02
const writers = 12
const quietEveryMs = 100
const limitMs = 180_000

/** Measures deliveries to a receiver of its own over TLS, each event looked up there. Takes some minutes. */
export async function measureDeliveries(directory: string, say: (line: string) => void): Promise<DeliverySpeed> {
  const system = await startDeliverySystem(directory)
  try {
    const merchants: Owner[] = []
    for (let at = 0; at < owners; at += 1) merchants.push(await subscribed(system, `/ok/${at}`))
    const drains = [
      await drain('one worker', system, merchants, 1, say),
      await drain('two workers', system, merchants, 2, say),
    ]
    const latencies: Latency[] = []
    for (const rate of sustainedRates) latencies.push(await sustain(rate, system, merchants, say))
    const crowd = await subscribed(system, '/sleep/30000')
    await writeBacklog(system.database, system.boss, crowd, waiting)
    say(`${waiting} deliveries wait for a receiver that takes 30 s`)
    drains.push(await drain(`one worker, while ${waiting.toLocaleString('en')} wait for a slow receiver`, system, merchants, 1, say))
    latencies.push(await quietBesideFlood(system, say))
    await fill(system, say)
    drains.push(await drain(`one worker, with ${finished.toLocaleString('en')} finished besides`, system, merchants, 1, say))
    return { drains, latencies, serverVersion: system.serverVersion }
  } finally {
    await system.stop()
  }
}

async function subscribed({ database, receiver, sealing }: DeliverySystem, path: string): Promise<Owner> {
  const owner = await makeOwner(database)
  await subscribe(database, owner, `${receiver.url}${path}`, sealing)
  return owner
}

async function drain(name: string, system: DeliverySystem, merchants: readonly Owner[], workers: number, say: (line: string) => void): Promise<DrainSpeed> {
  const { database, boss, receiver, postgresPid } = system
  const runs: { perSecond: number, cpu: number | null }[] = []
  let [missing, repeated] = [0, 0]
  // The first round warms the caches of the server up.
  for (let round = 0; round <= rounds; round += 1) {
    const expected: string[] = []
    for (const owner of merchants) expected.push(...await writeBacklog(database, boss, owner, drained / merchants.length))
    receiver.forget()
    const server = cpuSeconds(postgresPid)
    const running = await Promise.all(Array.from({ length: workers }, () => system.startWorker()))
    const started = running.map(({ pid }) => cpuSeconds(pid))
    await until(() => expected.every((id) => receiver.arrived.has(id)), limitMs, 200)
    const ended = running.map(({ pid }) => cpuSeconds(pid))
    const spent = sum([difference(server, cpuSeconds(postgresPid)), ...ended.map((value, at) => difference(started[at] ?? null, value))])
    await Promise.all(running.map((worker) => worker.end()))
    const times = expected.flatMap((id) => receiver.arrived.get(id)?.[0]?.at ?? [])
    const seconds = (times.reduce((most, time) => Math.max(most, time), 0) - times.reduce((least, time) => Math.min(least, time), Infinity)) / 1000
    missing += expected.length - times.length
    repeated += expected.reduce((count, id) => count + Math.max((receiver.arrived.get(id)?.length ?? 0) - 1, 0), 0)
    if (round > 0) runs.push({ perSecond: times.length / seconds, cpu: spent === null ? null : spent / times.length * 1e6 })
  }
  const cpu = runs.flatMap((run) => run.cpu ?? [])
  const cost = cpu.length === 0 ? 'CPU not measured' : `${median(cpu).toFixed(0)} µs of CPU each`
  say(`${name}: ${median(runs.map(({ perSecond }) => perSecond)).toFixed(0)} deliveries a second, ${cost}`)
  return { name, perSecond: runs.map(({ perSecond }) => perSecond), cpu: runs.map(({ cpu }) => cpu), missing, repeated }
}

function difference(before: number | null, after: number | null): number | null {
  return before === null || after === null ? null : after - before
}

function sum(values: readonly (number | null)[]): number | null {
  return values.reduce((total, value) => total === null || value === null ? null : total + value, 0)
}

/** Events as they happen, evenly, while one worker delivers. */
async function sustain(rate: number, system: DeliverySystem, merchants: readonly Owner[], say: (line: string) => void): Promise<Latency> {
  const { database, boss, receiver } = system
  receiver.forget()
  const worker = await system.startWorker()
  await writeMany(database, boss, merchants, 500)
  const written = new Map<string, number>()
  const from = performance.now()
  const perSecond = rate * aLittleMore
  const total = Math.round(sustainedSeconds * perSecond)
  let begun = 0
  // As many at a time as the driver has connections: a machine that cannot write as fast is told of by the rate.
  await Promise.all(Array.from({ length: writers }, async () => {
    while (begun < total) {
      const early = from + begun / perSecond * 1000 - performance.now()
      begun += 1
      if (early > 0) await wait(early)
      const { id, at } = await writeOne(database, boss, merchants[begun % merchants.length] as Owner)
      written.set(id, at)
    }
  }))
  const name = `${perSecond.toFixed(0)} events a second to be written for ${sustainedSeconds} s, one worker`
  const latency = await latencyOf(name, written, receiver.arrived, rate)
  await worker.end()
  say(`${name}: ${latency.perSecond.toFixed(0)} a second written and delivered, p99 ${latency.p99.toFixed(0)} ms`)
  return latency
}

/** What a tenant with an event now and then sees of another's flood of 100,000. */
async function quietBesideFlood(system: DeliverySystem, say: (line: string) => void): Promise<Latency> {
  const { database, boss, receiver } = system
  const [flood, quiet] = [await subscribed(system, '/ok/flood'), await subscribed(system, '/ok/quiet')]
  receiver.forget()
  const flooded = await writeBacklog(database, boss, flood, waiting)
  const from = performance.now()
  const worker = await system.startWorker()
  const written = new Map<string, number>()
  while (!flooded.every((id) => receiver.arrived.has(id)) && performance.now() - from < limitMs) {
    for (let n = 0; n < 10; n += 1) {
      const { id, at } = await writeOne(database, boss, quiet)
      written.set(id, at)
      await wait(quietEveryMs)
    }
  }
  const seconds = (performance.now() - from) / 1000
  const name = `one event in ${quietEveryMs} ms beside another tenant's ${waiting.toLocaleString('en')}`
  const latency = await latencyOf(name, written, receiver.arrived, null)
  const left = flooded.filter((id) => !receiver.arrived.has(id)).length
  await worker.end()
  say(`${name}: p99 ${latency.p99.toFixed(0)} ms; the flood took ${seconds.toFixed(0)} s${left > 0 ? `, ${left} are left` : ''}`)
  return { ...latency, missing: latency.missing + left }
}

async function latencyOf(
  name: string, written: ReadonlyMap<string, number>, arrived: ReadonlyMap<string, readonly { at: number }[]>, bar: number | null,
): Promise<Latency> {
  await until(() => [...written.keys()].every((id) => arrived.has(id)), limitMs)
  const met = [...written].flatMap(([id, at]) => (arrived.get(id) ?? []).slice(0, 1).map((first) => ({ written: at, arrived: first.at })))
  const waits = met.map((event) => event.arrived - event.written).sort((a, b) => a - b)
  const perSecond = Math.min(rateOf(met.map((event) => event.written)), rateOf(met.map((event) => event.arrived)))
  const quantile = (share: number): number => waits[Math.min(waits.length - 1, Math.floor(waits.length * share))] ?? Number.NaN
  return {
    name, events: written.size, perSecond, bar, p50: quantile(0.5), p99: quantile(0.99), missing: written.size - met.length,
  }
}

/** How many a second, by their times in milliseconds, without the first and the last twentieth: a straggler is a matter of the p99. */
export function rateOf(times: readonly number[]): number {
  const sorted = times.toSorted((a, b) => a - b)
  const [from, to] = [Math.floor(sorted.length * 0.05), Math.ceil(sorted.length * 0.95) - 1]
  return (to - from) / ((sorted[to] ?? Number.NaN) - (sorted[from] ?? Number.NaN)) * 1000
}

/** Finished rows, of a merchant of their own. */
async function fill({ database, receiver, sealing }: DeliverySystem, say: (line: string) => void): Promise<void> {
  const parts = 4
  let done = 0
  await Promise.all(Array.from({ length: parts }, async () => {
    const owner = await makeOwner(database)
    const id = await subscribe(database, owner, `${receiver.url}/ok/finished`, sealing)
    for (let left = finished / parts; left > 0; left -= 25_000) {
      await writeFinished(database, owner, id, Math.min(left, 25_000))
      done += Math.min(left, 25_000)
      if (done % 100_000 === 0) say(`${done} finished deliveries written`)
    }
  }))
  await database.query((sql) => sql`analyze payments.webhook_deliveries`)
  await database.query((sql) => sql`analyze payments.webhook_attempts`)
}
