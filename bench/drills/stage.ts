import { randomBytes, randomUUID } from 'node:crypto'
import { mkdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo, Server } from 'node:net'
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
  workers: readonly StagedProcess[]
  merchants: readonly StagedMerchant[]
  simulator: SimulatorControl
  /** Signs the simulator's callbacks. */
  callbacks: { url: string, secret: string }
  /** The setting that stored secrets are sealed under. */
  sealingKeys: string
  /** Aborted once the stage is being closed: a load that was not ended, as when a drill was broken off, ends by it. */
  closing: AbortSignal
  /** Ends everything and removes what was written, or keeps the logs and says where. */
  close(keepLogs: boolean): Promise<string | null>
}

export interface StageOptions {
  /** Default 1. */
  workers?: number
  /** Settings of every process besides its own, once the folder for their files and the database's address are there. */
  environment?: (directory: string, databaseUrl: string) => Promise<Record<string, string>>
  /** Address that callers and providers use, when it is not that of the first payments process. */
  frontUrl?: string
}

const merchantCount = 4
const copies = 2
const database = 'drill'

/** Starts PostgreSQL, the simulator, two payments processes and workers, over four merchants. */
export async function openStage(
  say: (line: string) => void, { workers: workerCount = 1, environment = () => Promise.resolve({}), frontUrl }: StageOptions = {},
): Promise<Stage> {
  const directory = join(tmpdir(), `bayar-drill-${randomBytes(6).toString('hex')}`)
  mkdirSync(join(directory, 'log'), { recursive: true })
  const postgres = await startPostgres({ directory: join(directory, 'postgres'), persistent: false })
  const processes: StagedProcess[] = []
  const closing = new AbortController()
  const killNow = (): void => {
    for (const { child } of processes) child.killNow()
    postgres.killNow()
  }
  process.once('exit', killNow)
  // PostgreSQL last: what drains needs it until then.
  const end = async (): Promise<void> => {
    await Promise.all(processes.map(({ child }) => child.stop()))
    await postgres.stop('immediate')
    process.off('exit', killNow)
  }
  try {
    const parts = await prepare(postgres, directory, await environment(directory, postgres.url(database)), frontUrl)
    const start = (name: string, file: string, given: readonly string[], url: string): StagedProcess => {
      const started = startProcess(name, file, given, url, parts, directory, say)
      processes.push(started)
      return started
    }
    start('simulator', 'providers/simulator/server.ts', [], parts.simulatorUrl)
    const payments = parts.paymentsUrls.map((url, at) =>
      start(`payments ${at + 1}`, 'handlers/server.ts', ['payments'], url))
    const workers = Array.from({ length: workerCount }, (_, at) => start(at === 0 ? 'worker' : `worker ${at + 1}`, 'jobs/main.ts', [], ''))
    await inTime(Promise.all(processes.map(({ child }) => child.ready)))
    return {
      postgres, payments, workers, databaseUrl: parts.databaseUrl, merchants: parts.merchants, sealingKeys: parts.sealingKeys,
      simulator: simulatorControl(parts.simulatorUrl, parts.simulatorKey),
      callbacks: { url: parts.callbackUrl, secret: parts.credential.secret },
      closing: closing.signal,
      close: async (keepLogs) => {
        closing.abort()
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

interface Parts {
  databaseUrl: string
  paymentsUrls: readonly string[]
  simulatorUrl: string
  callbackUrl: string
  merchants: readonly StagedMerchant[]
  credential: { id: string, secret: string }
  sealingKeys: string
  simulatorKey: string
}

/** The migrated database with its merchants, and what every process is told. */
async function prepare(
  postgres: EmbeddedPostgres, directory: string, more: Record<string, string>, frontUrl: string | undefined,
): Promise<Parts & { environment: Environment }> {
  const databaseUrl = postgres.url(database)
  await ensureDatabase(postgres.url('postgres'), database)
  await migrate(databaseUrl, 'main', { afterwards: installQueues })
  const [simulatorUrl = '', ...paymentsUrls] = (await freePorts(copies + 1)).map((port) => `http://127.0.0.1:${port}`)
  const credential = { id: randomUUID(), secret: randomBytes(32).toString('base64url') }
  const parts = {
    databaseUrl, simulatorUrl, paymentsUrls, credential, sealingKeys: `drill:${randomBytes(32).toString('base64')}`,
    simulatorKey: randomBytes(24).toString('base64url'),
    callbackUrl: `${frontUrl ?? paymentsUrls[0]}/v1/inbound/psp/simulator/${credential.id}`,
  }
  const environment = {
    PATH: process.env.PATH, NODE_COMPILE_CACHE: join(directory, 'compiled'), BAYAR_ENV: 'sandbox',
    DATABASE_URL: databaseUrl, PAYMENTS_URL: frontUrl ?? paymentsUrls[0], SEALING_KEYS: parts.sealingKeys,
    SIMULATOR_URL: simulatorUrl, SIMULATOR_PORT: new URL(simulatorUrl).port, SIMULATOR_API_KEY: parts.simulatorKey,
    SIMULATOR_CREDENTIAL_ID: credential.id, SIMULATOR_CALLBACK_SECRET: credential.secret,
    SIMULATOR_CALLBACK_URL: parts.callbackUrl, IDENTITY_CLIENT_ID: 'payments',
    IDENTITY_CLIENT_SECRET: randomBytes(24).toString('base64url'),
    RATE_LIMIT_PER_CALLER: '1000000', RATE_LIMIT_PER_ADDRESS: '1000000', LOG_LEVEL: 'error', DRAIN_DELAY_MS: '0',
    ...more,
  }
  return { ...parts, environment, merchants: await seed(databaseUrl, parts) }
}

type Environment = Readonly<Record<string, string | undefined>>

function startProcess(
  name: string, file: string, given: readonly string[], url: string, { environment }: { environment: Environment },
  directory: string, say: (line: string) => void,
): StagedProcess {
  let ends = 0
  const child = supervise({
    name, arguments: given, logFile: join(directory, 'log', `${name.replace(' ', '-')}.log`),
    entry: fileURLToPath(new URL(`../../${file}`, import.meta.url)),
    environment: { ...environment, ...(name.startsWith('payments') && { PAYMENTS_PORT: new URL(url).port }) },
  }, {
    say: (line) => {
      ends += 1
      say(line)
    },
    gaveUp: (_, message) => say(`${name} does not start: ${message}`),
  })
  return { url, child, ends: () => ends }
}

async function seed(
  databaseUrl: string, { credential, sealingKeys: keys }: Pick<Parts, 'credential' | 'sealingKeys'>,
): Promise<StagedMerchant[]> {
  const seeding = connect(databaseUrl, { max: 1 })
  const sealing = sealingKeys(keys)
  try {
    const merchants: StagedMerchant[] = []
    for (let at = 0; at < merchantCount; at += 1) {
      const tenantId = randomUUID()
      const { merchantId, apiKey } = await seeding.tx((sql) => seedPayments(sql, {
        tenantId, createdBy: 'user:drill', merchantId: randomUUID(), apiKey: null, credential, sealing,
        runtime: systemRuntime,
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
    const message = `the processes are not ready after ${startLimitMs / 1000} s`
    timer = setTimeout(() => reject(new Error(message)), startLimitMs)
  })
  const started = await Promise.race([ready, late]).finally(() => clearTimeout(timer))
  if (started.includes(false)) throw new Error('a process does not start')
}

/** Ports that are free now, all held until the last one is chosen. */
async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(Array.from({ length: count }, openServer))
  const ports = servers.map((server) => (server.address() as AddressInfo).port)
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return ports
}

function openServer(): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => resolve(server))
  })
}
