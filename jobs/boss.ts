import { PgBoss, type ConstructorOptions, type Queue } from 'pg-boss'
import { DatabaseUnavailable, type Sql, isDatabaseUnavailable } from '../db/sql.ts'

/** A queue to install. `exclusive` keeps one queued or running job per singletonKey, `short` one queued. */
export interface QueueDefinition {
  name: string
  policy?: 'standard' | 'short' | 'exclusive'
  /** Longest run of one job, seconds. Default 120. */
  expireInSeconds?: number
  /** How long done jobs are kept, seconds. Default 4 hours. */
  keepDoneSeconds?: number
}

export interface BossOptions {
  /** True for worker processes: they supervise the queues, api processes only enqueue. */
  worker: boolean
  /** True: queues that are not installed yet are waited for, as a database that is away is. */
  awaitsQueues?: boolean
  /** Errors and warnings of the queue; they never end the process. */
  log?: (problem: Error, level: 'error' | 'warning') => void
}

/** The job queue of one process. It starts while PostgreSQL is away and connects when it is back. */
export interface Boss {
  /** Undefined until the queue was reached for the first time. */
  readonly client: PgBoss | undefined
  /** Resolves when the queue was reached, or `stop` was called. */
  whenReady(): Promise<void>
  /** Tells the log, now and then, that jobs are not added because the queue is not installed. */
  noteAbsence(problem: Error): void
  /** Waits for running jobs, at most `graceMs` (8000): the rest is taken over by other workers. */
  stop(graceMs?: number): Promise<void>
}

export interface EnqueueOptions {
  /** Seconds from now by the database's clock, or a moment. */
  startAfter?: number | Date
  singletonKey?: string
  /** Jobs of one group share the limit `perGroup` of `work`. */
  group?: string
}

/** Counts of one queue: due now, due later, running, failed for good and not yet removed. */
export interface QueueDepth {
  queue: string
  ready: number
  deferred: number
  active: number
  failed: number
}

// The jobs are alarm clocks, the rows they point to are the truth: done ones serve nobody after some hours.
const keepDoneHours = 4
// Removed this often; the queue's own default is once a day.
const removeEverySeconds = 30

const reconnectMs = 500
const absenceEveryMs = 60_000
// While the database is away the queue asks several times a second, each time with the same result.
const sameProblemMs = 10_000

function newClient(url: string, options: BossOptions, change: ConstructorOptions = {}): PgBoss {
  // pg-boss hands what it does not know to its node-pg pool
  const pool = { keepAlive: true, keepAliveInitialDelayMillis: 10_000, query_timeout: 60_000 }
  const client = new PgBoss({
    connectionString: url,
    application_name: options.worker ? 'bayar jobs' : 'bayar enqueue',
    max: options.worker ? 3 : 2,
    connectionTimeoutMillis: 2000,
    migrate: false,
    schedule: false,
    supervise: options.worker,
    // together with the heartbeat of 10 s: a killed worker's job is taken over after about 12 s; each time reads all jobs
    superviseIntervalSeconds: 2,
    monitorIntervalSeconds: 2,
    maintenanceIntervalSeconds: removeEverySeconds,
    ...pool,
    ...change,
  })
  const told = new Map<string, number>()
  // without a listener a restart of PostgreSQL would end the process
  client.on('error', (error) => {
    const problem = asError(error)
    if (performance.now() - (told.get(problem.message) ?? -Infinity) < sameProblemMs) return
    told.set(problem.message, performance.now())
    options.log?.(problem, 'error')
  })
  client.on('warning', (warning) => options.log?.(new Error(warning.message, { cause: warning.data }), 'warning'))
  return client
}

// pg-boss emits plain objects with the fields of an error
function asError(problem: Error): Error {
  return problem instanceof Error ? problem : new Error((problem as Error).message, { cause: problem })
}

/** Installs or updates the schema `pgboss` and the queues; safe to run twice and by two at a time. */
export async function installBoss(url: string, queues: QueueDefinition[]): Promise<void> {
  const problems: Error[] = []
  const options: BossOptions = { worker: false, log: (error, level) => level === 'error' && problems.push(error) }
  const client = newClient(url, options, { migrate: true, max: 1, connectionTimeoutMillis: 10_000 })
  try {
    await client.start()
    for (const { name, policy = 'standard', expireInSeconds = 120, keepDoneSeconds = keepDoneHours * 3600 } of queues) {
      const settings: Omit<Queue, 'name' | 'policy'> = {
        expireInSeconds,
        heartbeatSeconds: 10,
        deleteAfterSeconds: keepDoneSeconds,
        // a job whose worker was killed counts as a try
        retryLimit: 5,
        retryDelay: 1,
        retryBackoff: true,
        retryDelayMax: 60,
      }
      const present = await client.getQueue(name)
      if (present && present.policy !== policy) throw new Error(`queue ${name} exists with policy ${present.policy}`)
      if (present) await client.updateQueue(name, settings)
      else await client.createQueue(name, { ...settings, policy })
    }
  } finally {
    await client.stop({ graceful: false })
  }
  if (problems[0]) throw problems[0]
}

/**
 * Starts the queue of a process with its own 2 to 3 connections. While PostgreSQL is away it resolves all the same
 * and keeps trying; it throws when PostgreSQL answers but the queues are not installed (`make migrate`), unless told
 * to wait for them.
 */
export async function startBoss(url: string, options: BossOptions): Promise<Boss> {
  let client: PgBoss | undefined
  let stopped = false
  let timer: NodeJS.Timeout | undefined
  const ready = Promise.withResolvers<void>()
  let absenceNoted = -Infinity

  const attempt = async (): Promise<void> => {
    const candidate = newClient(url, options)
    try {
      await candidate.start()
      // start() swallows a failure to fill its table of queues; every enqueue would fail for a minute
      const [queue] = await candidate.getQueues()
      if (!queue) throw new Error('it has no queues')
      await candidate.findJobs(queue.name, { id: '00000000-0000-0000-0000-000000000000' })
    } catch (error) {
      await candidate.stop({ graceful: false }).catch(() => undefined)
      throw error
    }
    if (stopped) return candidate.stop({ graceful: false })
    client = candidate
    ready.resolve()
  }

  const keepTrying = (): void => {
    if (stopped) return
    timer = setTimeout(() => {
      attempt().catch((error: unknown) => {
        options.log?.(error instanceof Error ? error : new Error(String(error)), 'error')
        keepTrying()
      })
    }, reconnectMs)
  }

  try {
    await attempt()
  } catch (error) {
    if (!isDatabaseUnavailable(error) && !options.awaitsQueues) {
      throw new Error(`the job queue cannot start (${String(error)}): run make migrate`, { cause: error })
    }
    keepTrying()
  }

  return {
    get client() {
      return client
    },
    whenReady: () => ready.promise,
    noteAbsence(problem) {
      if (performance.now() - absenceNoted < absenceEveryMs) return
      absenceNoted = performance.now()
      options.log?.(new Error('the job queue is not installed: run make migrate', { cause: problem }), 'warning')
    },
    stop: async (graceMs = 8000) => {
      stopped = true
      clearTimeout(timer)
      ready.resolve()
      await client?.stop({ graceful: true, timeout: graceMs })
    },
  }
}

// SQLSTATEs of something that is not there: schema, table, function, type, column.
const absent = new Set(['3F000', '42P01', '42883', '42704', '42703'])

function isAbsent(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && absent.has(String(error.code))
}

// `prepare` halves the requests: without it the driver asks for a description each time. Without the savepoint a queue that
// is not there would end the transaction.
const within = (sql: Sql) => ({
  executeSql: async (text: string, values?: unknown[]) => ({
    rows: [...(await sql.savepoint((inner) => inner.unsafe(text, values ?? [], values && values.length > 0 ? { prepare: true } : {})))],
  }),
})

/** Adds nothing while the queue is away or not installed: the rows are the truth, and what they ask for is found by the sweeps. */
async function unlessAbsent<Result>(boss: Boss, add: (client: PgBoss) => Promise<Result>): Promise<Result | null> {
  if (!boss.client) return null
  try {
    return await add(boss.client)
  } catch (error) {
    if (!isAbsent(error)) throw error
    boss.noteAbsence(error)
    return null
  }
}

const settingsOf = ({ startAfter, singletonKey, group }: EnqueueOptions) => ({
  ...(startAfter === undefined ? {} : { startAfter }),
  ...(singletonKey === undefined ? {} : { singletonKey }),
  ...(group === undefined ? {} : { group: { id: group } }),
})

/**
 * Adds a job in the caller's transaction: it exists when that commits and not before. Returns the job's id, null when
 * the queue's policy found one with this singletonKey already, or the queue is not there: a job is an alarm clock, and
 * its absence fails no transaction. One statement, under a savepoint.
 */
export function enqueueTx(
  sql: Sql, boss: Boss, queue: string, data: object, options: EnqueueOptions = {},
): Promise<string | null> {
  return unlessAbsent(boss, (client) => client.send(queue, data, { ...settingsOf(options), db: within(sql) }))
}

/** Adds many jobs of one queue in the caller's transaction with one statement, as `enqueueTx` does; keys that exist are left out. */
export async function enqueueAllTx(
  sql: Sql, boss: Boss, queue: string, jobs: (EnqueueOptions & { data: object })[],
): Promise<void> {
  if (jobs.length === 0) return
  const entries = jobs.map(({ data, ...options }) => ({ data, ...settingsOf(options) }))
  await unlessAbsent(boss, (client) => client.insert(queue, entries, { db: within(sql) }))
}

/** Counts of every queue, for metrics; at most a minute old when no worker runs, else a second. */
export async function queueDepths(boss: Boss): Promise<QueueDepth[]> {
  const { client } = boss
  if (!client) throw new DatabaseUnavailable('connect')
  const queues = await client.getQueues()
  return Promise.all(
    queues.map(async ({ name }) => {
      const [stats] = await client.getQueueStats(name, { force: true })
      return {
        queue: name,
        ready: stats?.readyCount ?? 0,
        deferred: stats?.deferredCount ?? 0,
        active: stats?.activeCount ?? 0,
        failed: stats?.failedCount ?? 0,
      }
    }),
  )
}
