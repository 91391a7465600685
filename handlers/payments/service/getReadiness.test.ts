import { describe, expect, test } from 'vitest'
import { startPayments } from '../../../contract-tests/harness/payments.ts'

test('200: a process whose database takes writes is ready, and has left nothing there', async () => {
  const { call, database } = await startPayments()
  const before = await size()
  for (let count = 0; count < 3; count += 1) {
    expect(await call('getReadiness')).toMatchObject({
      status: 200,
      body: { status: 'ready', checks: { database: 'ok' } },
    })
  }
  expect(await size()).toBe(before)

  async function size(): Promise<number> {
    const tables = await database.query(
      (sql) => sql<{ name: string }[]>`
      select quote_ident(schemaname) || '.' || quote_ident(relname) as name from pg_stat_user_tables
      where schemaname in ('payments', 'public')`,
    )
    const counts = await Promise.all(
      tables.map(({ name }) =>
        database.query((sql) => sql.unsafe<{ n: number }[]>(`select count(*)::int as n from ${name}`)),
      ),
    )
    return counts.reduce((sum, [row]) => sum + Number(row?.n), 0)
  }
})

describe('503 unavailable', () => {
  test('while the process is about to end, though its database is there', async () => {
    const { call } = await startPayments({ isDraining: () => true })
    const answer = await call('getReadiness')
    expect(answer).toMatchObject({
      status: 503,
      body: { error: 'unavailable', message: 'The process is about to end.' },
    })
    expect(answer.headers.get('retry-after')).toBe('1')
  })

  test('when its database is gone', async () => {
    const { call, database } = await startPayments()
    await database.end(0)
    const answer = await call('getReadiness')
    expect(answer).toMatchObject({ status: 503, body: { error: 'unavailable' } })
    expect(answer.headers.get('retry-after')).toBe('1')
  })
})
