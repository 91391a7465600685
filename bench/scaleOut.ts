import { setTimeout as wait } from 'node:timers/promises'
import type { ServiceProcess } from '../contract-tests/harness/serviceProcess.ts'
import type { Database } from '../db/sql.ts'
import type { BenchSystem } from './benchSystem.ts'
import { median } from './median.ts'
import { startLoadGenerator } from './openLoad.ts'
import type { LoadReport } from './openLoad.ts'
import { creations } from './paymentFlows.ts'
import { section, table } from './results.ts'
import type { Section } from './results.ts'
import { subscribe } from './webhooks/events.ts'

/** The same load over some payments processes, beside some workers. */
export interface ScaledRow {
  payments: number
  workers: number
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
}

const atATime = 32
const lookEveryMs = 200
const shapes = [{ payments: 1, workers: 0 }, { payments: 2, workers: 0 }, { payments: 2, workers: 2 }] as const

/** Measures creations without a provider over one and two processes, and over two beside two workers, each as it is started by default. */
export async function measureScaleOut(system: BenchSystem, say: (line: string) => void, { rounds = 3, seconds = 4 } = {}): Promise<ScaleOut> {
  const database = system.connect()
  const generator = startLoadGenerator()
  try {
    await subscribe(database, system.merchant, 'https://receiver.invalid/bench', system.sealing, ['payment_intent.created'])
    const [row] = await database.query((sql) => sql<{ number: string }[]>`select current_setting('max_connections') as number`)
    const rows: ScaledRow[] = []
    let evenRate = 0
    for (const { payments, workers } of shapes) {
      const started = await Promise.all([
        ...Array.from({ length: payments }, () => system.startPayments()), ...Array.from({ length: workers }, () => system.startWorker()),
      ])
      const counting = countConnections(database)
      const order = { ...creations(system)[0], urls: started.slice(0, payments).map(({ url }) => url), seconds }
      const [most, even]: [LoadReport[], LoadReport[]] = [[], []]
      try {
        await generator.send({ ...order, pace: { atATime } })
        for (let round = 0; round < rounds; round += 1) most.push(await generator.send({ ...order, pace: { atATime } }))
        evenRate ||= rateOf(most) / 2
        for (let round = 0; round < rounds; round += 1) even.push(await generator.send({ ...order, pace: { perSecond: evenRate } }))
      } finally {
        await stopAll(started)
      }
      rows.push({ payments, workers, most, even, connections: await counting.stop() })
      say(`${nameOf(rows.at(-1) as ScaledRow)}: ${rateOf(most).toFixed(0)} requests/s, ${rows.at(-1)?.connections} connections`)
    }
    return { rows, evenRate, atATime, limit: Number(row?.number) }
  } finally {
    generator.stop()
    await database.end()
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

/** The table of scale-out. Held: the connections of four processes fit into what PostgreSQL takes. */
export function scaleOutSection({ rows, evenRate, atATime: width, limit }: ScaleOut, server: string): Section {
  const [first] = rows
  const held = rows.every(({ connections }) => connections <= limit)
  const p99 = (reports: readonly LoadReport[]): string => median(reports.map((report) => report.p99)).toFixed(1)
  return section('Scale-out: creations without a provider over several processes', [
    `The same load on the same machine, ${width} at a time, and evenly ${evenRate.toFixed(0)} a second (half of what one process takes). Load generator, PostgreSQL and`,
    'processes share the cores, so more processes can only use what one of them leaves idle. Connections: the most at a time, with every setting at its default.',
    '',
    table(['processes', 'of one', 'requests/s', 'p99, ms', 'p99 at the even rate, ms', 'connections', 'bar'], rows.map((row) => [
      nameOf(row), first ? (rateOf(row.most) / rateOf(first.most)).toFixed(2) : '', rateOf(row.most).toFixed(0), p99(row.most), p99(row.even),
      String(row.connections), `${limit}: ${row.connections <= limit ? 'held' : 'MISSED'}`,
    ])),
  ], held, server)
}
