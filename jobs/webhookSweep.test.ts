import { expect, test } from 'vitest'
import { startPayments } from '../contract-tests/harness/payments.ts'
import { startReceiver } from '../contract-tests/harness/receiver.ts'
import { answering, trusting, webhooksOf } from '../contract-tests/harness/webhooks.ts'
import { extendDeliveryLeases } from '../db/payments/webhookDeliveries.ts'
import { postponeDeliveries } from '../db/payments/webhookSweeps.ts'
import { writeEvent } from './paymentEvents.ts'
import { sweepLapsedDeliveries, sweepOverdueDeliveries, sweepUnsettledSubscriptions } from './webhookSweep.ts'

const receiver = await startReceiver()
const bench = await startPayments({ settings: trusting(receiver) })
const { clock, creation, database, given } = bench
const hooks = webhooksOf(bench, receiver)

const happened = async () => {
  const merchant = await given.merchant()
  const { id } = await hooks.subscribe(merchant, ['payment.completed'])
  await database.tx((sql) => writeEvent(sql, {
    kind: 'payment.completed', tenantId: merchant.tenantId, merchantId: merchant.id, intentId: null, data: {},
  }, creation, clock.now()))
  return { merchant, subscriptionId: id, delivery: await hooks.delivery(id) }
}
const dropQueue = () => database.query((sql) => sql`delete from pgboss.job`)
const overdue = (id: string, seconds: number) => database.query((sql) => sql`
  update payments.webhook_deliveries set due_at = date_trunc('milliseconds', now() - ${seconds} * interval '1 second') where id = ${id}`)

test('deliveries overdue by 30 s get the job that was lost, and those with a job get no second one, however often it is swept', async () => {
  const { delivery } = await happened()
  const { delivery: fresh } = await happened()
  await dropQueue()
  await overdue(delivery.id, 31)
  await overdue(fresh.id, 29)
  for (let n = 0; n < 3; n += 1) await sweepOverdueDeliveries(hooks.settings)
  expect(await hooks.jobs(delivery.id)).toHaveLength(1)
  expect(await hooks.jobs(fresh.id)).toHaveLength(0)
})

test('two sweeps at once add one job', async () => {
  const { delivery } = await happened()
  await dropQueue()
  await overdue(delivery.id, 40)
  await Promise.all([1, 2, 3, 4].map(() => sweepOverdueDeliveries(hooks.settings)))
  expect(await hooks.jobs(delivery.id)).toHaveLength(1)
})

test('a lease that has not lapsed is left alone; one that has is freed once by two sweeps at once', async () => {
  const { delivery, subscriptionId } = await happened()
  const gone = hooks.deliver(delivery, { sender: { send: () => new Promise(() => undefined), close: () => Promise.resolve() } })
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
    hooks.deliver(delivery, { sender: { send: () => new Promise(() => undefined), close: () => Promise.resolve() } }).catch(() => undefined)
    while (!(await hooks.delivery(subscriptionId)).leased) await Promise.resolve()
    await hooks.lapse(delivery.id)
  }
  const [attempt] = await hooks.attempts(mine.delivery.id)
  const unknown = crypto.randomUUID()
  expect(await database.query((sql) => extendDeliveryLeases(sql, [attempt?.id ?? '', unknown]))).toEqual([attempt?.id])
  await sweepLapsedDeliveries(hooks.settings)
  expect(await hooks.delivery(mine.subscriptionId)).toMatchObject({ leased: true })
  expect(await hooks.delivery(other.subscriptionId)).toMatchObject({ leased: false })
})

test('what a worker has no room for is put off, unless it is at work or not due', async () => {
  const { delivery, subscriptionId } = await happened()
  const [postponed] = await database.query((sql) => postponeDeliveries(sql, [delivery.id], [40_000]))
  expect(postponed).toMatchObject({ id: delivery.id, attempt: 0 })
  const { due_in } = await hooks.delivery(subscriptionId)
  expect(due_in).toBeGreaterThan(38)
  expect(due_in).toBeLessThanOrEqual(40)
  expect(await database.query((sql) => postponeDeliveries(sql, [delivery.id], [1]))).toEqual([])
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
    await sql`analyze payments.webhook_deliveries`
  })
  const planOf = async (statement: string) => {
    const rows = await database.query((sql) => sql.unsafe<{ 'QUERY PLAN': string }[]>(`explain ${statement}`))
    return rows.map((row) => row['QUERY PLAN']).join('\n')
  }
  expect(await planOf(`select id from payments.webhook_deliveries
    where status = 'pending' and lease_token is null and due_at < now() - interval '30 seconds' order by due_at limit 2000`)).toContain('webhook_deliveries_due')
  expect(await planOf(`select id from payments.webhook_deliveries
    where lease_token is not null and lease_until < now() order by lease_until limit 200`)).toMatch(/webhook_deliveries_leased?/)
})
