import { type ChildProcess, fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Database, type Sql, connect } from '../db/sql.ts'
import { type EmbeddedPostgres, startPostgres } from '../run/embeddedPostgres.ts'
import {
  type Boss, type BossOptions, type QueueDefinition, enqueueAllTx, enqueueTx, installBoss, queueDepths, startBoss,
} from './boss.ts'
import { type WorkedJob, work } from './worker.ts'

let server: EmbeddedPostgres
let url: string
let database: Database
const started: Boss[] = []
const children: ChildProcess[] = []

const queues: QueueDefinition[] = [
  ...['plain', 'handled', 'failing', 'restarted', 'killed', 'counted', 'deferred'].map((name) => ({ name })),
  { name: 'keyed', policy: 'exclusive' },
]

async function start(options: BossOptions): Promise<Boss> {
  const boss = await startBoss(url, options)
  started.push(boss)
  return boss
}

async function jobsOf(queue: string): Promise<{ id: string; state: string; data: unknown; late: number }[]> {
  return database.query((sql) => sql`
    select id, state::text as state, data, extract(epoch from start_after - created_on)::float8 as late
    from pgboss.job where name = ${queue} order by start_after, created_on`)
}

beforeAll(async () => {
  server = await startPostgres({
    directory: join(tmpdir(), `bayar-jobs-${randomUUID()}`), fsync: false, persistent: false,
  })
  url = server.url('postgres')
  database = connect(url)
  await installBoss(url, queues)
}, 60_000)

afterAll(async () => {
  for (const child of children) child.kill('SIGKILL')
  await Promise.all(started.map((boss) => boss.stop(100)))
  await database.end(100)
  await server.stop('immediate')
})

describe('enqueueing inside a transaction', () => {
  test('a rollback removes the job, a commit keeps it with its data', async () => {
    const boss = await start({ worker: false })
    await expect(database.tx(async (sql) => {
      expect(await enqueueTx(sql, boss, 'plain', { order: 1 })).toMatch(/^[0-9a-f-]{36}$/)
      throw new Error('rolled back')
    })).rejects.toThrow('rolled back')
    expect(await jobsOf('plain')).toEqual([])
    const id = await database.tx((sql) => enqueueTx(sql, boss, 'plain', { order: 2, list: ['a'] }))
    expect(await jobsOf('plain')).toMatchObject([{ id, state: 'created', data: { order: 2, list: ['a'] } }])
  })

  test('a due time is kept, and many jobs go at once', async () => {
    const boss = await start({ worker: false })
    await database.tx((sql) => enqueueAllTx(sql, boss, 'deferred', [
      { data: { n: 1 }, startAfter: 300 },
      { data: { n: 2 }, startAfter: new Date(Date.now() + 600_000) },
    ]))
    const [first, second] = await jobsOf('deferred')
    expect(first?.late).toBeCloseTo(300, -1)
    expect(second?.late).toBeCloseTo(600, -1)
  })

  test('an exclusive queue takes one job per key', async () => {
    const boss = await start({ worker: false })
    const add = (key: string) => database.tx((sql) => enqueueTx(sql, boss, 'keyed', {}, { singletonKey: key }))
    expect(await add('a')).not.toBeNull()
    expect(await add('a')).toBeNull()
    expect(await add('b')).not.toBeNull()
  })

  test('a warm enqueue costs one statement in the transaction, under a savepoint, and none beside it', async () => {
    const boss = await start({ worker: false })
    const client = boss.client
    expect(client).toBeDefined()
    const own: string[] = []
    const db = client?.getDb()
    const executeSql = db?.executeSql.bind(db)
    if (!db || !executeSql) throw new Error('no client')
    db.executeSql = (text, values) => {
      own.push(text)
      return executeSql(text, values)
    }
    const inside: string[] = []
    await database.tx(async (sql) => {
      const counted = (each: Sql): Sql => Object.assign((...call: Parameters<Sql>) => each(...call), each, {
        unsafe: (...call: Parameters<Sql['unsafe']>) => {
          inside.push(call[0])
          return each.unsafe(...call)
        },
        savepoint: <Result>(work: (inner: Sql) => Promise<Result>) => each.savepoint((inner) => work(counted(inner))),
      }) as Sql
      const counting = counted(sql)
      for (let turn = 0; turn < 5; turn += 1) await enqueueTx(counting, boss, 'counted', { turn })
    })
    expect(inside).toHaveLength(5)
    expect(own).toEqual([])
  })
})

describe('working', () => {
  test('the handler gets every job with its data, and a full backlog needs no further polls', async () => {
    const boss = await start({ worker: true })
    const seen: number[] = []
    const jobs = Array.from({ length: 200 }, (_, n) => ({ data: { n } }))
    await database.tx((sql) => enqueueAllTx(sql, boss, 'handled', jobs))
    await work<{ n: number }>(boss, 'handled', (job) => Promise.resolve(void seen.push(job.data.n)))
    await expect.poll(() => seen.length, { timeout: 5000 }).toBe(200)
    expect(new Set(seen).size).toBe(200)
    await expect.poll(async () => (await jobsOf('handled')).every(({ state }) => state === 'completed')).toBe(true)
  }, 20_000)

  test('a job that fails is tried again, its neighbours in the batch are done once', async () => {
    const boss = await start({ worker: true })
    const tries: string[] = []
    await database.tx((sql) => enqueueAllTx(sql, boss, 'failing', ['good', 'bad'].map((name) => ({ data: { name } }))))
    await work<{ name: string }>(boss, 'failing', (job: WorkedJob<{ name: string }>) => {
      tries.push(job.data.name)
      return job.data.name === 'bad' && job.retryCount === 0 ? Promise.reject(new Error('once')) : Promise.resolve()
    })
    await expect.poll(() => tries.filter((name) => name === 'bad').length, { timeout: 10_000 }).toBe(2)
    expect(tries.filter((name) => name === 'good')).toHaveLength(1)
  }, 20_000)

  test('depths tell what is due, deferred and done', async () => {
    const boss = await start({ worker: false })
    const depths = await queueDepths(boss)
    expect(depths.find(({ queue }) => queue === 'plain')).toMatchObject({ ready: 1, deferred: 0, active: 0 })
    expect(depths.find(({ queue }) => queue === 'deferred')).toMatchObject({ ready: 0, deferred: 2 })
    expect(depths.map(({ queue }) => queue).toSorted()).toEqual(queues.map(({ name }) => name).toSorted())
  })
})

describe('faults', () => {
  test('a worker lives through a restart of PostgreSQL and goes on', async () => {
    const problems: string[] = []
    const boss = await start({ worker: true, log: (error) => problems.push(error.message) })
    const seen: string[] = []
    await work<{ id: string }>(boss, 'restarted', (job) => Promise.resolve(void seen.push(job.data.id)))
    await database.tx((sql) => enqueueTx(sql, boss, 'restarted', { id: 'before' }))
    await expect.poll(() => seen, { timeout: 5000 }).toEqual(['before'])
    await server.restart('immediate')
    await database.tx((sql) => enqueueTx(sql, boss, 'restarted', { id: 'after' }))
    await expect.poll(() => seen, { timeout: 10_000 }).toContain('after')
    expect(problems.length).toBeGreaterThan(0)
  }, 30_000)

  test('a process that starts while PostgreSQL is away enqueues once the queue was reached; what is written before has no job', async () => {
    await server.halt('fast')
    const boss = await start({ worker: false })
    expect(boss.client).toBeUndefined()
    await server.resume()
    expect(await database.tx((sql) => enqueueTx(sql, boss, 'plain', {}))).toBeNull()
    await boss.whenReady()
    expect(await database.tx((sql) => enqueueTx(sql, boss, 'plain', {}))).not.toBeNull()
  }, 30_000)

  test('a queue that is dropped fails no transaction: what else it wrote is committed; installed again, jobs are added and worked on again', async () => {
    await database.query((sql) => sql`create database dropped`)
    const address = server.url('dropped')
    await installBoss(address, queues)
    const own = connect(address)
    const problems: string[] = []
    const boss = await startBoss(address, { worker: true, log: (error) => problems.push(error.message) })
    started.push(boss)
    const seen: number[] = []
    await work<{ n: number }>(boss, 'plain', (job) => Promise.resolve(void seen.push(job.data.n)))
    const write = (n: number) => own.tx(async (sql) => {
      await sql`create table if not exists written (n int)`
      await sql`insert into written values (${n})`
      const one = await enqueueTx(sql, boss, 'plain', { n })
      await enqueueAllTx(sql, boss, 'plain', [{ data: { n: n + 100 } }])
      await sql`insert into written values (${n + 100})`
      return one
    })
    expect(await write(1)).not.toBeNull()
    await expect.poll(() => seen.toSorted(), { timeout: 5000 }).toEqual([1, 101])
    await own.query((sql) => sql`drop schema pgboss cascade`)
    expect(await write(2)).toBeNull()
    expect(problems.filter((problem) => /not installed/.test(problem))).toHaveLength(1)
    await installBoss(address, queues)
    expect(await write(3)).not.toBeNull()
    await expect.poll(() => seen.toSorted(), { timeout: 10_000 }).toEqual([1, 101, 103, 3].toSorted())
    expect(await own.query((sql) => sql`select n from written order by n`)).toEqual([1, 2, 3, 101, 102, 103].map((n) => ({ n })))
    await own.end()
  }, 60_000)

  test('a missing installation is refused and the message says what to do', async () => {
    await database.query((sql) => sql`create database bare`)
    await expect(startBoss(server.url('bare'), { worker: false })).rejects.toThrow(/not installed.*make migrate/)
  }, 30_000)

  test('the job of a killed worker is taken over within 15 seconds', async () => {
    const file = join(tmpdir(), `bayar-worker-${randomUUID()}.mjs`)
    writeFileSync(file, `
      import { startBoss } from ${JSON.stringify(new URL('./boss.ts', import.meta.url).href)}
      import { work } from ${JSON.stringify(new URL('./worker.ts', import.meta.url).href)}
      const boss = await startBoss(process.env.QUEUE_URL, { worker: true })
      await work(boss, 'killed', () => new Promise(() => process.send('taken')))`)
    const child = fork(file, { stdio: 'ignore', env: { ...process.env, QUEUE_URL: url } })
    children.push(child)
    const boss = await start({ worker: true })
    await database.tx((sql) => enqueueTx(sql, boss, 'killed', {}))
    await new Promise<void>((resolve) => child.once('message', () => resolve()))
    child.kill('SIGKILL')
    const killedAt = performance.now()
    const takenOver = new Promise<number>((resolve) => {
      void work(boss, 'killed', () => Promise.resolve(resolve(performance.now() - killedAt)))
    })
    expect(await takenOver).toBeLessThan(15_000)
    rmSync(file)
  }, 40_000)
})

describe('installation', () => {
  test('it can be run again and by two at a time, and refuses another policy', async () => {
    await Promise.all([installBoss(url, queues), installBoss(url, queues)])
    await database.query((sql) => sql`create database twice`)
    await Promise.all([installBoss(server.url('twice'), queues), installBoss(server.url('twice'), queues)])
    await expect(installBoss(url, [{ name: 'keyed', policy: 'short' }])).rejects.toThrow(/policy exclusive/)
  }, 30_000)
})
