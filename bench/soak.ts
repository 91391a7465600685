import { readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import type { ServiceProcess } from '../contract-tests/harness/serviceProcess.ts'
import type { Database } from '../db/sql.ts'
import type { BenchSystem } from './benchSystem.ts'
import { startLoadGenerator } from './openLoad.ts'
import type { LoadReport } from './openLoad.ts'
import { creations } from './paymentFlows.ts'
import { section, table } from './results.ts'
import type { Section } from './results.ts'
import { judgeSoak, mebibytes } from './soakJudge.ts'
import type { SoakSample, SoakVerdict } from './soakJudge.ts'
import { subscribe } from './webhooks/events.ts'
import { startReceiverProcess } from './webhooks/receiver.ts'

export interface Soak {
  minutes: number
  samples: readonly SoakSample[]
  load: LoadReport
  verdicts: readonly SoakVerdict[]
}

const perSecond = 50
/** One receiver in twenty answers every delivery with 500. */
const receivers = 20
const failing = 1
const samplesInAll = 60

/** Creations of 20 merchants for a long time, with workers that deliver their events; reads the system as it goes, and judges it. */
export async function soak(system: BenchSystem, directory: string, say: (line: string) => void, { minutes }: { minutes: number }): Promise<Soak> {
  const receiver = await startReceiverProcess(directory)
  const database = system.connect()
  const generator = startLoadGenerator()
  const processes = new Map<string, ServiceProcess>()
  try {
    const apiKeys: string[] = []
    for (let at = 0; at < receivers; at += 1) {
      const { apiKey, merchant } = await system.addMerchant()
      await subscribe(database, merchant, `${receiver.url}/${at < failing ? 'status/500' : 'ok'}/${at}`, system.sealing, ['payment_intent.created'])
      apiKeys.push(apiKey)
    }
    for (const name of ['payments 1', 'payments 2']) processes.set(name, await system.startPayments(receiver.environment))
    for (const name of ['worker 1', 'worker 2']) processes.set(name, await system.startWorker(receiver.environment))
    const urls = ['payments 1', 'payments 2'].flatMap((name) => processes.get(name)?.url ?? [])
    const [creation] = creations(system)
    const seconds = minutes * 60
    const walFrom = await walPosition(database)
    const started = performance.now()
    const loading = generator.send({ ...creation, urls, authorizations: apiKeys.map((key) => `Bearer ${key}`), seconds, pace: { perSecond } }, true)
    const samples: SoakSample[] = []
    for (let at = 1; at <= samplesInAll; at += 1) {
      await wait(started + at * seconds * 1000 / samplesInAll - performance.now())
      const sample = await read(database, processes, walFrom, (performance.now() - started) / 1000)
      samples.push(sample)
      if (at % 6 === 0) say(describe(sample))
    }
    const load = await loading
    const verdicts = [...judgeSoak(samples, load.answered), failuresOf(load)]
    return { minutes, samples, load, verdicts }
  } finally {
    generator.stop()
    await Promise.all([...processes.values()].map((each) => each.kill()))
    receiver.stop()
    await database.end()
  }
}

function failuresOf({ answered, failures }: LoadReport): SoakVerdict {
  const failed = Object.values(failures).reduce((sum, count) => sum + count, 0)
  return { name: 'requests that failed', figure: `${failed} of ${answered + failed} ${failed > 0 ? JSON.stringify(failures) : ''}`.trim(), bar: '0', held: failed === 0 }
}

async function walPosition(database: Database): Promise<string> {
  const [row] = await database.query((sql) => sql<{ at: string }[]>`select pg_current_wal_lsn()::text as at`)
  return row?.at ?? '0/0'
}

async function read(database: Database, processes: ReadonlyMap<string, ServiceProcess>, walFrom: string, at: number): Promise<SoakSample> {
  const [row] = await database.query((sql) => sql<Omit<SoakSample, 'at' | 'memory'>[]>`
    select sum(n_dead_tup)::int8 as "deadRows", sum(n_live_tup)::int8 as "liveRows", sum(pg_total_relation_size(relid))::int8 as bytes,
      pg_wal_lsn_diff(pg_current_wal_lsn(), ${walFrom}::pg_lsn)::int8 as "walBytes",
      (select count(*) from pgboss.job where state in ('created', 'retry', 'active')) as "openJobs",
      (select count(*) from payments.webhook_deliveries) as deliveries,
      (select count(*) from payments.webhook_deliveries where status = 'pending' and due_at < now() - interval '5 seconds') as overdue
    from pg_stat_user_tables where schemaname in ('payments', 'pgboss')`)
  if (!row) throw new Error('the server keeps no statistics')
  return { ...row, at, memory: Object.fromEntries([...processes].map(([name, { pid }]) => [name, residentBytes(pid)])) }
}

/** Resident memory of a process; not a number where there is no /proc. */
function residentBytes(pid: number): number {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? Number.NaN) * 1024
  } catch {
    return Number.NaN
  }
}

function describe({ at, memory, deadRows, openJobs, overdue }: SoakSample): string {
  return `${at.toFixed(0)} s: ${Object.entries(memory).map(([name, bytes]) => `${name} ${mebibytes(bytes)}`).join(', ')}, ${deadRows} dead rows, ` +
    `${openJobs} open jobs, ${overdue} deliveries overdue`
}

/** The verdicts of a soak, and what the tables came to. */
export function soakSection({ minutes, samples, load, verdicts }: Soak, server: string): Section {
  const last = samples.at(-1)
  return section('Soak', [
    `${minutes} minutes at ${perSecond} creations a second, evenly, of ${receivers} merchants over two payments processes and two workers; ${failing} receiver in ${receivers}`,
    `fails always. ${load.answered} created, p50 ${load.p50.toFixed(1)} ms, p99 ${load.p99.toFixed(1)} ms. ${samples.length} samples, judged after the first third.`,
    '',
    table(['what', 'figure', 'bar', ''], verdicts.map(({ name, figure, bar, held }) => [name, figure, bar, held ? 'held' : 'MISSED'])),
    '',
    table(['at the end', 'figure'], [
      ['tables and indexes', mebibytes(last?.bytes ?? 0)], ['written ahead', mebibytes(last?.walBytes ?? 0)], ['deliveries', String(last?.deliveries ?? 0)],
    ]),
  ], verdicts.every(({ held }) => held), server)
}
