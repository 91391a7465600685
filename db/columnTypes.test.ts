import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Database, type DatabaseOptions, connect } from './sql.ts'
import { type TestServer, startTestServer } from './testDatabase.ts'

let server: TestServer
const opened: Database[] = []

function open(options: DatabaseOptions = {}): Database {
  const database = connect(server.info.url, options)
  opened.push(database)
  return database
}

beforeAll(async () => {
  server = await startTestServer()
}, 60_000)

afterAll(async () => {
  await Promise.all(opened.map((database) => database.end(100)))
  await server.stop()
})

describe('values', () => {
  test('int8 is a number while that is exact, and refused beyond', async () => {
    const database = open({ max: 1 })
    const [row] = await database.query((sql) => sql<{ n: number }[]>`select 9007199254740991::int8 as n`)
    expect(row?.n).toBe(Number.MAX_SAFE_INTEGER)
    await expect(database.query((sql) => sql`select 9007199254740992::int8 as n, ${1}::int as one`))
      .rejects.toThrow(RangeError)
    await expect(database.tx((sql) => sql`select n from generate_series(9007199254740990, 9007199254740999) n`))
      .rejects.toThrow(RangeError)
    expect([...(await database.query((sql) => sql`select 1 as one`))]).toEqual([{ one: 1 }])
  })

  test('moments, days, JSON and arrays come back as they went', async () => {
    const at = new Date(1_790_000_000_123)
    const texts = ['plain', 'com,ma', 'quo"te', 'back\\slash', '', 'NULL', '{x}', 'a b']
    const ids = ['0199c1d0-0000-7000-8000-000000000001', '0199c1d0-0000-7000-8000-000000000002']
    const read = (): Promise<readonly object[]> => open({ max: 1 }).query((sql) => sql`
      select ${at}::timestamptz as at, '2026-01-31'::date as day, ${sql.json({ a: [1, 'x'] })}::jsonb as j,
        ${texts}::text[] as texts, ${ids}::uuid[] as ids, ${[1, 2]}::int[] as numbers, ${[]}::text[] as none,
        array['a', null]::text[] as holes, 12.50::numeric as amount`)
    expect([...(await read())]).toEqual([{
      at, day: '2026-01-31', j: { a: [1, 'x'] }, texts, ids, numbers: [1, 2], none: [], holes: ['a', null],
      amount: '12.50',
    }])
  })

  test('JSON that is text already is bound once', async () => {
    const [row] = await open().query((sql) => sql.unsafe<{ kind: string }[]>(
      'select json_typeof($1::json) as kind', ['[{"a":1}]'], { prepare: true }))
    expect(row?.kind).toBe('array')
  })
})
