import { randomUUID } from 'node:crypto'
import { type Server, type Socket, connect as dial, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type EmbeddedPostgres, startPostgres } from '../run/embeddedPostgres.ts'
import {
  type Database, type DatabaseOptions, DatabaseUnavailable, type Sql, connect, constraintOf, isDatabaseUnavailable, withFreshPlan,
} from './sql.ts'

let server: EmbeddedPostgres
const opened: Database[] = []

function open(options: DatabaseOptions = {}, url = server.url('postgres')): Database {
  const database = connect(url, options)
  opened.push(database)
  return database
}

function signal(): { done: Promise<void>; give: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { done: promise, give: resolve }
}

async function pidOf(sql: Sql): Promise<number> {
  const [row] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`
  return row?.pid ?? 0
}

// Returns when the backend is gone, so that what follows meets the loss and not the connection.
async function kill(pid: number): Promise<void> {
  const admin = open({ max: 1 })
  await admin.query((sql) => sql`select pg_terminate_backend(${pid}, 5000)`)
  await admin.end()
}

const reasonOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(() => 'done', (error: unknown) => (error instanceof DatabaseUnavailable ? error.reason : error))

beforeAll(async () => {
  const directory = join(tmpdir(), `bayar-sql-${randomUUID()}`)
  server = await startPostgres({ directory, fsync: false, persistent: false })
  const admin = open({ max: 1 })
  await admin.query((sql) => sql`create table pair (id text not null, half int not null)`)
  // a kill may lose what the server only promised, and this server is started to promise early
  await admin.query((sql) => sql`alter database postgres set synchronous_commit = on`)
  await admin.query((sql) => sql`create table single (id int constraint single_pkey primary key)`)
}, 60_000)

afterAll(async () => {
  await Promise.all(opened.map((database) => database.end(100)))
  await server.stop('immediate')
})

describe('lost connections', () => {
  test('a transaction whose connection is lost never writes into the transaction after it', async () => {
    const database = open({ max: 1, limitMs: 8000, waitMs: 8000 })
    for (let round = 0; round < 8; round += 1) {
      const [inserted, other, resume, over] = [signal(), signal(), signal(), signal()]
      let pid = 0
      const a = database.tx(async (sql) => {
        pid = await pidOf(sql)
        await sql`insert into pair values (${`a${round}`}, 1)`
        inserted.give()
        await resume.done
        await reasonOf(Promise.resolve(sql`insert into pair values (${`a${round}`}, 2)`))
        over.give()
      })
      const lostA = reasonOf(a)
      await inserted.done
      await kill(pid)
      const b = database.tx(async (sql) => {
        await sql`insert into pair values (${`b${round}`}, 1)`
        other.give()
        // an unpatched driver sends the late statement of a, and its commit, into this transaction
        await over.done
        await sql`select 1`
        throw new Error('b gives up')
      })
      const refusedB = reasonOf(b)
      await other.done
      resume.give()
      expect(await lostA).toBe('lost')
      expect(await refusedB).toEqual(new Error('b gives up'))
      expect(await database.query((sql) => sql`select * from pair`)).toHaveLength(0)
    }
  }, 30_000)

  test('a single connection lost inside a statement serves the next three queries', async () => {
    const database = open({ max: 1, limitMs: 8000, waitMs: 8000 })
    for (let round = 0; round < 5; round += 1) {
      const known = signal()
      let pid = 0
      const lost = reasonOf(
        database.tx(async (sql) => {
          pid = await pidOf(sql)
          known.give()
          await sql`select pg_sleep(5)`
        }),
      )
      await known.done
      await kill(pid)
      expect(await lost).toBe('lost')
      for (let next = 0; next < 3; next += 1) {
        const [row] = await database.query((sql) => sql<{ one: number }[]>`select 1 as one`)
        expect(row).toEqual({ one: 1 })
      }
    }
  }, 30_000)

  test('a single connection reset inside a statement serves the next three queries', async () => {
    const sockets: Socket[] = []
    const proxy = await new Promise<Server>((resolve) => {
      const listening = createServer((client) => {
        const upstream = dial(server.port, '127.0.0.1')
        sockets.push(client)
        for (const [from, to] of [[client, upstream], [upstream, client]] as const) {
          from.on('error', () => to.destroy())
          from.on('close', () => to.destroy())
          from.pipe(to)
        }
      }).listen(0, '127.0.0.1', () => resolve(listening))
    })
    const address = proxy.address()
    const port = typeof address === 'object' && address ? address.port : 0
    const url = server.url('postgres').replace(`:${server.port}/`, `:${port}/`)
    const database = open({ max: 1, limitMs: 8000, waitMs: 8000 }, url)
    for (let round = 0; round < 5; round += 1) {
      const known = signal()
      const lost = reasonOf(
        database.tx(async (sql) => {
          await pidOf(sql)
          known.give()
          await sql`select pg_sleep(5)`
        }),
      )
      await known.done
      for (const socket of sockets.splice(0)) socket.resetAndDestroy()
      expect(await lost).toBe('lost')
      for (let next = 0; next < 3; next += 1) {
        expect(await reasonOf(database.query((sql) => sql`select 1`))).toBe('done')
      }
    }
    await database.end()
    proxy.close()
  }, 30_000)

  test('a restart under load tears no transaction, loses no acknowledged one and leaves no call open', async () => {
    const database = open({ max: 10 })
    await database.query((sql) => sql`truncate pair`)
    const acknowledged: string[] = []
    const failures: unknown[] = []
    let slowest = 0
    let running = true
    const caller = async (name: number): Promise<void> => {
      for (let turn = 0; running; turn += 1) {
        const id = `${name}-${turn}`
        const began = performance.now()
        try {
          await database.tx(async (sql) => {
            await sql`insert into pair values (${id}, 1)`
            await sql`insert into pair values (${id}, 2)`
          })
          acknowledged.push(id)
        } catch (error) {
          failures.push(error)
        }
        slowest = Math.max(slowest, performance.now() - began)
      }
    }
    const callers = Array.from({ length: 16 }, (_, name) => caller(name))
    await expect.poll(() => acknowledged.length, { timeout: 10_000 }).toBeGreaterThan(300)
    await server.restart('immediate')
    const before = acknowledged.length
    const accepted = performance.now()
    await expect.poll(() => acknowledged.length, { timeout: 10_000, interval: 10 }).toBeGreaterThan(before)
    expect(performance.now() - accepted).toBeLessThan(1500)
    await expect.poll(() => acknowledged.length, { timeout: 10_000 }).toBeGreaterThan(before + 300)
    running = false
    await Promise.all(callers)
    expect(slowest).toBeLessThan(3200)
    expect(failures.length).toBeGreaterThan(0)
    expect(failures.filter((error) => !isDatabaseUnavailable(error))).toEqual([])
    const rows = await database.query((sql) => sql<{ id: string; halves: number }[]>`
      select id, count(*) as halves from pair group by id`)
    expect(rows.filter(({ halves }) => halves !== 2)).toEqual([])
    const present = new Set(rows.map(({ id }) => id))
    expect(acknowledged.filter((id) => !present.has(id))).toEqual([])
    expect(database.stats()).toEqual({ max: 10, busy: 0, waiting: 0, poolsReplaced: 0 })
  }, 60_000)
})

describe('limits', () => {
  test('work that finds no free place within the wait is refused as busy, and places are given back', async () => {
    const database = open({ max: 1, waitMs: 50 })
    const release = signal()
    const holding = database.query(() => release.done)
    expect(await reasonOf(database.query((sql) => sql`select 1`))).toBe('busy')
    const waiting = reasonOf(database.query((sql) => sql`select 1`))
    expect(database.stats()).toEqual({ max: 1, busy: 1, waiting: 1, poolsReplaced: 0 })
    release.give()
    await holding
    expect(await waiting).toBe('done')
    expect(database.stats()).toEqual({ max: 1, busy: 0, waiting: 0, poolsReplaced: 0 })
  })

  test('work over its limit is refused as deadline, commits nothing and costs the pool once', async () => {
    const database = open({ max: 2, limitMs: 200 })
    await database.query((sql) => sql`select 1`)
    const release = signal()
    const late = database.tx(async (sql) => {
      await sql`insert into single values (77)`
      await release.done
    })
    expect(await reasonOf(late)).toMatch(/^(deadline|timeout|lost)$/)
    release.give()
    const stuck = signal()
    expect(await reasonOf(database.query(() => stuck.done))).toBe('deadline')
    stuck.give()
    expect(database.stats()).toMatchObject({ busy: 0, poolsReplaced: 1 })
    expect(await database.query((sql) => sql`select * from single where id = 77`)).toHaveLength(0)
  })

  test('a slow statement ends on the server and keeps the pool', async () => {
    const database = open({ max: 1, limitMs: 400 })
    expect(await reasonOf(database.query((sql) => sql`select pg_sleep(5)`))).toBe('timeout')
    expect(await reasonOf(database.query((sql) => sql`select 1`))).toBe('done')
    expect(database.stats().poolsReplaced).toBe(0)
  })

  test('the server is given the limits of its version', async () => {
    const rows = await open({ limitMs: 2000 }).query((sql) => sql<{ name: string; setting: string }[]>`
      select name, setting from pg_settings where name ~ '^(statement|transaction|idle_in_transaction_session)_timeout$'
      order by name`)
    expect(rows.map(({ name, setting }) => [name, setting])).toEqual([
      ['idle_in_transaction_session_timeout', '1500'],
      ['statement_timeout', '1500'],
      ['transaction_timeout', '1800'],
    ])
  })

  test('a server that is away at start is reached as soon as it is back', async () => {
    await server.halt('fast')
    const database = open()
    expect(await reasonOf(database.query((sql) => sql`select 1`))).toBe('connect')
    await server.resume()
    expect(await reasonOf(database.query((sql) => sql`select 1`))).toBe('done')
  }, 20_000)

  test('a closed database refuses work', async () => {
    const database = open()
    await database.query((sql) => sql`select 1`)
    await database.end()
    expect(await reasonOf(database.query((sql) => sql`select 1`))).toBe('closed')
  })
})

describe('transactions', () => {
  test('a thrown error rolls back and reaches the caller unchanged', async () => {
    const database = open()
    const problem = new Error('not today')
    await expect(database.tx(async (sql) => {
      await sql`insert into single values (5)`
      throw problem
    })).rejects.toBe(problem)
    expect(await database.query((sql) => sql`select * from single where id = 5`)).toHaveLength(0)
  })

  test('a read transaction refuses writes', async () => {
    await expect(open().readTx((sql) => sql`insert into single values (6)`)).rejects.toMatchObject({ code: '25006' })
  })

  test('a violated constraint is told by name', async () => {
    const database = open()
    await database.query((sql) => sql`insert into single values (1)`)
    const refused = await database.query((sql) => sql`insert into single values (1)`).catch((error: unknown) => error)
    expect(constraintOf(refused)).toBe('single_pkey')
    expect(isDatabaseUnavailable(refused)).toBe(false)
    expect(constraintOf(new Error('other'))).toBeUndefined()
  })

  test('lists, rows and fragments build statements', async () => {
    const rows = await open().tx(async (sql) => {
      await sql`insert into single ${sql([{ id: 21 }, { id: 22 }, { id: 23 }], 'id')}`
      const filter = sql`id in ${sql([21, 23])}`
      return sql<{ id: number }[]>`select id from single where ${filter} order by id`
    })
    expect(rows.map(({ id }) => id)).toEqual([21, 23])
  })
})

test('a statement that is planned for its values each time leaves no plan with the connection', async () => {
  const database = open({ max: 1 })
  const kept = () => database.query((sql) => sql<{ statement: string }[]>`select statement from pg_prepared_statements where statement like '%chosen%'`)
  for (const value of [1, 2]) {
    expect(await database.query((sql) => withFreshPlan(sql`select ${value}::int as chosen where ${value} in (${sql`select 1 union select 2`})`))).toEqual([{ chosen: value }])
  }
  expect((await kept()).map(({ statement }) => statement.includes('pg_prepared'))).toEqual([true])
  await database.query((sql) => sql`select ${1}::int as chosen`)
  expect(await kept()).toHaveLength(2)
})
