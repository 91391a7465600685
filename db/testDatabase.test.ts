import { randomUUID } from 'node:crypto'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connect } from './sql.ts'
import { type TestServer, cloneDatabase, createTemplate, startTestServer } from './testDatabase.ts'

let server: TestServer
const directory = join(tmpdir(), `bayar-template-${randomUUID()}`)

beforeAll(async () => {
  mkdirSync(directory)
  writeFileSync(join(directory, '000001_thing.sql'), 'create table thing (id int); insert into thing values (1);')
  server = await startTestServer()
  await createTemplate(server.info, 'main_template', 'main', { directory })
}, 60_000)

afterAll(async () => {
  await server.stop()
  rmSync(directory, { recursive: true })
})

describe('test databases', () => {
  test('clones start as the template is, do not see one another, and are dropped with their connections', async () => {
    const clones = await Promise.all([1, 2, 3].map(() => cloneDatabase(server.info, 'main_template')))
    const databases = clones.map(({ url }) => connect(url))
    await Promise.all(databases.map((database, at) =>
      database.query((sql) => sql`insert into thing values (${at + 10})`)))
    const seen = await Promise.all(databases.map((database) =>
      database.query((sql) => sql<{ id: number }[]>`select id from thing order by id`)))
    expect(seen.map((rows) => rows.map(({ id }) => id))).toEqual([[1, 10], [1, 11], [1, 12]])
    await Promise.all(clones.map((clone) => clone.drop()))
    const admin = connect(server.info.url)
    const left = await admin.query((sql) => sql`select from pg_database where datname like ${'main_template_%'}`)
    expect(left).toHaveLength(0)
    await Promise.all([...databases, admin].map((database) => database.end(100)))
  }, 30_000)
})
