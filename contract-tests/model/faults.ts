import { setImmediate as turn } from 'node:timers/promises'
import { DatabaseUnavailable } from '../../db/sql.ts'
import type { Database, Sql } from '../../db/sql.ts'

/**
 * What strikes. `crash`: the process ends between two lines, and whatever it had under way with it. `lost`: one
 * statement, commit or call fails as when its connection breaks; the process goes on.
 */
export type FaultKind = 'crash' | 'lost'

/** The points at which a fault may strike are counted from 1: before each statement and commit, after each commit and call. */
export interface Fault {
  kind: FaultKind
  point: number
}

/** What a process does to the world outside, with faults between any two of its lines. */
export interface FaultLine {
  /** Stands in for the database of the process. */
  database(own: Database): Database
  /** Counts what goes over the network as under way, and strikes before it is sent and after it has been done. */
  network(through: typeof fetch): typeof fetch
  /** Waits no real time; a process that has crashed wakes no more. */
  sleep(milliseconds: number): Promise<void>
  /** Does the work of a process with a fault in it, waits until nothing is under way, and lets the process start again. */
  during<T>(fault: Fault | undefined, work: () => Promise<T>): Promise<{ result: T | undefined, struck: boolean }>
}

/** Turns of the event loop without anything under way, after which a process has come to rest. */
const quietTurns = 4
/** After as many, a process that has crashed has answered whatever it still can. */
const deadTurns = 100

/** As many at most that one wait lasts. */
const sleepTurns = 2000

/** The records of API keys are written by a timer of their own, at no point of anything that a model knows. */
const asides = ['payments.api_key_requests', 'set last_used_at']

export function faultLine(): FaultLine {
  let fault: Fault | undefined
  let reached = 0
  let struck = false
  let dead = false
  let underWay = 0
  let death = Promise.withResolvers<void>()

  const lost = () => new DatabaseUnavailable('lost')

  /** Passes one point, or ends there. */
  const pass = (failure: () => Error): void => {
    if (dead) throw failure()
    reached += 1
    if (!fault || struck || reached < fault.point) return
    struck = true
    if (fault.kind === 'crash') {
      dead = true
      death.resolve()
    }
    throw failure()
  }

  const track = async <T>(work: () => Promise<T>): Promise<T> => {
    underWay += 1
    try {
      return await work()
    } finally {
      underWay -= 1
    }
  }

  const rest = async (turns = quietTurns): Promise<void> => {
    for (let quiet = 0; quiet < turns; quiet = underWay === 0 ? quiet + 1 : 0) await turn()
  }

  /** One connection's statements. Once one has failed, so do all after it. */
  const statements = (sql: Sql): { sql: Sql, end(): void } => {
    let broken = false
    let aside = false
    const before = (text: string): void => {
      aside ||= asides.some((part) => text.includes(part))
      if (aside) return
      if (broken) throw lost()
      try {
        pass(lost)
      } catch (error) {
        broken = true
        throw error
      }
    }
    return {
      sql: new Proxy(sql, {
        apply: (target, self, values: unknown[]) => {
          const [first] = values
          if (Array.isArray(first) && 'raw' in first) before(first.join(' '))
          return Reflect.apply(target as never, self, values)
        },
        get: (target, name) => {
          if (name === 'unsafe') before('')
          return Reflect.get(target, name) as unknown
        },
      }),
      end: () => before(''),
    }
  }

  const transaction = (begin: Database['tx']): Database['tx'] => (work) => track(async () => {
    if (dead) throw lost()
    let told = (): void => undefined
    const result = await begin(async (sql) => {
      const connection = statements(sql)
      told = () => connection.end()
      const done = await work(connection.sql)
      connection.end()
      return done
    })
    told()
    return result
  })

  return {
    database: (own) => ({
      ...own,
      tx: transaction((work) => own.tx(work)),
      readTx: transaction((work) => own.readTx(work)),
      query: transaction((work) => own.query(work)),
    }),
    network: (through) => (input, init) => track(async () => {
      const broken = () => new TypeError('fetch failed')
      pass(broken)
      const response = await through(input, init)
      // Read to its end here: what is under way is then counted to its end too.
      const body = await response.text()
      pass(broken)
      return new Response(body === '' ? null : body, response)
    }),
    async sleep() {
      if (dead) await new Promise(() => undefined)
      // Whoever waits, waits for others.
      for (let turns = 0; turns === 0 || (underWay > 0 && turns < sleepTurns); turns += 1) await turn()
    },
    async during(next, work) {
      [fault, reached, struck, death] = [next, 0, false, Promise.withResolvers<void>()]
      const given = work().then((result) => ({ result }))
      // What waits for a process that is no more, waits for ever.
      const ended = death.promise.then(() => rest(deadTurns)).then(() => undefined)
      const done = await Promise.race([given, ended])
      await rest()
      given.catch(() => undefined)
      fault = undefined
      dead = false
      return { result: struck ? undefined : done?.result, struck }
    },
  }
}
