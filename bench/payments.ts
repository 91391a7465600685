import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { Database } from '../db/sql.ts'
import { benchConnections } from './benchSystem.ts'
import type { BenchSystem } from './benchSystem.ts'
import { load, requestBytes } from './load.ts'
import type { LoadResult } from './load.ts'
import { median } from './median.ts'
import { createOne, createSeveral, get } from './paymentStatements.ts'

export interface OperationSpeed {
  name: string
  /** Over HTTP, as fast as it is answered, and then evenly at half of that. */
  service: LoadResult
  half: LoadResult
  /** The same statements straight through the driver, a second; null when they turned out to be others. */
  driverPerSecond: number | null
  /** Rows written and scans made, for each request: by the service, by the driver. */
  work: { service: Work, driver: Work }
}

interface Work { inserted: number, updated: number, scans: number }

interface Flow {
  name: string
  total: number
  requests(count: number): Buffer[]
  straight(database: Database): Promise<void>
}

const rounds = 3

/** Measures a payments process with 16 connections, and its statements through the driver, in turn. */
export async function measurePayments(system: BenchSystem, say: (line: string) => void): Promise<OperationSpeed[]> {
  const maker = await system.startPayments()
  const all = flows(system, await someIntents(maker.url, system).finally(() => maker.end()))
  const works: OperationSpeed['work'][] = []
  for (const flow of all) works.push(await compareWork(flow, system))
  const service = await system.startPayments({ DATABASE_CONNECTIONS: String(benchConnections) })
  try {
    const speeds: OperationSpeed[] = []
    for (const [at, flow] of all.entries()) {
      speeds.push(await measure(flow, works[at] as OperationSpeed['work'], Number(new URL(service.url).port), system))
      say(`${flow.name} measured`)
    }
    return speeds
  } finally {
    await service.kill()
  }
}

function flows(system: BenchSystem, ids: readonly string[]): Flow[] {
  const headers = { 'Authorization': `Bearer ${system.apiKey}`, 'Content-Type': 'application/json' }
  const creation = (channels: readonly string[]) => (count: number) => Array.from({ length: count }, () =>
    requestBytes('POST', '/v1/payments/intents', { ...headers, 'Idempotency-Key': randomUUID() },
      JSON.stringify({ amount_idr: 150_000, allowed_channels: channels, description: 'Order 1042', metadata: { order_id: '1042' } })))
  let next = 0
  return [
    { name: 'createPaymentIntent, several channels', total: 1500, requests: creation(['qris', 'va_bank_a', 'ewallet_wallet_a']), straight: (database) => createSeveral(system, database) },
    { name: 'createPaymentIntent, through the simulator', total: 800, requests: creation(['qris']), straight: (database) => createOne(system, database) },
    {
      name: 'getPaymentIntent', total: 4000,
      requests: (count) => Array.from({ length: count }, (_, at) => requestBytes('GET', `/v1/payments/intents/${ids[at % ids.length]}`, headers)),
      straight: (database) => get(system, database, ids[next++ % ids.length] as string),
    },
  ]
}

async function someIntents(url: string, { apiKey }: BenchSystem): Promise<string[]> {
  return Promise.all(Array.from({ length: 50 }, async () => {
    const response = await fetch(`${url}/v1/payments/intents`, {
      method: 'POST', headers: { 'Authorization': `Bearer ${apiKey}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ amount_idr: 150_000, allowed_channels: ['qris'] }),
    })
    const { id } = await response.json() as { id?: string }
    if (!id) throw new Error(`createPaymentIntent answered ${response.status}`)
    return id
  }))
}

async function measure({ name, total, requests, straight }: Flow, work: OperationSpeed['work'], port: number, system: BenchSystem): Promise<OperationSpeed> {
  const database = system.connect()
  const over = (count: number, rate?: number) =>
    load({ port, requests: requests(count), connections: benchConnections, total: count, ...(rate !== undefined && { rate }) })
  const straightOn = () => straight(database)
  try {
    await over(total)
    await repeatedly(straightOn, total)
    const served: LoadResult[] = []
    const driven: number[] = []
    for (let round = 0; round < rounds; round += 1) {
      served.push(await over(total))
      driven.push(await repeatedly(straightOn, total))
    }
    const service = middle(served)
    const halved: LoadResult[] = []
    for (let round = 0; round < rounds; round += 1) halved.push(await over(total, service.perSecond / 2))
    return { name, service, half: middle(halved), work, driverPerSecond: isSame(work) ? median(driven) : null }
  } finally {
    await database.end()
  }
}

function middle(all: readonly LoadResult[]): LoadResult {
  const of = (name: keyof LoadResult) => median(all.map((result) => result[name]))
  return { seconds: of('seconds'), perSecond: of('perSecond'), p50: of('p50'), p99: of('p99') }
}

const compared = 200

/** What 200 requests make of the tables, and 200 times their statements. The server's statistics are whole once a connection has ended. */
async function compareWork({ requests, straight }: Flow, system: BenchSystem): Promise<OperationSpeed['work']> {
  const before = await workDone(system)
  const service = await system.startPayments()
  await load({ port: Number(new URL(service.url).port), requests: requests(compared), connections: 1, total: compared })
  await service.end()
  const between = await workDone(system)
  const database = system.connect()
  for (let at = 0; at < compared; at += 1) await straight(database)
  await database.end()
  const after = await workDone(system)
  return { service: difference(before, between), driver: difference(between, after) }
}

/** Works a second, 16 at a time. */
async function repeatedly(work: () => Promise<void>, total: number): Promise<number> {
  const from = performance.now()
  let begun = 0
  await Promise.all(Array.from({ length: benchConnections }, async () => {
    while (begun < total) {
      begun += 1
      await work()
    }
  }))
  return total / (performance.now() - from) * 1000
}

/** What the payments tables have seen since the beginning, once every connection but this one has ended. */
async function workDone(system: BenchSystem): Promise<Work> {
  const database = system.connect()
  try {
    for (;;) {
      const [row] = await database.query((sql) => sql<(Work & { others: number })[]>`
        select sum(n_tup_ins)::int8 as inserted, sum(n_tup_upd)::int8 as updated, sum(coalesce(idx_scan, 0) + seq_scan)::int8 as scans,
          (select count(*)::int from pg_stat_activity where application_name like 'bayar%' and pid <> pg_backend_pid()) as others
        from pg_stat_user_tables where schemaname = 'payments'`)
      if (!row) throw new Error('the server keeps no statistics')
      if (row.others === 0) return row
      await wait(lookEveryMs)
    }
  } finally {
    await database.end()
  }
}

const lookEveryMs = 20

function difference(before: Work, after: Work): Work {
  const per = (name: keyof Work) => Number(after[name] - before[name]) / compared
  return { inserted: per('inserted'), updated: per('updated'), scans: per('scans') }
}

function isSame({ service, driver }: OperationSpeed['work']): boolean {
  return Math.abs(service.inserted - driver.inserted) < 0.05 && Math.abs(service.updated - driver.updated) < 0.05 && Math.abs(service.scans - driver.scans) < 0.2
}
