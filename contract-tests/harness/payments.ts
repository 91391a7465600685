import { randomBytes, randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, inject } from 'vitest'
import { cloneDatabase } from '../../db/testDatabase.ts'
import { connect } from '../../db/sql.ts'
import type { Database } from '../../db/sql.ts'
import { putPspCredential } from '../../db/payments/providerCallbacks.ts'
import { readConfiguration } from '../../domain/configuration.ts'
import type { Configuration } from '../../domain/configuration.ts'
import type { Runtime } from '../../domain/runtime.ts'
import { sealingKeys } from '../../domain/sealing.ts'
import type { AnyHandler } from '../../handlers/http/handler.ts'
import { paymentsService } from '../../handlers/payments/index.ts'
import { credentialIdentity } from '../../handlers/payments/providerProof.ts'
import { createLog, requestLogger, secretNames } from '../../handlers/log.ts'
import bundle from '../../generated/payments.json' with { type: 'json' }
import type { Service } from '../../handlers/service.ts'
import { startBoss } from '../../jobs/boss.ts'
import type { Boss } from '../../jobs/boss.ts'
import { creationSettings } from '../../jobs/creationSettings.ts'
import type { CreationSettings } from '../../jobs/chargeCreation.ts'
import { hostedPages } from '../../pages/hostedPages.ts'
import { startSimulator } from '../../providers/simulator/server.ts'
import type { RunningSimulator } from '../../providers/simulator/server.ts'
import { callerOf } from './call.ts'
import type { Caller } from './call.ts'
import { testClock } from './clock.ts'
import type { TestClock } from './clock.ts'
import { givenIn } from './given.ts'
import type { Given } from './given.ts'
import { testIssuer } from './issuer.ts'
import type { TestIssuer } from './issuer.ts'
import { settlingIn } from './settled.ts'
import type { Settled } from './settled.ts'
import { simulatorControl } from './simulatorControl.ts'
import type { SimulatorControl } from './simulatorControl.ts'

export interface PaymentsBench extends Caller {
  url: string
  given: Given
  clock: TestClock
  issuer: TestIssuer
  database: Database
  databaseUrl: string
  simulator: SimulatorControl
  /** Waits until every callback is processed; of `settled(simulator.pay(…))`, the payer's own among them. */
  settled: Settled
  service: Service
  configuration: Configuration
  /** Environment of a process of the service on the same database and simulator. */
  environment: Record<string, string>
  credential: { id: string, secret: string }
  /** What the worker resumes creations with. */
  creation: CreationSettings
  boss: Boss
  /** Lines that the service has logged. */
  logged: string[]
}

export interface BenchOptions {
  /** Settings that differ from those of the bench. */
  settings?: Record<string, string>
  overrides?: Record<string, AnyHandler>
  /** Stands in for the service's database, to show what a broken one makes of a request; or makes it of the bench's own. */
  database?: Database | ((own: Database) => Database)
  /** Changes the database before anybody has a connection to it. */
  prepare?: (databaseUrl: string) => Promise<void>
  /** Stands in for the network between service and provider. */
  toProvider?: typeof fetch
  /** The same in the other direction: what the provider calls back by. */
  fromProvider?: typeof fetch
  /** True once the process was told to end; default: it was not. */
  isDraining?: () => boolean
  /** Stands in for waiting. */
  sleep?: (milliseconds: number) => Promise<void>
  /** Answers of the identity service; null: it cannot be reached. */
  tenant?: ((tenantId: string) => object | null) | null
}

/** Starts the payments service over HTTP on a database of its own, with the provider simulator. Ends with the test file. */
export async function startPayments(options: BenchOptions = {}): Promise<PaymentsBench> {
  const clock = testClock()
  const issuer = await testIssuer(clock)
  const clone = await cloneDatabase(inject('testServer'), 'template_main')
  await options.prepare?.(clone.url)
  const database = connect(clone.url, { max: 10 })
  const port = await freePort()
  const credential = { id: randomUUID(), secret: randomBytes(32).toString('base64url') }
  const apiKey = randomBytes(24).toString('base64url')
  const url = `http://127.0.0.1:${port}`
  const runtime: Runtime = {
    now: () => clock.now(), randomBytes: (size) => randomBytes(size), sleep: options.sleep ?? ((milliseconds) => wait(milliseconds)),
    fetch: outgoing(issuer, options),
  }
  const callbackUrl = `${url}/v1/inbound/psp/simulator/${credential.id}`
  const simulator = await startSimulator({ port: 0, runtime: { ...runtime, fetch: options.fromProvider ?? fetch }, apiKey, callbackSecret: credential.secret, callbackUrl })
  const environment = environmentOf(clone.url, url, issuer, simulator, apiKey, credential, options)
  const configuration = readConfiguration('payments', environment)
  const sealing = sealingKeys(configuration.SEALING_KEYS)
  await database.tx((sql) => putPspCredential(sql, {
    id: credential.id, provider: 'simulator', secret: sealing.seal(Buffer.from(credential.secret), credentialIdentity(credential.id), randomBytes(12)),
  }, clock.now()))
  const logged: string[] = []
  const log = createLog('payments', { LOG_LEVEL: 'debug' }, { write: (line: string) => logged.push(line) })
  const boss = await startBoss(clone.url, { worker: false })
  const standIn = typeof options.database === 'function' ? options.database(database) : options.database
  const service = await paymentsService({
    configuration, boss, database: standIn ?? database, runtime, log, observe: requestLogger(log, secretNames(bundle)),
    isDraining: options.isDraining ?? (() => false), elapsed: () => clock.now().getTime(),
    pages: hostedPages, ...(options.overrides && { overrides: options.overrides }),
  })
  const server = createServer({ keepAliveTimeout: 65_000 }, service.express)
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  afterAll(async () => {
    server.closeAllConnections()
    await Promise.all([new Promise((resolve) => server.close(resolve)), simulator.close()])
    for (const ending of service.endings) await ending()
    await database.end()
    await clone.drop()
  })
  return {
    ...callerOf([{ url, contract: service.contract }]),
    url, clock, issuer, database, boss, service, creation: creationSettings(configuration, database, boss, runtime, (problem) => log.error({ ...problem }, 'provider misconfigured')), configuration, environment, credential, logged, databaseUrl: clone.url,
    given: givenIn(database, clock, issuer), simulator: simulatorControl(simulator.url, apiKey), settled: settlingIn(database),
  }
}

function environmentOf(
  databaseUrl: string, url: string, issuer: TestIssuer, simulator: RunningSimulator, apiKey: string, credential: { id: string, secret: string }, options: BenchOptions,
): Record<string, string> {
  return {
    BAYAR_ENV: 'sandbox', DATABASE_URL: databaseUrl, PAYMENTS_URL: url, TOKEN_ISSUER: issuer.issuer, TOKEN_JWKS_URL: issuer.jwksUrl,
    IDENTITY_URL: 'http://identity.test', IDENTITY_CLIENT_ID: 'payments', IDENTITY_CLIENT_SECRET: randomBytes(24).toString('base64url'),
    SEALING_KEYS: `test:${randomBytes(32).toString('base64')}`, SIMULATOR_URL: simulator.url, SIMULATOR_API_KEY: apiKey,
    SIMULATOR_CREDENTIAL_ID: credential.id, RATE_LIMIT_PER_CALLER: '100000', RATE_LIMIT_PER_ADDRESS: '100000', LOG_LEVEL: 'error', PROVIDER_TIMEOUT_MS: '1000', ...options.settings,
  }
}

/** Outgoing HTTP of the service: the issuer's keys and the identity service answer here, everything else goes out. */
function outgoing(issuer: TestIssuer, { tenant = demoTenant, toProvider = fetch }: BenchOptions): typeof fetch {
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input)
    if (url.href === issuer.jwksUrl) return Response.json(issuer.jwks())
    if (url.hostname !== 'identity.test') return toProvider(input, init)
    if (tenant === null) throw new TypeError('fetch failed')
    if (url.pathname === '/v1/oauth/token') return Response.json({ access_token: 'token', token_type: 'Bearer', expires_in: 600 })
    const found = tenant(url.pathname.split('/').at(-1) ?? '')
    return found ? Response.json(found) : Response.json({ error: 'not_found', message: '', request_id: '' }, { status: 404 })
  }
}

function demoTenant(id: string): object {
  return {
    id, name: 'Toko Contoh', status: 'active', branding: { display_name: 'Toko Contoh', logo_url: null, accent_hex: '#0F766E' }, modules: ['payments'],
  }
}

/** A port that was free a moment ago: the address must be known before the service is composed. */
export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
