import { readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import type { ServiceProcess } from '../contract-tests/harness/serviceProcess.ts'
import type { Database } from '../db/sql.ts'
import type { BenchSystem } from './benchSystem.ts'
import { failuresIn, startLoadGenerator } from './openLoad.ts'
import type { LoadReport } from './openLoad.ts'
import { checkAfterLoad, countIntents, judgeAfterLoad } from './afterLoad.ts'
import { creations } from './paymentFlows.ts'
import { figure, judgedTable, section, table } from './results.ts'
import type { JudgedFigure, Section } from './results.ts'
import { enduringMinutes, judgeSoak, mebibytes } from './soakJudge.ts'
import type { SoakSample } from './soakJudge.ts'
import { subscribe } from './webhooks/events.ts'
import { startReceiverProcess } from './webhooks/receiver.ts'

export interface Soak {
  minutes: number
  samples: readonly SoakSample[]
  load: LoadReport
  verdicts: readonly JudgedFigure[]
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
    const [walFrom, before] = [await walPosition(database), await countIntents(database)]
    const started = performance.now()
    const loading = generator.send({ ...creation, urls, authorizations: apiKeys.map((key) => `Bearer ${key}`), seconds, pace: { perSecond } })
    const samples: SoakSample[] = []
    for (let at = 1; at <= samplesInAll; at += 1) {
      await wait(Math.max(started + at * seconds * 1000 / samplesInAll - performance.now(), 0))
      const sample = await read(database, processes, walFrom, (performance.now() - started) / 1000)
      samples.push(sample)
      if (at % 6 === 0) say(describe(sample))
    }
    const load = await loading
    say('the load has ended; looking at what it left')
    const afterLoad = await checkAfterLoad(system.databaseUrl, { acknowledged: load.answered, before })
    const verdicts = [...judgeSoak(samples, load.answered), judgeFailures(load), ...judgeAfterLoad(afterLoad)]
    return { minutes, samples, load, verdicts }
  } finally {
    generator.stop()
    await Promise.all([...processes.values()].map((each) => each.kill()))
    receiver.stop()
    await database.end()
  }
}

function judgeFailures(load: LoadReport): JudgedFigure {
  const { failed, text } = failuresIn([load])
  return { name: 'requests that failed', figure: text, bar: '0', held: failed === 0 }
}

async function walPosition(database: Database): Promise<string> {
  const [row] = await database.query((sql) => sql<{ at: string }[]>`select pg_current_wal_lsn()::text as at`)
  return row?.at ?? '0/0'
}

async function read(database: Database, processes: ReadonlyMap<string, ServiceProcess>, walFrom: string, at: number): Promise<SoakSample> {
  const tables = await database.query((sql) => sql<{ name: string, dead: number, live: number, bytes: number }[]>`
    select schemaname || '.' || relname as name, n_dead_tup::int8 as dead, n_live_tup::int8 as live, pg_total_relation_size(relid)::int8 as bytes
    from pg_stat_user_tables where schemaname in ('payments', 'pgboss')`)
  const [row] = await database.query((sql) => sql<Omit<SoakSample, 'at' | 'memory' | 'rows' | 'bytes'>[]>`
    select pg_wal_lsn_diff(pg_current_wal_lsn(), ${walFrom}::pg_lsn)::int8 as "walBytes",
      (select sum(size)::int8 from pg_ls_waldir()) as "walKept",
      (select count(*) from pgboss.job where state in ('created', 'retry', 'active')) as "openJobs",
      (select count(*) from payments.webhook_deliveries) as deliveries,
      (select count(*) from payments.webhook_deliveries where status = 'pending' and due_at < now() - interval '5 seconds') as overdue`)
  if (!row) throw new Error('the server tells nothing of itself')
  return {
    ...row, at, memory: Object.fromEntries([...processes].map(([name, { pid }]) => [name, residentBytes(pid)])),
    rows: Object.fromEntries(tables.map(({ name, dead, live }) => [name, { dead, live }])), bytes: tables.reduce((sum, { bytes }) => sum + bytes, 0),
  }
}

/** Resident memory of a process; not a number where there is no /proc. */
function residentBytes(pid: number): number {
  try {
    return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? Number.NaN) * 1024
  } catch {
    return Number.NaN
  }
}

function describe({ at, memory, rows, walKept, openJobs, overdue }: SoakSample): string {
  const deadRows = Object.values(rows).reduce((sum, { dead }) => sum + dead, 0)
  const resident = Object.entries(memory).map(([name, bytes]) => Number.isNaN(bytes) ? `${name} not measured` : `${name} ${mebibytes(bytes)}`).join(', ')
  return `${at.toFixed(0)} s: ${resident}, ${deadRows} dead rows, ${mebibytes(walKept)} of log, ${openJobs} open jobs, ${overdue} deliveries overdue`
}

/** The verdicts of a soak, and what the tables came to. A short one has a heading of its own: it does not take the place of one that shows endurance. */
export function soakSection({ minutes, samples, load, verdicts }: Soak, server: string): Section {
  const last = samples.at(-1)
  return section(minutes >= enduringMinutes ? 'Soak' : `Soak, short: less than ${enduringMinutes} minutes`, [
    `${minutes} minutes at ${perSecond} creations a second, evenly, of ${receivers} merchants over two payments processes and two workers; ${failing} receiver in ${receivers}`,
    `fails always. ${load.answered} created, p50 ${figure(load.p50, 1)} ms, p99 ${figure(load.p99, 1)} ms. ${samples.length} samples, judged after the first third.`,
    '',
    judgedTable(verdicts),
    '',
    table(['at the end', 'figure'], [
      ['tables and indexes', mebibytes(last?.bytes ?? 0)], ['written ahead', mebibytes(last?.walBytes ?? 0)], ['deliveries', String(last?.deliveries ?? 0)],
    ]),
  ], verdicts.every(({ held }) => held !== false), server)
}
