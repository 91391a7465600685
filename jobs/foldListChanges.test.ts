import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { Merchant } from '../contract-tests/harness/given.ts'
import { intentActs } from '../contract-tests/harness/intentActs.ts'
import { startPayments } from '../contract-tests/harness/payments.ts'
import { newId, newShortcode } from '../db/ids.ts'
import { foldListChanges } from '../db/payments/listTotals.ts'
import { insertPaymentIntent } from '../db/payments/paymentIntents.ts'
import type { Sql } from '../db/sql.ts'
import type { components } from '../generated/payments.ts'
import { startFolding } from './foldListChanges.ts'

const bench = await startPayments({ settings: { PROVIDER_TIMEOUT_MS: '250' } })
const { call, clock, creation, database, given } = bench
const cash: components['schemas']['PaymentIntentCreate'] = { amount_idr: 150_000, channel: 'cash' }
const none = { intents: 0, payments: 0, events: 0 }

/** What the three lists say that they have. */
const totalsOf = async (as: string, query: Record<string, string> = {}) => {
  const total = ({ status, body }: { status: number, body: object }): number => {
    if (status !== 200 || !('total' in body)) throw new Error(JSON.stringify(body))
    return body.total as number
  }
  const [intents, payments, events] = await Promise.all([call('listPaymentIntents', { as, query }), call('listPayments', { as, query }), call('listEvents', { as, query })])
  return { intents: total(intents), payments: total(payments), events: total(events) }
}

const shop = async (tenantId?: string) => {
  const merchant = await given.merchant(tenantId === undefined ? {} : { tenantId })
  const as = await given.apiKey(merchant)
  return { merchant, as, ...intentActs(bench, as), totals: () => totalsOf(as) }
}

const insertIntent = (sql: Sql, { id, tenantId }: Merchant) => insertPaymentIntent(sql, {
  id: newId(creation.runtime), tenant_id: tenantId, merchant_id: id, shortcode: newShortcode(creation.runtime), visible: true, amount_idr: 150_000, max_uses: 1,
  description: null, allowed_channels: ['qris', 'va_bank_a'], channel: null, metadata: {}, reference_id: null, return_url: null, customer: null, customer_id: null,
  current_attempt_id: null, created_at: clock.now(), intent_expires_at: null,
})

const changes = async ({ id }: Merchant) => {
  const [row] = await database.query((sql) => sql<{ left: number }[]>`select count(*)::int as left from payments.list_changes where merchant_id = ${id}`)
  return row?.left
}

describe('unfiltered totals', () => {
  test('are exact while many create at once and several workers add up', async () => {
    const { as, created, totals } = await shop()
    const problems: unknown[] = []
    const workers = Array.from({ length: 3 }, () => startFolding({
      database, runtime: { sleep: (milliseconds) => wait(milliseconds / 200) }, report: (error) => problems.push(error),
    }))
    const creations = Promise.all(Array.from({ length: 40 }, () => created(cash)))
    let seen = 0
    for (let look = 0; look < 20; look += 1) {
      const answer = await call('listPaymentIntents', { as, query: { limit: '100' } })
      if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
      // Read before the entries are: none of those counted can be missing.
      expect(answer.body.total).toBeGreaterThanOrEqual(seen)
      expect(answer.body.intents.length).toBeGreaterThanOrEqual(answer.body.total)
      seen = answer.body.total
    }
    await creations
    expect(await totals()).toEqual({ intents: 40, payments: 40, events: 40 })
    await Promise.all(workers.map((worker) => worker.stop()))
    expect(await totals()).toEqual({ intents: 40, payments: 40, events: 40 })
    expect(problems).toEqual([])
  })

  test('know nothing of what was rolled back, or cut off in the middle', async () => {
    const { merchant, totals } = await shop()
    await expect(database.tx(async (sql) => {
      await insertIntent(sql, merchant)
      throw new Error('undone')
    })).rejects.toThrow('undone')
    await expect(database.tx(async (sql) => {
      await insertIntent(sql, merchant)
      const [own] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`
      await database.query((other) => other`select pg_terminate_backend(${own?.pid ?? 0}, 5000)`)
    })).rejects.toThrow()
    expect(await totals()).toEqual(none)
  })

  test('leave out what is being created or was refused, and have it with its attempt as soon as it is visible', async () => {
    const { as, totals } = await shop()
    const create = (amount_idr: number, key: string) => call('createPaymentIntent', { as, key, body: { amount_idr, allowed_channels: ['qris'], reference_id: key } })
    expect(await create(111_001, randomUUID())).toMatchObject({ status: 422 })
    const key = randomUUID()
    expect(await create(111_002, key)).toMatchObject({ status: 503 })
    expect(await totals()).toEqual(none)
    expect(await call('listPaymentIntents', { as, query: { search: key } })).toMatchObject({ status: 200, body: { intents: [], total: 0 } })
    expect(await create(111_002, key)).toMatchObject({ status: 201 })
    expect(await totals()).toEqual({ intents: 1, payments: 1, events: 1 })
    expect(await call('listPayments', { as, query: { search: key } })).toMatchObject({ status: 200, body: { payments: [{}], total: 1 } })
  })

  test('fall with what is deleted', async () => {
    const { merchant, created, totals } = await shop()
    const { id } = await created(cash)
    await created(cash)
    await database.tx(async (sql) => {
      await sql`delete from payments.events where intent_id = ${id} and merchant_id = ${merchant.id}`
      await sql`delete from payments.payment_attempts where intent_id = ${id} and merchant_id = ${merchant.id}`
      await sql`delete from payments.payment_intents where id = ${id} and merchant_id = ${merchant.id}`
    })
    expect(await totals()).toEqual({ intents: 1, payments: 1, events: 1 })
  })

  test('are those of one merchant, and of all within reach', async () => {
    const first = await shop()
    const second = await shop(first.merchant.tenantId)
    await shop(first.merchant.tenantId)
    await first.created(cash)
    await first.created(cash)
    await second.created(cash)
    await (await shop()).created(cash)
    const two = [first, second].map(({ merchant }) => ({ role: 'merchant_owner', scope: `merchant:${merchant.id}` }))
    const owner = await given.token(first.merchant, '', '', { bindings: two })
    const admin = await given.token(first.merchant, 'tenant_admin', '*')
    for (const as of [owner, admin]) {
      expect(await totalsOf(as)).toEqual({ intents: 3, payments: 3, events: 3 })
      expect(await totalsOf(as, { merchant_id: second.merchant.id })).toEqual({ intents: 1, payments: 1, events: 1 })
    }
  })
})

describe('adding up', () => {
  test('takes as many changes as it may, and leaves totals as they were', async () => {
    const { merchant, created, totals } = await shop()
    while (await database.tx((sql) => foldListChanges(sql, 100)) > 0);
    for (let count = 0; count < 4; count += 1) await created(cash)
    expect(await changes(merchant)).toBe(12)
    expect(await database.tx((sql) => foldListChanges(sql, 5))).toBe(5)
    expect(await changes(merchant)).toBe(7)
    expect(await totals()).toEqual({ intents: 4, payments: 4, events: 4 })
    expect(await database.tx((sql) => foldListChanges(sql, 100))).toBe(7)
    expect(await totals()).toEqual({ intents: 4, payments: 4, events: 4 })
  })

  test('does not wait for what another worker is adding, and takes nothing twice', async () => {
    const { created, merchant, totals } = await shop()
    await created(cash)
    await database.tx(async (sql) => {
      const mine = await foldListChanges(sql, 100)
      expect(mine).toBeGreaterThanOrEqual(3)
      expect(await database.tx((other) => foldListChanges(other, 100))).toBe(0)
      expect(await totals()).toEqual({ intents: 1, payments: 1, events: 1 })
    })
    expect(await changes(merchant)).toBe(0)
    expect(await totals()).toEqual({ intents: 1, payments: 1, events: 1 })
  })

  test('that is cut off loses nothing', async () => {
    const { created, merchant, totals } = await shop()
    await created(cash)
    await expect(database.tx(async (sql) => {
      await foldListChanges(sql, 100)
      throw new Error('cut off')
    })).rejects.toThrow('cut off')
    expect(await changes(merchant)).toBe(3)
    expect(await totals()).toEqual({ intents: 1, payments: 1, events: 1 })
  })
})
