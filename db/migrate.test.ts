import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { randomUUID } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { assertMigrated, ensureDatabase, migrate, pendingMigrations, readMigrations } from './migrate.ts'
import { type Sql, connect } from './sql.ts'
import { type TestServer, startTestServer } from './testDatabase.ts'

let server: TestServer
let url: string
let directory: string

async function ask<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
  const database = connect(url, { max: 1 })
  return database.query(work).finally(() => database.end())
}

function file(name: string, text: string): void {
  writeFileSync(join(directory, name), text)
}

beforeAll(async () => {
  server = await startTestServer()
}, 60_000)

afterAll(() => server.stop())

beforeEach(async () => {
  directory = join(tmpdir(), `bayar-migrations-${randomUUID()}`)
  mkdirSync(directory)
  const name = `m_${randomUUID().replaceAll('-', '')}`
  await ensureDatabase(server.info.url, name)
  url = server.info.url.replace(/\/postgres$/, `/${name}`)
  file('000001_first.sql', 'create table one (id int);\ninsert into one values (1);\n')
  file('000002_second-step.sql', 'create table two (id int);')
  return () => rmSync(directory, { recursive: true })
})

describe('migrations', () => {
  test('they are applied once, in order, and the hook runs every time', async () => {
    const hooks: string[] = []
    const options = { directory, afterwards: (at: string) => Promise.resolve(void hooks.push(at)) }
    expect(await migrate(url, 'main', options)).toEqual(['000001_first.sql', '000002_second-step.sql'])
    expect(await migrate(url, 'main', options)).toEqual([])
    expect(hooks).toEqual([url, url])
    expect(await ask((sql) => sql`select id from one`)).toHaveLength(1)
  })

  test('concurrent runs apply each migration once, and all succeed', async () => {
    const runs = await Promise.all(Array.from({ length: 5 }, () => migrate(url, 'main', { directory })))
    expect(runs.flat().toSorted()).toEqual(['000001_first.sql', '000002_second-step.sql'])
    expect(await ask((sql) => sql`select id from one`)).toHaveLength(1)
  })

  test('a changed file of an applied migration is refused', async () => {
    await migrate(url, 'main', { directory })
    file('000001_first.sql', 'create table other (id int)')
    await expect(migrate(url, 'main', { directory })).rejects.toThrow(/000001_first.sql was changed/)
  })

  test('a failing migration leaves nothing of itself and stops the run', async () => {
    file('000002_second-step.sql', 'create table half (id int); select nothing_like_it();')
    file('000003_third.sql', 'create table three (id int)')
    await expect(migrate(url, 'main', { directory })).rejects.toThrow(/000002_second-step.sql failed/)
    const [row] = await ask((sql) => sql<{ half: string | null; third: string | null; applied: number }[]>`
      select to_regclass('half')::text as half, to_regclass('three')::text as third,
        (select count(*) from migrations.applied) as applied`)
    expect(row).toEqual({ half: null, third: null, applied: 1 })
  })

  test('a service refuses to start on a database that is behind, and says what to do', async () => {
    const migrations = readMigrations(directory)
    await expect(ask((sql) => assertMigrated(sql, migrations))).rejects.toThrow(/make migrate/)
    await migrate(url, 'main', { directory })
    await expect(ask((sql) => assertMigrated(sql, migrations))).resolves.toBeUndefined()
    file('000003_third.sql', 'create table three (id int)')
    expect((await ask((sql) => pendingMigrations(sql, readMigrations(directory)))).map(({ name }) => name))
      .toEqual(['000003_third.sql'])
    await expect(ask((sql) => assertMigrated(sql, readMigrations(directory)))).rejects.toThrow(/000003_third.sql/)
  })

  test('a program older than the database is refused', async () => {
    await migrate(url, 'main', { directory })
    rmSync(join(directory, '000002_second-step.sql'))
    await expect(migrate(url, 'main', { directory })).rejects.toThrow(/does not know/)
  })

  test('files with another kind of name, or a number used twice, are refused', () => {
    file('000002_again.sql', 'select 1')
    expect(() => readMigrations(directory)).toThrow(/number of another/)
    rmSync(join(directory, '000002_again.sql'))
    file('notes.txt', '')
    expect(() => readMigrations(directory)).toThrow(/no migration/)
  })
})
