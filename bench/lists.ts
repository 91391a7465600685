import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { testIssuer } from '../contract-tests/harness/issuer.ts'
import type { TestIssuer } from '../contract-tests/harness/issuer.ts'
import { insertApiKeyWithFreePrefix } from '../db/payments/apiKeys.ts'
import { connect } from '../db/sql.ts'
import type { Database } from '../db/sql.ts'
import { digestOfApiKey, formatApiKey, prefixOfApiKey } from '../domain/apiKeys.ts'
import { systemRuntime } from '../domain/runtime.ts'
import { defaultScopes } from '../generated/roles.ts'
import { startBenchSystem } from './benchSystem.ts'
import type { BenchSystem } from './benchSystem.ts'
import { keptPlan, listCases, paths, scopeOf } from './lists/cases.ts'
import type { Asker, ListCase } from './lists/cases.ts'
import { readKeptPlans } from './lists/keptPlans.ts'
import { seedLists } from './lists/seed.ts'
import type { ListOwner, SeededMerchants } from './lists/seed.ts'
import { median } from './median.ts'
import { startLoadGenerator } from './openLoad.ts'
import type { LoadGenerator, LoadReport } from './openLoad.ts'
import { readsIn } from './queryPlans.ts'
import { settle } from './settle.ts'

export interface ListSpeed extends ListCase {
  /** Null: no answer told it. */
  total: number | null
  /** What came of asking for it: not measured, but nothing of it may fail either. */
  warmUp: Pick<LoadReport, 'answered' | 'failures'>
  /** The rate at which it was asked, and the runs. */
  perSecond: number
  reports: readonly LoadReport[]
  /** What its plan reads, and how, each once. */
  reads: readonly string[]
  /** The plan is that of db/plans; null: none is kept of this question. */
  isAsKept: boolean | null
}

export interface ListSpeeds {
  intents: number
  seedSeconds: number
  speeds: readonly ListSpeed[]
  serverVersion: string
}

const runs = { bar: 3, other: 1 }
const probes = 4
const mostPerSecond = 100
/** A question that is answered slowly is asked for longer than the others. */
const leastRequests = 8
const tokenSeconds = 7200
const patientMs = 900_000

export interface ListsOptions {
  /** Of the big merchant; half as many of the others together. */
  intents?: number
  /** Length of each run. */
  seconds?: number
}

/** Measures the lists over HTTP with a million intents of one merchant and 5,000 each of a hundred others. Seeds some minutes. */
export async function measureLists(directory: string, say: (line: string) => void, { intents = 1_000_000, seconds = 2 }: ListsOptions = {}): Promise<ListSpeeds> {
  const system = await startBenchSystem(directory)
  const database = connect(system.databaseUrl, { max: 1, limitMs: patientMs, applicationName: 'bayar bench' })
  try {
    const from = performance.now()
    const merchants = await seedLists(database, system.merchant, intents, say)
    const seedSeconds = (performance.now() - from) / 1000
    const now = systemRuntime.now()
    const speeds = await measureCases(listCases(intents, now), { system, database, merchants, seconds, now, say })
    return { intents, seedSeconds, speeds, serverVersion: system.serverVersion }
  } finally {
    await database.end()
    await system.stop()
  }
}

interface Stage {
  system: BenchSystem
  database: Database
  merchants: SeededMerchants
  seconds: number
  now: Date
  say(line: string): void
}

async function measureCases(cases: readonly ListCase[], { system, database, merchants, seconds, now, say }: Stage): Promise<ListSpeed[]> {
  const issuer = await testIssuer({ now: () => systemRuntime.now() } as Parameters<typeof testIssuer>[0])
  const jwks = await serveJson(issuer.jwks())
  const service = await system.startPayments({ TOKEN_ISSUER: issuer.issuer, TOKEN_JWKS_URL: jwks.url })
  const generator = startLoadGenerator()
  try {
    await settle(database)
    const bearers = await bearersOf(system, database, issuer, merchants)
    const kept = readKeptPlans()
    const speeds: ListSpeed[] = []
    for (const one of cases) {
      const speed = await measureCase(one, { url: service.url, bearer: bearers[one.asker], generator, seconds })
      const plan = await database.readTx((sql) => keptPlan(sql, one, scopeOf(one.asker, merchants), now))
      const title = plan.split('\n')[0] ?? ''
      speeds.push({ ...speed, reads: readsIn(plan), isAsKept: kept[one.list].has(title) ? kept[one.list].get(title) === plan.trim() : null })
      say(`${one.list}, ${one.name}, ${one.asker}: p99 ${median(speed.reports.map(({ p99 }) => p99)).toFixed(0)} ms at ${speed.perSecond.toFixed(0)}/s, total ${speed.total ?? 'not told'}`)
    }
    return speeds
  } finally {
    generator.stop()
    await service.kill()
    await jwks.close()
  }
}

interface Means {
  url: string
  bearer: string
  generator: LoadGenerator
  seconds: number
}

/** Evenly paced from another process, at half of what is answered one after the other: nobody waits for anybody. */
async function measureCase(one: ListCase, { url, bearer, generator, seconds }: Means): Promise<Omit<ListSpeed, 'isAsKept' | 'reads'>> {
  const path = `${paths[one.list]}?${new URLSearchParams({ ...one.query, page: String(one.page), limit: String(one.limit) }).toString()}`
  const headers = { Authorization: `Bearer ${bearer}` }
  const from = performance.now()
  const { total, ...warmUp } = await probe(`${url}${path}`, headers)
  const perSecond = Math.min(mostPerSecond, 1000 / ((performance.now() - from) / probes) / 2)
  const reports: LoadReport[] = []
  for (let run = 0; run < (one.hasBar ? runs.bar : runs.other); run += 1) {
    reports.push(await generator.send({
      urls: [url], method: 'GET', paths: [path], headers, body: null, keyed: false, seconds: Math.max(seconds, leastRequests / perSecond), pace: { perSecond },
    }))
  }
  return { ...one, total, warmUp, perSecond, reports }
}

/** Asks some times, one after the other, for the total. */
async function probe(address: string, headers: Record<string, string>): Promise<{ total: number | null } & ListSpeed['warmUp']> {
  const failures: Record<string, number> = {}
  let [total, answered]: [number | null, number] = [null, 0]
  for (let at = 0; at < probes; at += 1) {
    const response = await fetch(address, { headers })
    const body = await response.json() as { total?: number }
    if (response.status === 200 && body.total !== undefined) [total, answered] = [body.total, answered + 1]
    else failures[response.status] = (failures[response.status] ?? 0) + 1
  }
  return { total, answered, failures }
}

/** Credentials of the askers: keys of one merchant, tokens of a console user at three, and at all. */
async function bearersOf({ apiKey }: BenchSystem, database: Database, issuer: TestIssuer, { big, others }: SeededMerchants): Promise<Record<Asker, string>> {
  const [first, second] = others
  if (!first || !second) throw new Error('there are no other merchants')
  const token = (bindings: { role: string, scope: string }[]) => issuer.token({ tenantId: big.tenantId, bindings, expiresIn: tokenSeconds })
  return {
    big: apiKey, small: await apiKeyOf(database, first),
    several: await token([big, first, second].map(({ merchantId }) => ({ role: 'merchant_owner', scope: `merchant:${merchantId}` }))),
    tenant: await token([{ role: 'tenant_admin', scope: '*' }]),
  }
}

async function apiKeyOf(database: Database, { tenantId, merchantId }: ListOwner): Promise<string> {
  const key = formatApiKey('sandbox', systemRuntime.randomBytes(32))
  await database.tx((sql) => insertApiKeyWithFreePrefix(sql, {
    id: randomUUID(), tenantId, merchantId, name: 'Bench', prefix: prefixOfApiKey(key), digest: digestOfApiKey(key), scopes: defaultScopes, createdBy: 'user:bench',
    createdAt: systemRuntime.now(), expiresAt: null,
  }))
  return key
}

async function serveJson(body: object): Promise<{ url: string, close(): Promise<void> }> {
  const server = createServer((_, response) => response.setHeader('Content-Type', 'application/json').end(JSON.stringify(body)))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks.json`,
    close: () => new Promise((resolve) => {
      server.closeAllConnections()
      server.close(() => resolve())
    }),
  }
}
