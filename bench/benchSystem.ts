import { randomBytes, randomUUID } from 'node:crypto'
import { startServiceProcess } from '../contract-tests/harness/serviceProcess.ts'
import type { ServiceProcess } from '../contract-tests/harness/serviceProcess.ts'
import { ensureDatabase, migrate } from '../db/migrate.ts'
import { connect } from '../db/sql.ts'
import type { Database } from '../db/sql.ts'
import { systemRuntime } from '../domain/runtime.ts'
import { sealingKeys } from '../domain/sealing.ts'
import type { SealingKeys } from '../domain/sealing.ts'
import { installQueues } from '../jobs/queues.ts'
import { startPostgres } from '../run/embeddedPostgres.ts'
import { seedPayments } from '../run/seedPayments.ts'
import type { Owner } from './webhooks/events.ts'

/** PostgreSQL as it is shipped, one merchant, the simulator in a process of its own, and what starts a payments process on them. */
export interface BenchSystem {
  apiKey: string
  merchant: Owner
  /** Another merchant, in a tenant of its own. */
  addMerchant(): Promise<{ apiKey: string, merchant: Owner }>
  sealing: SealingKeys
  /** Address of the database. Contains the password. */
  databaseUrl: string
  postgresPid: number
  /** Opens the database as the driver alone would be used. */
  connect(): Database
  serverVersion: string
  startPayments(more?: Record<string, string>): Promise<ServiceProcess>
  startWorker(more?: Record<string, string>): Promise<ServiceProcess>
  stop(): Promise<void>
}

export const benchConnections = 16

export async function startBenchSystem(directory: string): Promise<BenchSystem> {
  const postgres = await startPostgres({ directory: `${directory}/postgres`, persistent: false })
  process.once('exit', () => postgres.killNow())
  const url = postgres.url('bench')
  await ensureDatabase(postgres.url('postgres'), 'bench')
  await migrate(url, 'main', { afterwards: installQueues })
  const open = () => connect(url, { max: benchConnections, limitMs: 60_000, applicationName: 'bayar bench' })
  const database = open()
  const credential = { id: randomUUID(), secret: randomBytes(32).toString('base64url') }
  const simulatorKey = randomBytes(24).toString('base64url')
  const simulator = await startServiceProcess('simulator', {
    SIMULATOR_API_KEY: simulatorKey, SIMULATOR_CREDENTIAL_ID: credential.id, SIMULATOR_CALLBACK_SECRET: credential.secret,
    // Nothing is paid here, so nothing is called back.
    SIMULATOR_CALLBACK_URL: 'http://127.0.0.1:9/',
  })
  const sealing = `bench:${randomBytes(32).toString('base64')}`
  const addMerchant = async (into: Database) => {
    const tenantId = randomUUID()
    const { apiKey, merchantId } = await into.tx((sql) => seedPayments(sql, {
      tenantId, createdBy: 'user:bench', merchantId: randomUUID(), apiKey: null, credential, sealing: sealingKeys(sealing), runtime: systemRuntime,
    }))
    return { apiKey, merchant: { tenantId, merchantId } }
  }
  const { apiKey, merchant } = await addMerchant(database)
  const [version] = await database.query((sql) => sql<{ number: string }[]>`select current_setting('server_version') as number`)
  await database.end()
  if (!version) throw new Error('the bench was not seeded')
  const environment = {
    BAYAR_ENV: 'sandbox', DATABASE_URL: url, SEALING_KEYS: sealing, SIMULATOR_URL: simulator.url, SIMULATOR_API_KEY: simulatorKey,
    SIMULATOR_CREDENTIAL_ID: credential.id, IDENTITY_CLIENT_ID: 'payments', IDENTITY_CLIENT_SECRET: randomBytes(24).toString('base64url'),
    RATE_LIMIT_PER_CALLER: '1000000', RATE_LIMIT_PER_ADDRESS: '1000000', LOG_LEVEL: 'error',
    // As in production; the sandbox checks its answers besides.
    BAYAR_CHECK_RESPONSES: 'off',
  }
  return {
    apiKey, merchant, sealing: sealingKeys(sealing), databaseUrl: url, postgresPid: postgres.pid, connect: open,
    serverVersion: version.number,
    async addMerchant() {
      const opened = open()
      return addMerchant(opened).finally(() => opened.end())
    },
    startPayments: (more = {}) => startServiceProcess('payments', { ...environment, ...more }),
    startWorker: (more = {}) => startServiceProcess('worker', { ...environment, ...more }),
    async stop() {
      await simulator.kill()
      await postgres.stop('immediate')
    },
  }
}
