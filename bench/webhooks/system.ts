import { randomBytes, randomUUID } from 'node:crypto'
import { startServiceProcess } from '../../contract-tests/harness/serviceProcess.ts'
import type { ServiceProcess } from '../../contract-tests/harness/serviceProcess.ts'
import { ensureDatabase, migrate } from '../../db/migrate.ts'
import { connect } from '../../db/sql.ts'
import type { Database } from '../../db/sql.ts'
import { sealingKeys } from '../../domain/sealing.ts'
import type { SealingKeys } from '../../domain/sealing.ts'
import { startBoss } from '../../jobs/boss.ts'
import type { Boss } from '../../jobs/boss.ts'
import { installQueues } from '../../jobs/queues.ts'
import { startPostgres } from '../../run/embeddedPostgres.ts'
import { startReceiverProcess } from './receiver.ts'
import type { ReceiverProcess } from './receiver.ts'

/** PostgreSQL as it is shipped, a receiver in a process of its own, and what starts workers on them. */
export interface DeliverySystem {
  database: Database
  boss: Boss
  sealing: SealingKeys
  receiver: ReceiverProcess
  startWorker(): Promise<ServiceProcess>
  postgresPid: number
  serverVersion: string
  stop(): Promise<void>
}

export async function startDeliverySystem(directory: string): Promise<DeliverySystem> {
  const postgres = await startPostgres({ directory: `${directory}/postgres`, persistent: false })
  process.once('exit', () => postgres.killNow())
  const url = postgres.url('deliveries')
  await ensureDatabase(postgres.url('postgres'), 'deliveries')
  await migrate(url, 'main', { afterwards: installQueues })
  const keys = `bench:${randomBytes(32).toString('base64')}`
  const receiver = await startReceiverProcess(directory)
  const database = connect(url, { max: 16, limitMs: 60_000, applicationName: 'bayar bench' })
  const boss = await startBoss(url, { worker: false })
  const [version] = await database.query((sql) => sql<{ number: string }[]>`select current_setting('server_version') as number`)
  const environment = {
    BAYAR_ENV: 'sandbox', DATABASE_URL: url, SEALING_KEYS: keys, SIMULATOR_URL: 'http://127.0.0.1:9', SIMULATOR_API_KEY: randomBytes(24).toString('base64url'),
    SIMULATOR_CREDENTIAL_ID: randomUUID(), LOG_LEVEL: 'error', ...receiver.environment,
  }
  return {
    database, boss, receiver, sealing: sealingKeys(keys), postgresPid: postgres.pid, serverVersion: version?.number ?? 'unknown',
    startWorker: () => startServiceProcess('worker', environment),
    async stop() {
      receiver.stop()
      await boss.stop(100)
      await database.end()
      await postgres.stop('immediate')
    },
  }
}
