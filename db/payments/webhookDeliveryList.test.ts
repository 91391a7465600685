import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { connect } from '../sql.ts'
import type { Sql } from '../sql.ts'
import { cloneDatabase } from '../testDatabase.ts'
import { countWebhookDeliveries, listWebhookDeliveries } from './webhookDeliveryList.ts'
import type { DeliveryFilters } from './webhookDeliveryList.ts'
import { countDeadDeliveries, countResentEvents, nextDeadDeliveries, nextResentEvents } from './webhookReplayBatches.ts'
import type { Resend } from './webhookReplayBatches.ts'

const clone = await cloneDatabase(inject('testServer'), 'template_main')
const database = connect(clone.url, { max: 2, limitMs: 60_000 })
afterAll(async () => {
  await database.end()
  await clone.drop()
})

const [tenantId, merchantId, siblingId] = [randomUUID(), randomUUID(), randomUUID()]
const [busy, quiet] = [randomUUID(), randomUUID()]
const scope = { tenantId, merchantIds: null }
const since = new Date('2026-11-01T00:00:00Z')
const rows = 40_000

// A busy subscription and a quiet one: of 40,000 deliveries almost all are delivered and of one kind.
beforeAll(async () => {
  await database.tx(async (sql) => {
    for (const id of [merchantId, siblingId]) {
      await sql`
        insert into payments.merchants (id, tenant_id, name, status, city, postal_code, category_code, national_merchant_id, created_at)
        values (${id}, ${tenantId}, 'Warung', 'approved', 'Jakarta', '10110', '5411', 'ID1234567890123', now())`
    }
    for (const id of [busy, quiet]) {
      await sql`
        insert into payments.webhook_subscriptions (id, tenant_id, merchant_id, url, secret, events, active, created_at, activated_at)
        values (${id}, ${tenantId}, ${merchantId}, 'https://shop.example/', '', array['payment.completed', 'payment.failed'], true, now(), now())`
    }
    await sql`
      with happened as (
        insert into payments.events (id, tenant_id, merchant_id, kind, intent_id, body, created_at)
        select gen_random_uuid(), ${tenantId}::uuid, ${merchantId}::uuid, case when n % 4000 = 0 then 'payment.failed' else 'payment.completed' end,
          gen_random_uuid(), ${JSON.stringify({ data: 'x'.repeat(1200) })}, ${since}::timestamptz + n * interval '1 second'
        from generate_series(1, ${rows}) n returning *, extract(epoch from created_at)::bigint % 2000 as state)
      insert into payments.webhook_deliveries
        (id, tenant_id, merchant_id, event_id, kind, subscription_id, status, round_started_at, due_at, scheduled_at, created_at, ended_at, dead_reason)
      select gen_random_uuid(), tenant_id, merchant_id, id, kind, case when state = 7 then ${quiet}::uuid else ${busy}::uuid end,
        case state when 3 then 'dead' when 5 then 'pending' else 'delivered' end, now(), case when state = 5 then now() end, now(), created_at,
        case when state <> 5 then now() end, case when state = 3 then 'exhausted' end
      from happened`
  })
  // What was committed a moment ago is not known to be safe yet, and marked as visible to all only then.
  for (let marked = 0; marked < 2;) {
    for (const table of ['events', 'webhook_deliveries']) await database.query((sql) => sql.unsafe(`vacuum analyze payments.${table}`))
    const tables = await database.query((sql) => sql`select from pg_class where relname in ('events', 'webhook_deliveries') and relallvisible = relpages`)
    marked = tables.length
  }
})

interface Plan {
  text: string
  /** Pages of 8 KiB that it read. */
  pages: number
}

/** Runs a statement and answers how, as if its values were not known when it was planned. */
const planOf = (run: (sql: Sql) => Promise<unknown>): Promise<Plan> => database.tx(async (sql) => {
  await sql`set local plan_cache_mode = force_generic_plan`
  let last: unknown
  const keeping = Object.assign((...part: Parameters<Sql>) => {
    last = sql(...part)
    return last
  }, { json: sql.json, unsafe: sql.unsafe }) as unknown as Sql
  await run(keeping)
  const lines = await sql<{ 'QUERY PLAN': string }[]>`explain (analyze, buffers, costs off, timing off, summary off) ${last as never}`
  const text = lines.map((line) => line['QUERY PLAN']).join('\n')
  return { text, pages: Number(/shared hit=(\d+)/.exec(text)?.[1]) + Number(/shared hit=\d+ read=(\d+)/.exec(text)?.[1] ?? 0) }
})
const scans = ({ text }: Plan) => text.split('\n').filter((line) => /Scan .*on (webhook_deliveries|events)/.test(line) || /Seq Scan/.test(line))
const page = (number: number) => ({ page: number, limit: 20, offset: (number - 1) * 20 })
const time = (second: number) => new Date(since.getTime() + second * 1000)

const filters: [string, DeliveryFilters, number][] = [
  ['nothing', {}, rows],
  ['dead', { status: 'dead' }, 20],
  ['pending', { status: 'pending' }, 20],
  ['in_flight', { status: 'in_flight' }, 0],
  ['delivered', { status: 'delivered' }, rows - 40],
  ['a rare kind', { kind: 'payment.failed' }, 10],
  ['a rare kind of one status', { kind: 'payment.failed', status: 'dead' }, 0],
  ['a busy subscription', { subscriptionId: busy }, rows - 20],
  ['a quiet subscription', { subscriptionId: quiet }, 20],
  ['the dead of a busy subscription', { subscriptionId: busy, status: 'dead' }, 20],
  ['a kind that a subscription never had', { subscriptionId: quiet, kind: 'payment.failed' }, 0],
  ['a time', { createdFrom: time(20_000), createdTo: time(20_100) }, 100],
  ['an event', { eventId: randomUUID() }, 0],
  ['an intent', { intentId: randomUUID() }, 0],
]

describe('at 40,000 deliveries of a merchant', () => {
  test.each(filters)('a page by %s is read from an index, in its order, and no more than it shows', async (_, filter) => {
    const plan = await planOf((sql) => listWebhookDeliveries(sql, scope, filter, page(1)))
    expect(scans(plan).join('\n')).not.toMatch(/Seq Scan/)
    // The 20 rows, their attempts, and the way down the indexes.
    expect(plan.pages).toBeLessThan(250)
  })

  test('page 500 reads what comes before it from the index alone', async () => {
    const plan = await planOf((sql) => listWebhookDeliveries(sql, scope, {}, page(500)))
    expect(plan.text).toMatch(/Index Only Scan using webhook_deliveries_newest_of_each/)
    expect(plan.pages).toBeLessThan(600)
  })

  test.each(filters)('the total by %s is exact, and costs by what it counts', async (_, filter, total) => {
    expect(await database.query((sql) => countWebhookDeliveries(sql, scope, filter))).toBe(total)
    const plan = await planOf((sql) => countWebhookDeliveries(sql, scope, filter))
    // Of nearly all rows, the table itself is as good as an index; all of them are counted as they are written.
    const costsLittle = total < rows / 2 || Object.keys(filter).length === 0
    if (costsLittle) expect(scans(plan).join('\n')).not.toMatch(/Seq Scan/)
    expect(plan.pages).toBeLessThan(costsLittle ? 50 : 1200)
  })
})

describe('a batch of a replay reads what it takes, wherever it is', () => {
  const replay = async (kind: 'dead_letters' | 'resend', kinds: string[] | null, subscriptionId: string | null, reached: Date) => {
    const [row] = await database.query((sql) => sql<Resend[]>`
      insert into payments.webhook_replays (id, tenant_id, merchant_id, kind, subscription_id, event_kinds, since, fingerprint, status, cursor_at, due_at,
        created_at, ended_at, started_at)
      values (gen_random_uuid(), ${tenantId}, ${merchantId}, ${kind}, ${subscriptionId}, ${kinds}::text[], ${since}, sha256(''), 'succeeded', ${reached},
        now(), ${time(rows + 60)}, now(), now())
      returning *`)
    if (!row) throw new Error('no replay')
    return row
  }

  test.each([since, time(35_000)])('of dead letters, behind %s', async (reached) => {
    const all = await replay('dead_letters', null, null, reached)
    const ofOne = await replay('dead_letters', ['payment.failed'], busy, reached)
    for (const [row, most] of [[all, 250], [ofOne, 0]] as const) {
      const plan = await planOf((sql) => nextDeadDeliveries(sql, row, 250))
      expect(scans(plan).join('\n')).not.toMatch(/Seq Scan on webhook_deliveries/)
      expect(plan.pages).toBeLessThan(50)
      expect((await planOf((sql) => countDeadDeliveries(sql, row))).pages).toBeLessThan(50)
      expect((await database.query((sql) => nextDeadDeliveries(sql, row, 250))).length).toBeLessThanOrEqual(most)
    }
  })

  test.each([since, time(35_000)])('of a resend, behind %s', async (reached) => {
    const row = await replay('resend', ['payment.completed'], busy, reached)
    const plan = await planOf((sql) => nextResentEvents(sql, row, 250))
    expect(plan.text).toMatch(/Index Only Scan using events_since/)
    expect(plan.pages).toBeLessThan(100)
    expect((await planOf((sql) => countResentEvents(sql, row))).text).toMatch(/Index Only Scan using events_since/)
    expect(await database.query((sql) => nextResentEvents(sql, row, 250))).toHaveLength(250)
  })
})
