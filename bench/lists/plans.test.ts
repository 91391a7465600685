import { afterAll, describe, expect, inject, test } from 'vitest'
import { cloneDatabase } from '../../db/testDatabase.ts'
import { connect } from '../../db/sql.ts'
import { readInvariants } from '../invariants.ts'
import { explaining } from '../queryPlans.ts'
import { totalOf } from '../../db/payments/listTotals.ts'
import { ask, keptPlan, listCases, scopeOf } from './cases.ts'
import type { ListCase } from './cases.ts'
import { seedLists } from './seed.ts'

// Large enough that the planner chooses as it does for a million, small enough for a moment: `make bench NAME=lists` compares the same plans at full size.
const count = 20_000
const clone = await cloneDatabase(inject('testServer'), 'template_main')
const database = connect(clone.url, { max: 1, limitMs: 120_000 })
afterAll(async () => {
  await database.end()
  await clone.drop()
})
const now = new Date()
const merchants = await seedLists(database, await bigMerchant(), count, () => undefined)
const cases = listCases(count, now)

async function bigMerchant() {
  const big = { tenantId: crypto.randomUUID(), merchantId: crypto.randomUUID() }
  await database.query((sql) => sql`
    insert into payments.merchants (id, tenant_id, name, status, city, postal_code, category_code, national_merchant_id, created_at)
    values (${big.merchantId}, ${big.tenantId}, 'Warung Contoh', 'approved', 'Jakarta', '10110', '5411', 'ID1234567890123', now())`)
  return big
}

const planOf = (one: ListCase) => database.readTx((sql) => keptPlan(sql, one, scopeOf(one.asker, merchants), now))

describe('plans of 30,000 intents of 101 merchants', () => {
  test.each(['listPaymentIntents', 'listPayments', 'listEvents'] as const)('%s: as they are kept in db/plans; `make plans` keeps new ones', async (list) => {
    const texts: string[] = []
    for (const one of cases) if (one.list === list) texts.push(await planOf(one))
    await expect(texts.join('\n')).toMatchFileSnapshot(`../../db/plans/${list}.txt`)
  })

  test.each(cases.filter(({ hasBar }) => hasBar))('$list, $name, $asker: reads no table from end to end', async (one) => {
    expect(await planOf(one)).not.toContain('Seq Scan')
  })

  test('the maintained total is read by index alone where its tables are long', async () => {
    const plans: string[] = []
    await database.tx(async (sql) => {
      await sql`set local enable_seqscan = off`
      for (const asker of ['big', 'several', 'tenant'] as const) await totalOf(explaining(sql, plans), 'events', scopeOf(asker, merchants))
    })
    for (const plan of plans) expect(plan).toMatch(/ on list_totals_pkey[^]* on list_changes_by_list/)
  })

  test('what is seeded is as the service would have written it', async () => {
    const [totals] = readInvariants().filter(({ name }) => name === 'I12.totals_are_counts')
    expect(await database.query((sql) => sql.unsafe(totals?.query ?? 'none'))).toEqual([])
  })

  test('a filter finds the same, whether an index is asked or the newest entries are', async () => {
    const found = (one: Partial<ListCase>) => database.readTx((sql) => ask(sql, { ...cases[0] as ListCase, ...one }, scopeOf(one.asker ?? 'big', merchants), now))
    expect(await found({ query: { search: 'pesanan' } })).toMatchObject({ total: count })
    expect(await found({ query: { search: 'gudeg' } })).toMatchObject({ total: 4, rows: [{}, {}, {}, {}] })
    expect(await found({ query: { search: 'kopi susu' }, asker: 'small' })).toEqual({ total: 0, rows: [] })
    expect(await found({ query: { search: 'pesanan' }, page: 1000 })).toMatchObject({ total: count })
    expect(await found({ query: { search: 'pesanan' }, page: 1001 })).toEqual({ total: count, rows: [] })
    const deep = await found({ query: { search: 'pesanan' }, page: 300, limit: 50 })
    expect(deep.rows.map((row) => (row as { id: string }).id)).toEqual((await found({ page: 300, limit: 50 })).rows.map((row) => (row as { id: string }).id))
  })
})
