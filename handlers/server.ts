import { createServer } from 'node:http'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { awaitMigrated } from '../db/awaitMigrated.ts'
import { connect } from '../db/sql.ts'
import { readConfiguration } from '../domain/configuration.ts'
import type { Configuration } from '../domain/configuration.ts'
import { systemRuntime } from '../domain/runtime.ts'
import { hostedPages } from '../pages/hostedPages.ts'
import { createLog, requestLogger, secretNames } from './log.ts'
import { createMetrics, serveMetrics } from './metrics.ts'
import type { Service, ServiceParts } from './service.ts'

const names = ['payments', 'storefront', 'identity'] as const
type ServiceName = typeof names[number]

const services: Record<ServiceName, () => Promise<(parts: ServiceParts) => Promise<Service>>> = {
  payments: async () => (await import('./payments/index.ts')).paymentsService,
  storefront: async () => (await import('./storefront/index.ts')).storefrontService,
  identity: async () => (await import('./identity/index.ts')).identityService,
}

const drainMs = 9000
const headersTimeoutMs = 10_000
const requestTimeoutMs = 30_000
const keepAliveMs = 65_000

/** Runs one service until it is told to end: `node handlers/server.ts payments`. */
async function main(): Promise<void> {
  const name = names.find((candidate) => candidate === process.argv[2])
  if (!name) throw new Error(`say which service to run: ${names.join(', ')}`)
  const configuration = readConfiguration(name, process.env)
  const log = createLog(name, configuration)
  const database = connect(databaseUrl(name, configuration), { max: configuration.DATABASE_CONNECTIONS, applicationName: `bayar ${name}` })
  const metrics = createMetrics(name, () => database.stats())
  let draining = false
  const compose = await services[name]()
  const logged: { request?: ReturnType<typeof requestLogger> } = {}
  const service = await compose({
    configuration, database, log, runtime: systemRuntime, isDraining: () => draining, pages: hostedPages, observeCallback: metrics.observeCallback,
    observe(observation) {
      metrics.observe(observation)
      logged.request?.(observation)
    },
  })
  logged.request = requestLogger(log, secretNames(service.contract.api.inputDocument))
  await awaitMigrated(database, name === 'identity' ? 'identity' : 'main', systemRuntime.sleep, (reason) => {
    log.warn({ reason: reason.message }, 'waiting for the database')
  })
  const server = createServer({ keepAliveTimeout: keepAliveMs, headersTimeout: headersTimeoutMs, requestTimeout: requestTimeoutMs }, service.express)
  const port = await listen(server, portOf(name, configuration), configuration)
  const metricsServer = configuration.METRICS_PORT > 0 ? await serveMetrics(metrics, configuration.METRICS_PORT) : null
  log.info({ port }, 'ready')
  process.send?.({ ready: true, port })
  const end = (signal: string): void => {
    if (draining) return
    draining = true
    log.info({ signal }, 'draining')
    metricsServer?.close()
    void drain(server, configuration.DRAIN_DELAY_MS).then(() => ended(service)).then(() => database.end()).then(() => process.exit(0))
  }
  process.once('SIGTERM', () => end('SIGTERM'))
  process.once('SIGINT', () => end('SIGINT'))
  // Without its supervisor nobody would restart or stop this process.
  process.once('disconnect', () => end('disconnect'))
}

/** What the service holds is written, or given up, before the database is closed. */
async function ended(service: Service): Promise<void> {
  for (const ending of service.endings) await ending()
}

function databaseUrl(name: ServiceName, { DATABASE_URL, IDENTITY_DATABASE_URL }: Configuration): string {
  return name === 'identity' ? IDENTITY_DATABASE_URL : DATABASE_URL
}

function portOf(name: ServiceName, { PAYMENTS_PORT, STOREFRONT_PORT, IDENTITY_PORT }: Configuration): number {
  return { payments: PAYMENTS_PORT, storefront: STOREFRONT_PORT, identity: IDENTITY_PORT }[name]
}

async function listen(server: Server, port: number, { HOST: host, SHARE_PORT }: Configuration): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') reject(new Error(`port ${port} is taken: choose another one by the _PORT variables`))
      else if (error.code === 'ENOTSUP') reject(new Error('SHARE_PORT is on, but this system cannot share a port: start one copy', { cause: error }))
      else reject(error)
    })
    server.listen({ port, host, reusePort: SHARE_PORT === 'on' }, resolve)
  })
  return (server.address() as AddressInfo).port
}

/**
 * Ends within 10 s (decision 9.3). For `delayMs` everything is answered as before, save that readiness is not given and
 * each answer ends its connection: so balancers and callers with a connection to keep go elsewhere, and nobody's request
 * meets a closed one. Then it takes no new connections, ends idle ones, and lets requests at work finish.
 */
async function drain(server: Server, delayMs: number): Promise<void> {
  server.prependListener('request', (_, response) => response.setHeader('Connection', 'close'))
  await systemRuntime.sleep(delayMs)
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeIdleConnections()
  const sweep = setInterval(() => server.closeIdleConnections(), 50)
  await Promise.race([closed, systemRuntime.sleep(drainMs - delayMs)])
  clearInterval(sweep)
  server.closeAllConnections()
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exit(1)
})
