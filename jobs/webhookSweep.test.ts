import { describe, expect, test } from 'vitest'
import { startPayments } from '../contract-tests/harness/payments.ts'
import { startReceiver } from '../contract-tests/harness/receiver.ts'
import { answering, trusting, webhooksOf } from '../contract-tests/harness/webhooks.ts'
import { newId } from '../db/ids.ts'
import { claimDueDeliveries } from '../db/payments/webhookClaims.ts'
import { extendDeliveryLeases } from '../db/payments/webhookDeliveries.ts'
import { putOffLateDeliveries } from '../db/payments/webhookSweeps.ts'
import type { Database, Sql } from '../db/sql.ts'
import { systemRuntime } from '../domain/runtime.ts'
import { writeEvent } from './paymentEvents.ts'
import { sweepDueLanes, sweepLapsedDeliveries, sweepLateDeliveries, sweepUnsettledSubscriptions } from './webhookSweep.ts'

const receiver = await startReceiver()
const bench = await startPayments({ settings: trusting(receiver) })
const { clock, creation, database, given } = bench
const hooks = webhooksOf(bench, receiver)

type Merchant = Awaited<ReturnType<typeof given.merchant>>
const happen = (merchant: Merchant) => database.tx((sql) => writeEvent(sql, {
  kind: 'payment.completed', tenantId: merchant.tenantId, merchantId: merchant.id, intentId: null, data: {},
}, creation, clock.now()))
const happened = async () => {
  const merchant = await given.merchant()
  const { id } = await hooks.subscribe(merchant, ['payment.completed'])
  await happen(merchant)
  return { merchant, subscriptionId: id, delivery: await hooks.delivery(id) }
}
const dropQueue = () => database.query((sql) => sql`delete from pgboss.job`)
const overdue = (id: string, seconds: number) => database.query((sql) => sql`
  update payments.webhook_deliveries set due_at = date_trunc('milliseconds', now() - ${seconds} * interval '1 second') where id = ${id}`)
const dueSubscriptions = async () => (await sweepDueLanes(hooks.settings)).map(({ subscription_id }) => subscription_id)
const claim = (lanes: readonly { merchant: Merchant, subscriptionId: string, most: number }[]) => database.query((sql) => claimDueDeliveries(
  sql, lanes.map(({ merchant, subscriptionId, most }) => ({ tenant_id: merchant.tenantId, merchant_id: merchant.id, subscription_id: subscriptionId, most })),
  Array.from({ length: 50 }, () => newId(systemRuntime)),
))
const silent = { send: () => new Promise<never>(() => undefined), close: () => Promise.resolve() }

describe('what is due', () => {
  test('is found from the rows, whatever happened to its job; what is not due yet, at work or done is not', async () => {
    const [due, fresh, later, atWork, done] = [await happened(), await happened(), await happened(), await happened(), await happened()]
    await dropQueue()
    await overdue(due.delivery.id, 31)
    await overdue(later.delivery.id, -60)
    await overdue(atWork.delivery.id, 31)
    hooks.deliver(atWork.delivery, { sender: silent }).catch(() => undefined)
    while (!(await hooks.delivery(atWork.subscriptionId)).leased);
    await hooks.deliver(done.delivery)
    await database.query((sql) => sql`
      update payments.webhook_deliveries set due_at = date_trunc('milliseconds', now()) + interval '1 second' where id = ${fresh.delivery.id}`)
    const found = await dueSubscriptions()
    expect(found).toContain(due.subscriptionId)
    for (const { subscriptionId } of [fresh, later, atWork, done]) expect(found).not.toContain(subscriptionId)
  })

  test('is found once for each subscription, however much it is', async () => {
    const { merchant, subscriptionId } = await happened()
    for (let n = 0; n < 5; n += 1) await happen(merchant)
    for (const { id } of await hooks.deliveries(subscriptionId)) await overdue(id, 10)
    expect((await dueSubscriptions()).filter((id) => id === subscriptionId)).toHaveLength(1)
  })

  test('is claimed many at once, the longest due first, and by two workers at once each by one of them', async () => {
    const [one, other] = [await happened(), await happened()]
    for (let n = 0; n < 5; n += 1) await happen(one.merchant)
    const deliveries = await hooks.deliveries(one.subscriptionId)
    for (const [at, { id }] of deliveries.entries()) await overdue(id, 100 - at)
    const claims = await Promise.all([claim([{ ...one, most: 2 }, { ...other, most: 2 }]), claim([{ ...one, most: 2 }, { ...other, most: 2 }])])
    const claimed = claims.flatMap((each) => each.claimed)
    const ids = (subscriptionId: string) => claimed.filter((each) => each.subscription_id === subscriptionId).map(({ id }) => id)
    expect(new Set(claimed.map(({ id }) => id)).size).toBe(claimed.length)
    expect(new Set(claimed.map(({ attempt_id }) => attempt_id)).size).toBe(claimed.length)
    expect(ids(one.subscriptionId).every((id) => deliveries.slice(0, 4).some((delivery) => delivery.id === id))).toBe(true)
    const rest = await claim([{ ...one, most: 10 }, { ...other, most: 10 }])
    const later = rest.claimed.filter((each) => each.subscription_id === one.subscriptionId).map(({ id }) => id)
    expect([...ids(one.subscriptionId), ...later].sort()).toEqual(deliveries.map(({ id }) => id).sort())
    for (const delivery of claimed) {
      const attempts = await hooks.attempts(delivery.id)
      expect(attempts.map(({ id, number, outcome }) => ({ id, number, outcome }))).toEqual([{ id: delivery.attempt_id, number: 1, outcome: null }])
    }
  })

  test('of an inactive subscription is not claimed, nor of one that somebody is changing: the claim does not wait', async () => {
    const [paused, changing] = [await happened(), await happened()]
    await database.query((sql) => sql`
      update payments.webhook_subscriptions set active = false, disabled_at = now(), disabled_reason = 'paused' where id = ${paused.subscriptionId}`)
    await database.tx(async (sql) => {
      await sql`select from payments.webhook_subscriptions where id = ${changing.subscriptionId} for no key update`
      const { active, claimed } = await claim([{ ...paused, most: 1 }, { ...changing, most: 1 }])
      expect(claimed).toEqual([])
      expect([...active]).toEqual([[paused.subscriptionId, false]])
    })
    expect((await claim([{ ...changing, most: 1 }])).claimed).toHaveLength(1)
  })
})

test('what waits behind many is put off before it is a minute late, once by two sweeps at once; it keeps its place in line', async () => {
  const { merchant, subscriptionId } = await happened()
  for (let n = 0; n < 9; n += 1) await happen(merchant)
  const deliveries = await hooks.deliveries(subscriptionId)
  for (const [at, { id }] of deliveries.entries()) await overdue(id, at < 5 ? 54 - at : 49 - at)
  const counts = await Promise.all([1, 2].map(() => database.query((sql) => putOffLateDeliveries(sql, 45, 100))))
  expect(counts.reduce((sum, count) => sum + count)).toBe(5)
  const due = (await hooks.deliveries(subscriptionId)).map(({ due_in }) => due_in ?? Number.NaN)
  for (const seconds of due.slice(0, 5)) {
    expect(seconds).toBeGreaterThan(45)
    expect(seconds).toBeLessThan(100)
  }
  expect(due.slice(0, 5)).toEqual(due.slice(0, 5).toSorted((a, b) => a - b))
  expect(due.slice(5).every((seconds) => seconds < -39)).toBe(true)
  expect(await sweepLateDeliveries(hooks.settings)).toBe(false)
  expect((await hooks.deliveries(subscriptionId)).every(({ due_in }) => due_in !== null && due_in > 0)).toBe(true)
  expect(await dueSubscriptions()).toContain(subscriptionId)
  const { claimed } = await claim([{ merchant, subscriptionId, most: 3 }])
  expect(claimed.map(({ id }) => id).sort()).toEqual(deliveries.slice(0, 3).map(({ id }) => id).sort())
})

test('a retry that is not due is not claimed early', async () => {
  const { merchant, subscriptionId, delivery } = await happened()
  await overdue(delivery.id, 50)
  await database.query((sql) => putOffLateDeliveries(sql, 45, 100))
  const [claimed] = (await claim([{ merchant, subscriptionId, most: 1 }])).claimed
  expect(claimed?.id).toBe(delivery.id)
  await hooks.lapse(delivery.id)
  await sweepLapsedDeliveries(hooks.settings)
  expect(await hooks.deliver(delivery, { sender: answering({ status: 500 }) })).toBe('retrying')
  expect((await claim([{ merchant, subscriptionId, most: 1 }])).claimed).toEqual([])
})

test('a lease that has not lapsed is left alone; one that has is freed once by two sweeps at once', async () => {
  const { delivery, subscriptionId } = await happened()
  const gone = hooks.deliver(delivery, { sender: silent })
  gone.catch(() => undefined)
  while (!(await hooks.delivery(subscriptionId)).leased);
  await sweepLapsedDeliveries(hooks.settings)
  expect(await hooks.delivery(subscriptionId)).toMatchObject({ leased: true })
  await dropQueue()
  await hooks.lapse(delivery.id)
  await Promise.all([1, 2].map(() => sweepLapsedDeliveries(hooks.settings)))
  expect(await hooks.delivery(subscriptionId)).toMatchObject({ leased: false, attempt: 1, round_failures: 0 })
  expect(await hooks.jobs(delivery.id)).toHaveLength(1)
  expect((await hooks.attempts(delivery.id)).map(({ outcome }) => outcome)).toEqual(['lost'])
})

test('a heartbeat extends the leases that are its worker\'s own, and tells which they still are', async () => {
  const [mine, other] = [await happened(), await happened()]
  for (const { delivery, subscriptionId } of [mine, other]) {
    hooks.deliver(delivery, { sender: silent }).catch(() => undefined)
    while (!(await hooks.delivery(subscriptionId)).leased) await Promise.resolve()
    await hooks.lapse(delivery.id)
  }
  const [attempt] = await hooks.attempts(mine.delivery.id)
  const [mineNow, unknown] = [{ id: mine.delivery.id, attempt_id: attempt?.id ?? '' }, { id: other.delivery.id, attempt_id: crypto.randomUUID() }]
  expect(await database.query((sql) => extendDeliveryLeases(sql, [mineNow, unknown]))).toEqual([attempt?.id])
  await sweepLapsedDeliveries(hooks.settings)
  expect(await hooks.delivery(mine.subscriptionId)).toMatchObject({ leased: true })
  expect(await hooks.delivery(other.subscriptionId)).toMatchObject({ leased: false })
})

test('a heartbeat waits for nobody and leaves young leases alone: what another is writing to at this moment is passed over', async () => {
  const all = [await happened(), await happened(), await happened()]
  const { claimed } = await claim(all.map((each) => ({ ...each, most: 1 })))
  expect(await database.query((sql) => extendDeliveryLeases(sql, claimed))).toEqual([])
  for (const { id } of claimed) await hooks.lapse(id)
  await database.tx(async (sql) => {
    await sql`select from payments.webhook_deliveries where id = ${claimed[1]?.id ?? ''} for update`
    const extended = await database.query((other) => extendDeliveryLeases(other, claimed))
    expect(extended.sort()).toEqual([claimed[0]?.attempt_id, claimed[2]?.attempt_id].sort())
  })
})

test('an activation that was not gone through to the end is gone on with by the sweep', async () => {
  const { delivery, subscriptionId } = await happened()
  await hooks.deliver(delivery, { sender: answering({ status: 500 }) })
  await database.query((sql) => sql`
    update payments.webhook_subscriptions set activated_at = clock_timestamp(), unsettled = true where id = ${subscriptionId}`)
  await database.query((sql) => sql`update payments.webhook_deliveries set due_at = null where id = ${delivery.id}`)
  expect(await sweepUnsettledSubscriptions(hooks.settings)).toBe(false)
  expect((await hooks.delivery(subscriptionId)).due_in).not.toBeNull()
  const [left] = await database.query((sql) => sql<{ count: number }[]>`select count(*)::int as count from payments.webhook_subscriptions where unsettled`)
  expect(left?.count).toBe(0)
})

describe('more subscriptions that were turned on than a sweep goes through', () => {
  const count = 90
  const copies = async () => {
    const { merchant, subscriptionId } = await happened()
    await database.query((sql) => sql`
      update payments.webhook_deliveries set due_at = null, scheduled_at = now() - interval '1 hour' where subscription_id = ${subscriptionId}`)
    const all = await database.query((sql) => sql<{ id: string }[]>`
      with subscriptions as (
        insert into payments.webhook_subscriptions (id, tenant_id, merchant_id, url, secret, events, active, unsettled, created_at, activated_at)
        select gen_random_uuid(), tenant_id, merchant_id, url, secret, events, active, true, created_at, clock_timestamp()
        from payments.webhook_subscriptions, generate_series(1, ${count}) where id = ${subscriptionId}
        returning id, tenant_id, merchant_id
      )
      insert into payments.webhook_deliveries
        (id, tenant_id, merchant_id, event_id, kind, subscription_id, status, round_started_at, due_at, scheduled_at, created_at)
      select gen_random_uuid(), s.tenant_id, s.merchant_id, d.event_id, d.kind, s.id, 'pending', now(), null, now() - interval '1 hour', now()
      from subscriptions s, payments.webhook_deliveries d where d.subscription_id = ${subscriptionId}
      returning subscription_id as id`)
    const ids = all.map(({ id }) => id).sort()
    return { merchant, ids, last: ids.at(-1) ?? '' }
  }
  const awake = async (ids: readonly string[]) => {
    const rows = await database.query((sql) => sql<{ id: string }[]>`
      select subscription_id as id from payments.webhook_deliveries where subscription_id = any(${ids as string[]}::uuid[]) and due_at is not null`)
    return rows.map(({ id }) => id)
  }
  const wokenUntil = (ids: readonly string[], seconds: number | null) => database.query((sql) => sql`
    update payments.webhook_subscriptions set woken_until = now() + ${seconds} * interval '1 second' where id = any(${ids as string[]}::uuid[])`)

  test('hold up no other: those that have deliveries due for a while yet are passed over', async () => {
    const { ids, last } = await copies()
    await wokenUntil(ids, 600)
    await wokenUntil([last], null)
    expect(await sweepUnsettledSubscriptions(hooks.settings)).toBe(false)
    expect(await awake(ids)).toEqual([last])
  })

  test('are gone through in the order of their neglect', async () => {
    const { ids, last } = await copies()
    await wokenUntil(ids, 5)
    await wokenUntil([last], -5)
    await sweepUnsettledSubscriptions(hooks.settings)
    const first = await awake(ids)
    expect(first).toContain(last)
    expect(first.length).toBeLessThan(count)
    await sweepUnsettledSubscriptions(hooks.settings)
    expect((await awake(ids)).sort()).toEqual(ids)
  })

  test('are gone through even where one of them cannot be: that is told once the others are done', async () => {
    const { ids, last } = await copies()
    await wokenUntil(ids, 600)
    const two = [ids[0] ?? '', last]
    await wokenUntil(two, null)
    let begun = 0
    const failingOnce: Database['tx'] = (work: (sql: Sql) => Promise<never>) => {
      begun += 1
      return begun === 1 ? Promise.reject(new Error('broken')) : hooks.settings.database.tx(work)
    }
    const database = { ...hooks.settings.database, tx: failingOnce }
    await expect(sweepUnsettledSubscriptions({ ...hooks.settings, database })).rejects.toThrow('broken')
    expect(await awake(ids)).toHaveLength(1)
    await sweepUnsettledSubscriptions(hooks.settings)
    expect((await awake(ids)).sort()).toEqual([...two].sort())
  })

  test('are ended though they were deleted while their deliveries were being made due', async () => {
    const { ids } = await copies()
    await wokenUntil(ids, 600)
    await database.query((sql) => sql`
      update payments.webhook_subscriptions set active = false, deleted_at = now() where id = any(${ids}::uuid[])`)
    const pending = async () => (await Promise.all(ids.map((id) => hooks.delivery(id)))).filter(({ status }) => status === 'pending').length
    await sweepUnsettledSubscriptions(hooks.settings)
    expect(await pending()).toBeLessThan(count)
    await sweepUnsettledSubscriptions(hooks.settings)
    expect(await pending()).toBe(0)
  })
})

test('what a deletion left is ended by the sweep', async () => {
  const { delivery, subscriptionId } = await happened()
  await database.query((sql) => sql`
    update payments.webhook_subscriptions set active = false, deleted_at = now(), unsettled = true where id = ${subscriptionId}`)
  await sweepUnsettledSubscriptions(hooks.settings)
  expect(await hooks.delivery(subscriptionId)).toMatchObject({ id: delivery.id, status: 'dead', dead_reason: 'subscription_deleted' })
})

test('the sweeps go by index, however many deliveries are done', async () => {
  const { merchant, subscriptionId } = await happened()
  await database.tx(async (sql) => {
    await sql`
      with copies as (
        insert into payments.events (id, tenant_id, merchant_id, kind, body, created_at)
        select gen_random_uuid(), ${merchant.tenantId}::uuid, ${merchant.id}::uuid, 'payment.completed', '{}', now() from generate_series(1, 5000) returning id)
      insert into payments.webhook_deliveries
        (id, tenant_id, merchant_id, event_id, subscription_id, status, round_started_at, scheduled_at, created_at, ended_at)
      select gen_random_uuid(), ${merchant.tenantId}::uuid, ${merchant.id}::uuid, id, ${subscriptionId}::uuid, 'delivered', now(), now(), now(), now() from copies`
    await sql`
      insert into payments.webhook_subscriptions (id, tenant_id, merchant_id, url, secret, events, active, created_at, activated_at)
      select gen_random_uuid(), tenant_id, merchant_id, url, secret, events, active, created_at, activated_at
      from payments.webhook_subscriptions, generate_series(1, 5000) where id = ${subscriptionId}`
    await sql`analyze payments.webhook_deliveries, payments.webhook_subscriptions`
  })
  const planOf = async (statement: string) => {
    const rows = await database.query((sql) => sql.unsafe<{ 'QUERY PLAN': string }[]>(`explain ${statement}`))
    return rows.map((row) => row['QUERY PLAN']).join('\n')
  }
  expect(await planOf(`select id from payments.webhook_deliveries
    where status = 'pending' and lease_token is null and due_at < now() - interval '40 seconds'
    order by due_at limit 2000`)).toContain('webhook_deliveries_due')
  expect(await planOf(`select id from payments.webhook_deliveries
    where subscription_id = '${subscriptionId}' and status = 'pending' and lease_token is null and due_at is not null and coalesce(waits_since, due_at) <= now()
    order by coalesce(waits_since, due_at) limit 10`)).toContain('webhook_deliveries_line')
  expect(await planOf(`select subscription_id from payments.webhook_deliveries
    where status = 'pending' and lease_token is null and due_at is not null and subscription_id > '${subscriptionId}'
    order by subscription_id, coalesce(waits_since, due_at) limit 1`)).toContain('webhook_deliveries_line')
  expect(await planOf(`select id from payments.webhook_deliveries
    where lease_token is not null and lease_until < now() order by lease_until limit 200`)).toMatch(/webhook_deliveries_leased?/)
  expect(await planOf(`select id from payments.webhook_subscriptions
    where unsettled and (deleted_at is not null or woken_until is null or woken_until < now() + interval '20 seconds')
    order by woken_until nulls first, id limit 70`)).toContain('webhook_subscriptions_neglected')
})
