import { randomBytes, randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { simulatorControl } from '../../contract-tests/harness/simulatorControl.ts'
import type { SimulatorControl } from '../../contract-tests/harness/simulatorControl.ts'
import { ensureDatabase, migrate } from '../../db/migrate.ts'
import { connect } from '../../db/sql.ts'
import { systemRuntime } from '../../domain/runtime.ts'
import { sealingKeys } from '../../domain/sealing.ts'
import { installQueues } from '../../jobs/queues.ts'
import { startPostgres } from '../../run/embeddedPostgres.ts'
import type { EmbeddedPostgres } from '../../run/embeddedPostgres.ts'
import { seedPayments } from '../../run/seedPayments.ts'
import { supervise } from '../../run/supervisor.ts'
import type { SupervisedChild } from '../../run/supervisor.ts'

export interface StagedMerchant {
  id: string
  tenantId: string
  apiKey: string
}

export interface StagedProcess {
  url: string
  child: SupervisedChild
  /** Times it ended, whatever for. */
  ends(): number
}

/** The system a drill disturbs: real processes on a PostgreSQL of its own that writes its log to disk. */
export interface Stage {
  postgres: EmbeddedPostgres
  databaseUrl: string
  payments: readonly StagedProcess[]
  worker: StagedProcess
  merchants: readonly StagedMerchant[]
  simulator: SimulatorControl
  /** Signs the simulator's callbacks. */
  callbacks: { url: string, secret: string }
  /** Lines of the payments services' logs with this text in them. */
  logged(text: string): string[]
  /** Ends everything and removes what was written, or keeps the logs and says where. */
  close(keepLogs: boolean): Promise<string | null>
}

const merchantCount = 4
const copies = 2
const database = 'drill'

/** Starts PostgreSQL, the simulator, two payments processes and a worker, over four merchants. */
export async function openStage(say: (line: string) => void): Promise<Stage> {
  const directory = join(tmpdir(), `bayar-drill-${randomBytes(6).toString('hex')}`)
  mkdirSync(join(directory, 'log'), { recursive: true })
  const postgres = await startPostgres({ directory: join(directory, 'postgres'), persistent: false })
  const children: SupervisedChild[] = []
  const killNow = (): void => {
    for (const child of children) child.killNow()
    postgres.killNow()
  }
  process.once('exit', killNow)
  // PostgreSQL last: what drains needs it until then.
  const end = async (): Promise<void> => {
    await Promise.all(children.map((child) => child.stop()))
    await postgres.stop('immediate')
    process.off('exit', killNow)
  }
  try {
    const databaseUrl = postgres.url(database)
    await ensureDatabase(postgres.url('postgres'), database)
    await migrate(databaseUrl, 'main', { afterwards: installQueues })
    const [first = 0, second = 0, simulatorPort = 0] = await freePorts(copies + 1)
    const address = (port: number): string => `http://127.0.0.1:${port}`
    const secrets = {
      credential: { id: randomUUID(), secret: randomBytes(32).toString('base64url') },
      sealingKeys: `drill:${randomBytes(32).toString('base64')}`, simulatorKey: randomBytes(24).toString('base64url'),
    }
    const callbackUrl = `${address(first)}/v1/inbound/psp/simulator/${secrets.credential.id}`
    const merchants = await seed(databaseUrl, secrets)
    const environment = {
      PATH: process.env.PATH, NODE_COMPILE_CACHE: join(directory, 'compiled'), BAYAR_ENV: 'sandbox', DATABASE_URL: databaseUrl,
      PAYMENTS_URL: address(first), SEALING_KEYS: secrets.sealingKeys, SIMULATOR_URL: address(simulatorPort),
      SIMULATOR_PORT: String(simulatorPort), SIMULATOR_API_KEY: secrets.simulatorKey, SIMULATOR_CREDENTIAL_ID: secrets.credential.id,
      IDENTITY_CLIENT_ID: 'payments', IDENTITY_CLIENT_SECRET: randomBytes(24).toString('base64url'),
      RATE_LIMIT_PER_CALLER: '1000000', RATE_LIMIT_PER_ADDRESS: '1000000', LOG_LEVEL: 'error',
    }
    const staged = (name: string, file: string, given: readonly string[], more: Record<string, string>, url: string): StagedProcess => {
      let ends = 0
      const logFile = join(directory, 'log', `${name.replace(' ', '-')}.log`)
      const entry = fileURLToPath(new URL(`../../${file}`, import.meta.url))
      const child = supervise({ name, entry, arguments: given, environment: { ...environment, ...more }, logFile }, {
        say: (line) => {
          ends += 1
          say(line)
        },
        gaveUp: (_, message) => say(`${name} does not start: ${message}`),
      })
      children.push(child)
      return { url, child, ends: () => ends }
    }
    const simulator = staged('simulator', 'providers/simulator/server.ts', [], {
      SIMULATOR_CALLBACK_SECRET: secrets.credential.secret, SIMULATOR_CALLBACK_URL: callbackUrl,
    }, address(simulatorPort))
    const payments = [first, second].map((port, at) =>
      staged(`payments ${at + 1}`, 'handlers/server.ts', ['payments'], { PAYMENTS_PORT: String(port) }, address(port)))
    const worker = staged('worker', 'jobs/main.ts', [], {}, '')
    await inTime(Promise.all([simulator, worker, ...payments].map(({ child }) => child.ready)))
    return {
      postgres, databaseUrl, payments, worker, merchants,
      simulator: simulatorControl(simulator.url, secrets.simulatorKey),
      callbacks: { url: callbackUrl, secret: secrets.credential.secret },
      logged: (text) => payments.flatMap((_, at) => readFileSync(join(directory, 'log', `payments-${at + 1}.log`), 'utf8').split('\n'))
        .filter((line) => line.includes(text)),
      close: async (keepLogs) => {
        await end()
        rmSync(keepLogs ? join(directory, 'compiled') : directory, { recursive: true, force: true })
        return keepLogs ? join(directory, 'log') : null
      },
    }
  } catch (error) {
    await end()
    throw error
  }
}

async function seed(
  databaseUrl: string, { credential, sealingKeys: keys }: { credential: { id: string, secret: string }, sealingKeys: string },
): Promise<StagedMerchant[]> {
  const seeding = connect(databaseUrl, { max: 1 })
  try {
    const merchants: StagedMerchant[] = []
    for (let at = 0; at < merchantCount; at += 1) {
      const tenantId = randomUUID()
      const { merchantId, apiKey } = await seeding.tx((sql) => seedPayments(sql, {
        tenantId, createdBy: 'user:drill', merchantId: randomUUID(), apiKey: null, credential, sealing: sealingKeys(keys), runtime: systemRuntime,
      }))
      merchants.push({ id: merchantId, tenantId, apiKey })
    }
    return merchants
  } finally {
    await seeding.end()
  }
}

const startLimitMs = 20_000

async function inTime(ready: Promise<boolean[]>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`the processes are not ready after ${startLimitMs / 1000} s`)), startLimitMs)
  })
  const started = await Promise.race([ready, late]).finally(() => clearTimeout(timer))
  if (started.includes(false)) throw new Error('a process does not start')
}

/** Ports that are free now, all held until the last one is chosen. */
async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(Array.from({ length: count }, () => new Promise<ReturnType<typeof createServer>>((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => resolve(server))
  })))
  const ports = servers.map((server) => (server.address() as AddressInfo).port)
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return ports
}
