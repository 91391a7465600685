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

export interface ListSpeed extends ListCase {
  total: number
  p50: number
  p99: number
  /** The plan is that of db/plans; null: none is kept of this question. */
  isAsKept: boolean | null
}

export interface ListSpeeds {
  intents: number
  seedSeconds: number
  speeds: readonly ListSpeed[]
  serverVersion: string
}

const intents = 1_000_000
const requests = { bar: 300, other: 30 }
const tokenSeconds = 7200
const patientMs = 900_000

/** Measures the lists over HTTP, one request at a time, with a million intents of one merchant and 5,000 each of a hundred others. Seeds some minutes. */
export async function measureLists(directory: string, say: (line: string) => void): Promise<ListSpeeds> {
  const system = await startBenchSystem(directory)
  const database = connect(system.databaseUrl, { max: 1, limitMs: patientMs, applicationName: 'bayar bench' })
  try {
    const from = performance.now()
    const merchants = await seedLists(database, system.merchant, intents, say)
    const seedSeconds = (performance.now() - from) / 1000
    const speeds = await measureCases(system, database, merchants, say)
    return { intents, seedSeconds, speeds, serverVersion: system.serverVersion }
  } finally {
    await database.end()
    await system.stop()
  }
}

async function measureCases(system: BenchSystem, database: Database, merchants: SeededMerchants, say: (line: string) => void): Promise<ListSpeed[]> {
  const issuer = await testIssuer({ now: () => systemRuntime.now() } as Parameters<typeof testIssuer>[0])
  const jwks = await serveJson(issuer.jwks())
  const service = await system.startPayments({ TOKEN_ISSUER: issuer.issuer, TOKEN_JWKS_URL: jwks.url })
  try {
    const now = systemRuntime.now()
    const bearers = await bearersOf(system, database, issuer, merchants)
    const kept = readKeptPlans()
    const speeds: ListSpeed[] = []
    for (const one of listCases(intents, now)) {
      const speed = await measureCase(service.url, bearers[one.asker], one)
      const plan = await database.readTx((sql) => keptPlan(sql, one, scopeOf(one.asker, merchants), now))
      const title = plan.split('\n')[0] ?? ''
      speeds.push({ ...speed, isAsKept: kept[one.list].has(title) ? kept[one.list].get(title) === plan.trim() : null })
      say(`${one.list}, ${one.name}, ${one.asker}: p99 ${speed.p99.toFixed(0)} ms, total ${speed.total}`)
    }
    return speeds
  } finally {
    await service.kill()
    await jwks.close()
  }
}

async function measureCase(url: string, bearer: string, one: ListCase): Promise<Omit<ListSpeed, 'isAsKept'>> {
  const address = `${url}${paths[one.list]}?${new URLSearchParams({ ...one.query, page: String(one.page), limit: String(one.limit) }).toString()}`
  const askOnce = async (): Promise<number> => {
    const response = await fetch(address, { headers: { Authorization: `Bearer ${bearer}` } })
    const { total } = await response.json() as { total?: number }
    if (response.status !== 200 || total === undefined) throw new Error(`${address} answered ${response.status}`)
    return total
  }
  const total = await askOnce()
  const count = one.hasBar ? requests.bar : requests.other
  const times = new Float64Array(count)
  for (let at = 0; at < count; at += 1) {
    const from = performance.now()
    await askOnce()
    times[at] = performance.now() - from
  }
  times.sort()
  return { ...one, total, p50: times[Math.floor(count / 2)] ?? Number.NaN, p99: times[Math.ceil(count * 0.99) - 1] ?? Number.NaN }
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
