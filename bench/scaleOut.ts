import { setTimeout as wait } from 'node:timers/promises'
import type { ServiceProcess } from '../contract-tests/harness/serviceProcess.ts'
import type { Database } from '../db/sql.ts'
import { checkAfterLoad, countIntents, judgeAfterLoad, untilSettled } from './afterLoad.ts'
import type { AfterLoad } from './afterLoad.ts'
import type { BenchSystem } from './benchSystem.ts'
import { median } from './median.ts'
import { startLoadGenerator } from './openLoad.ts'
import type { LoadGenerator, LoadOrder, LoadReport } from './openLoad.ts'
import { creations } from './paymentFlows.ts'
import { failureCell, figure, judgedTable, section, table, word } from './results.ts'
import type { Section } from './results.ts'
import { settle } from './settle.ts'
import { subscribe } from './webhooks/events.ts'
import { startReceiverProcess } from './webhooks/receiver.ts'
import type { ReceiverProcess } from './webhooks/receiver.ts'

/** The same load over some payments processes, beside some workers. */
export interface ScaledRow {
  payments: number
  workers: number
  /** What warms the processes up: not measured, but nothing of it may fail either. */
  warmUp: LoadReport
  /** As fast as it is answered, and evenly at half of what one process takes. */
  most: readonly LoadReport[]
  even: readonly LoadReport[]
  /** Most connections that PostgreSQL had of these processes at a time. */
  connections: number
}

export interface ScaleOut {
  rows: readonly ScaledRow[]
  evenRate: number
  atATime: number
  /** Connections that PostgreSQL takes. */
  limit: number
  afterLoad: AfterLoad
}

const atATime = 32
const lookEveryMs = 200
const deliveringMs = 180_000
const shapes = [{ payments: 1, workers: 0 }, { payments: 2, workers: 0 }, { payments: 2, workers: 2 }] as const

/**
 * Measures creations without a provider over one and two processes, and over two beside two workers, each as it is started
 * by default. Each shape begins with everything delivered and the database settled; what all of them left is judged.
 */
export async function measureScaleOut(system: BenchSystem, directory: string, say: (line: string) => void, { rounds = 3, seconds = 4 } = {}): Promise<ScaleOut> {
  const receiver = await startReceiverProcess(directory)
  const database = system.connect()
  const generator = startLoadGenerator()
  try {
    const { apiKey, merchant } = await system.addMerchant()
    await subscribe(database, merchant, `${receiver.url}/ok/scale-out`, system.sealing, ['payment_intent.created'])
    const [row] = await database.query((sql) => sql<{ number: string }[]>`select current_setting('max_connections') as number`)
    const before = await countIntents(database)
    const order = { ...creations({ apiKey })[0], seconds }
    const rows: ScaledRow[] = []
    let evenRate = 0
    for (const shape of shapes) {
      const scaled = await measureShape(shape, { system, database, receiver, generator, order, rounds, evenRate })
      evenRate ||= rateOf(scaled.most) / 2
      rows.push(scaled)
      say(`${nameOf(scaled)}: ${rateOf(scaled.most).toFixed(0)} requests/s, ${scaled.connections} connections`)
      await deliverAll(system, database, receiver)
    }
    const acknowledged = rows.flatMap(reportsOf).reduce((sum, { answered }) => sum + answered, 0)
    return { rows, evenRate, atATime, limit: Number(row?.number), afterLoad: await checkAfterLoad(system.databaseUrl, { acknowledged, before }) }
  } finally {
    generator.stop()
    receiver.stop()
    await database.end()
  }
}

interface Means {
  system: BenchSystem
  database: Database
  receiver: ReceiverProcess
  generator: LoadGenerator
  order: Omit<LoadOrder, 'urls' | 'pace'>
  rounds: number
  /** Requests a second; 0: half of what this shape takes. */
  evenRate: number
}

async function measureShape(
  { payments, workers }: typeof shapes[number], { system, database, receiver, generator, order, rounds, evenRate }: Means,
): Promise<ScaledRow> {
  const { environment } = receiver
  const started = await Promise.all([
    ...Array.from({ length: payments }, () => system.startPayments(environment)), ...Array.from({ length: workers }, () => system.startWorker(environment)),
  ])
  const counting = countConnections(database)
  const urls = started.slice(0, payments).map(({ url }) => url)
  const [most, even]: [LoadReport[], LoadReport[]] = [[], []]
  try {
    const warmUp = await generator.send({ ...order, urls, pace: { atATime } })
    await settle(database)
    for (let round = 0; round < rounds; round += 1) most.push(await generator.send({ ...order, urls, pace: { atATime } }))
    await settle(database)
    const perSecond = evenRate || rateOf(most) / 2
    for (let round = 0; round < rounds; round += 1) even.push(await generator.send({ ...order, urls, pace: { perSecond } }))
    const connections = await counting.stop()
    if (workers > 0) await untilSettled(database, deliveringMs)
    return { payments, workers, warmUp, most, even, connections }
  } finally {
    await counting.stop()
    await stopAll(started)
  }
}

const reportsOf = ({ warmUp, most, even }: ScaledRow): LoadReport[] => [warmUp, ...most, ...even]

/** Delivers what a shape without workers left, so that the next one finds none of it. */
async function deliverAll(system: BenchSystem, database: Database, { environment }: ReceiverProcess): Promise<void> {
  if (await untilSettled(database, 0)) return
  const worker = await system.startWorker(environment)
  try {
    if (!await untilSettled(database, deliveringMs)) throw new Error(`deliveries are still due ${deliveringMs / 1000} s after the load`)
  } finally {
    await worker.end()
  }
}

async function stopAll(processes: readonly ServiceProcess[]): Promise<void> {
  await Promise.all(processes.map((each) => each.kill()))
}

/** Counts the connections of the product's processes, again and again, until it is stopped; the bench's own are left out. */
function countConnections(database: Database): { stop(): Promise<number> } {
  let most = 0
  let over = false
  const looking = (async () => {
    while (!over) {
      const [row] = await database.query((sql) => sql<{ open: number }[]>`
        select count(*)::int as open from pg_stat_activity where backend_type = 'client backend' and application_name <> 'bayar bench'`)
      most = Math.max(most, row?.open ?? 0)
      await wait(lookEveryMs)
    }
    return most
  })()
  return {
    stop: () => {
      over = true
      return looking
    },
  }
}

const rateOf = (reports: readonly LoadReport[]): number => median(reports.map(({ perSecond }) => perSecond))
const plural = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`
const nameOf = ({ payments, workers }: ScaledRow): string =>
  `${plural(payments, 'payments process', 'payments processes')}${workers === 0 ? '' : `, ${plural(workers, 'worker', 'workers')}`}`

/** The table of scale-out. Held: the connections of four processes fit into what PostgreSQL takes, nothing fails, the invariants hold. */
export function scaleOutSection({ rows, evenRate, atATime: width, limit, afterLoad }: ScaleOut, server: string): Section {
  const [first] = rows
  const after = judgeAfterLoad(afterLoad)
  const judged = rows.map((row) => ({ ...row, failures: failureCell(reportsOf(row)), fits: row.connections <= limit }))
  const held = judged.every(({ failures, fits }) => failures.held && fits) && after.every((one) => one.held !== false)
  const p99 = (reports: readonly LoadReport[]): string => figure(median(reports.map((report) => report.p99)), 1)
  return section('Scale-out: creations without a provider over several processes', [
    `The same load on the same machine, ${width} at a time, and evenly ${evenRate.toFixed(0)} a second (half of what one process takes). Load generator, PostgreSQL, the`,
    'receiver of webhooks and the processes share the cores, so more processes can only use what one of them leaves idle. Each begins with everything delivered,',
    'after VACUUM ANALYZE and a checkpoint. Connections: the most at a time, with every setting at its default.',
    '',
    table(['processes', 'of one', 'requests/s', 'p99, ms', 'p99 at the even rate, ms', 'connections', 'bar', 'requests that failed'], judged.map((row) => [
      nameOf(row), first ? figure(rateOf(row.most) / rateOf(first.most), 2) : '', rateOf(row.most).toFixed(0), p99(row.most), p99(row.even),
      String(row.connections), `${limit}: ${word(row.fits)}`, row.failures.cell,
    ])),
    '',
    judgedTable(after),
  ], held, server)
}
