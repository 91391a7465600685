import postgres from 'postgres'
import { columnTypes } from './columnTypes.ts'
import { assertPatchedDriver } from './driverCheck.ts'
import { DatabaseUnavailable, isDatabaseUnavailable, unavailableReason } from './unavailable.ts'

export { assertPatchedDriver } from './driverCheck.ts'
export { DatabaseUnavailable, constraintOf, isDatabaseUnavailable } from './unavailable.ts'
export type { UnavailableReason } from './unavailable.ts'

type Driver = postgres.Sql
type Part = postgres.Helper<never, never[]>
type Value = postgres.ParameterOrFragment<never> | readonly unknown[] | Part

/** A statement on its way: await it for its rows, or put it into another statement as a fragment. */
export type Statement<Rows extends readonly (object | undefined)[]> = postgres.PendingQuery<Rows>

/**
 * Has a statement planned for its own values each time. For statements of many shapes, whose plan depends on what is
 * asked for: kept plans would be as many as shapes, for as long as the connection lives, and no better than a guess.
 */
export function withFreshPlan<Rows extends readonly (object | undefined)[]>(statement: Statement<Rows>): Statement<Rows> {
  (statement as unknown as { options: { prepare?: boolean } }).options.prepare = false
  return statement
}

/** Any row, for statements whose caller names no type. */
export type Row = postgres.Row

/** One tagged-template statement runner, bound to one connection inside `tx` and `readTx`. */
export interface Sql {
  <Rows extends readonly (object | undefined)[] = Row[]>(
    template: TemplateStringsArray, ...values: readonly Value[]
  ): Statement<Rows>
  /** An identifier, or the list, row, rows or columns of a clause, as postgres.js defines it. */
  (first: string | readonly unknown[] | object, ...rest: readonly (string | readonly string[])[]): Part
  /** Statement text with $1 parameters, as the job queue hands it over. Never with text from a request. */
  unsafe<Rows extends readonly (object | undefined)[] = Row[]>(
    text: string, values?: readonly unknown[], options?: { prepare?: boolean },
  ): Statement<Rows>
  /** A jsonb parameter. A string is taken as JSON already written. */
  json(value: unknown): postgres.Parameter
  /** Inside `tx` only: what `work` throws undoes what `work` did, and the transaction can go on. */
  savepoint<T>(work: (sql: Sql) => Promise<T>): Promise<T>
}

export interface Database {
  /** Runs statements without a transaction. */
  query<T>(work: (sql: Sql) => Promise<T>): Promise<T>
  /** Runs `work` in one transaction (read committed); what `work` throws rolls back. */
  tx<T>(work: (sql: Sql) => Promise<T>): Promise<T>
  /** Runs `work` in one read-only transaction. */
  readTx<T>(work: (sql: Sql) => Promise<T>): Promise<T>
  stats(): DatabaseStats
  /** Refuses new work and closes the connections, those still at work after `graceMs` (5000) included. */
  end(graceMs?: number): Promise<void>
}

export interface DatabaseStats {
  max: number
  busy: number
  waiting: number
  poolsReplaced: number
}

export interface DatabaseOptions {
  /** Most works at a time, each with its own connection. Default 10. */
  max?: number
  /** Longest wait for a free place, milliseconds; then `busy`. Default 1000. */
  waitMs?: number
  /** Longest work, milliseconds; then `deadline`. The server's own limits are shorter. Default 2000. */
  limitMs?: number
  applicationName?: string
}

interface Place {
  grant: () => void
  refuse: (error: Error) => void
  timer: NodeJS.Timeout
}

/**
 * Opens a database (decision 9.3). At most `max` works are inside the driver at a time, so nothing queues where
 * no deadline sees it. A work over its limit costs the pool, because its connection may be silent for good; the
 * server ends slow statements before that. Every failure to reach the database rejects with DatabaseUnavailable.
 */
export function connect(url: string, options: DatabaseOptions = {}): Database {
  assertPatchedDriver()
  const { max = 10, waitMs = 1000, limitMs = 2000, applicationName = 'bayar' } = options
  const line: Place[] = []
  let busy = 0
  let poolsReplaced = 0
  let closed = false
  let pool: Promise<Driver> | undefined

  const enter = (): Promise<void> | void => {
    if (closed) throw new DatabaseUnavailable('closed')
    if (busy < max) {
      busy += 1
      return
    }
    return new Promise((grant, refuse) => {
      const timer = setTimeout(() => {
        line.splice(line.indexOf(place), 1)
        refuse(new DatabaseUnavailable('busy'))
      }, waitMs)
      const place: Place = { grant, refuse, timer }
      line.push(place)
    })
  }

  const leave = (): void => {
    const next = line.shift()
    if (!next) {
      busy -= 1
      return
    }
    clearTimeout(next.timer)
    next.grant()
  }

  // The version is asked once, by the first work after a start, and asked again only when that failed.
  const openPool = (): Promise<Driver> => {
    pool ??= serverVersion(url, applicationName).then((version) => {
      const driver = openDriver(url, max, applicationName, serverLimits(limitMs, version))
      if (closed) void driver.end({ timeout: 0 })
      return driver
    })
    const mine = pool
    mine.catch(() => {
      if (pool === mine) pool = undefined
    })
    return mine
  }

  const retire = (mine: Promise<Driver> | undefined): void => {
    if (!mine || pool !== mine) return
    poolsReplaced += 1
    pool = undefined
    mine.then((driver) => driver.end({ timeout: 1 })).catch(() => undefined)
  }

  const run = async <T>(work: (driver: Driver, late: () => Error | undefined) => Promise<T>): Promise<T> => {
    await enter()
    let mine: Promise<Driver> | undefined
    let late: DatabaseUnavailable | undefined
    let timer: NodeJS.Timeout | undefined
    try {
      const limit = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject((late = new DatabaseUnavailable('deadline'))), limitMs)
      })
      mine = openPool()
      return await Promise.race([mine.then((driver) => work(driver, () => late)), limit])
    } catch (error) {
      if (late && error === late) retire(mine)
      const reason = error instanceof DatabaseUnavailable ? undefined : unavailableReason(error)
      throw reason ? new DatabaseUnavailable(reason, error) : error
    } finally {
      clearTimeout(timer)
      leave()
    }
  }

  const transaction = <T>(mode: string, work: (sql: Sql) => Promise<T>): Promise<T> =>
    run((driver, late) =>
      driver.begin(mode, async (sql) => {
        const result = await work(sql as unknown as Sql)
        // The caller has been told "deadline" already; committing now would only widen the doubt.
        const tooLate = late()
        if (tooLate) throw tooLate
        return { result }
      }).then(({ result }) => result),
    )

  return {
    query: (work) => run((driver) => work(driver as unknown as Sql)),
    tx: (work) => transaction('isolation level read committed read write', work),
    readTx: (work) => transaction('isolation level read committed read only', work),
    stats: () => ({ max, busy, waiting: line.length, poolsReplaced }),
    end: async (graceMs = 5000) => {
      closed = true
      for (const place of line.splice(0)) {
        clearTimeout(place.timer)
        place.refuse(new DatabaseUnavailable('closed'))
      }
      await pool?.then((driver) => driver.end({ timeout: graceMs / 1000 })).catch((error: unknown) => {
        if (!isDatabaseUnavailable(error)) throw error
      })
    },
  }
}

type Settings = Record<string, number>

// A slow statement ends on the server first, with an answer, and does not cost the pool.
function serverLimits(limitMs: number, version: number): Settings {
  const statement = Math.round(limitMs * 0.75)
  return {
    statement_timeout: statement,
    idle_in_transaction_session_timeout: statement,
    // an older server refuses the whole connection for a setting it does not know
    ...(version >= 17 ? { transaction_timeout: Math.round(limitMs * 0.9) } : {}),
  }
}

function openDriver(url: string, max: number, applicationName: string, settings: Settings): Driver {
  return postgres(url, {
    max,
    fetch_types: false,
    connect_timeout: 2,
    keep_alive: 10,
    // The driver's own backoff adds up over all connections to 20 s; the jitter only spreads reconnects.
    backoff: () => 0.05 + Math.random() * 0.1,
    onnotice: () => undefined,
    types: columnTypes as unknown as Record<string, postgres.PostgresType>,
    connection: { application_name: applicationName, ...settings },
  })
}

async function serverVersion(url: string, applicationName: string): Promise<number> {
  const probe = openDriver(url, 1, applicationName, {})
  try {
    const [row] = await probe<{ number: string }[]>`select current_setting('server_version_num') as number`
    return Math.floor(Number(row?.number) / 10000)
  } finally {
    probe.end({ timeout: 0 }).catch(() => undefined)
  }
}
