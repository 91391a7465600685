import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { startPayments } from '../contract-tests/harness/payments.ts'
import { dueWithdrawals, withdrawCharge } from './chargeWithdrawal.ts'
import { purgeDue } from './retention.ts'
import { writeEvent } from './paymentEvents.ts'

const dayMs = 86_400_000
const { call, clock, creation, database, given, service, settled, simulator } = await startPayments()
const merchant = await given.merchant()
const as = await given.apiKey(merchant)
const choice = { amount_idr: 1000, allowed_channels: ['qris', 'va_bank_b'] }
const count = async (table: 'idempotency_keys' | 'api_key_requests' | 'provider_callbacks' | 'charge_withdrawals', having = 'true') => {
  const [row] = await database.query((sql) => sql.unsafe<{ count: number }[]>(`select count(*)::int as count from payments.${table} where ${having}`))
  return row?.count
}

test('a stored reply goes after 30 days and its key stays; a refusal and a younger reply stay', async () => {
  const key = randomUUID()
  const first = await call('createPaymentIntent', { as, key, body: choice })
  await call('createPaymentIntent', { as, key: randomUUID(), body: { amount_idr: 1000, allowed_channels: ['paylater_a'] } })
  clock.advance(30 * dayMs)
  await call('createPaymentIntent', { as, key: randomUUID(), body: choice })
  await purgeDue(database, clock.now())
  expect(await count('idempotency_keys', 'reply is not null')).toBe(3)
  clock.advance(1)
  await purgeDue(database, clock.now())
  expect(await count('idempotency_keys')).toBe(3)
  expect(await count('idempotency_keys', 'reply is not null')).toBe(2)
  const again = await call('createPaymentIntent', { as, key, body: choice })
  expect(again).toMatchObject({ status: 201, body: { id: (first.body as { id: string }).id, status: 'expired' } })
})

test('a callback of a provider goes after the days that are set, one that is still to be processed stays, and so does what it told of', async () => {
  const intent = await call('createPaymentIntent', { as, key: randomUUID(), body: { amount_idr: 150_000, allowed_channels: ['va_bank_a'] } })
  const { id } = intent.body as { id: string }
  const [charge] = (await simulator.charges()).charges
  const reference = charge?.reference ?? ''
  await settled(simulator.pay(reference))
  await simulator.next('absent', { on: 'find' })
  await settled(simulator.notify(reference, { status: 'reversed' }))
  expect(await count('provider_callbacks')).toBe(2)
  clock.advance(40 * dayMs)
  await purgeDue(database, clock.now(), { callbacks: 40 })
  expect(await count('provider_callbacks')).toBe(2)
  clock.advance(1)
  await purgeDue(database, clock.now(), { callbacks: 40 })
  expect(await count('provider_callbacks', 'next_try_at is not null')).toBe(1)
  expect(await count('provider_callbacks')).toBe(1)
  expect(await call('getPaymentIntent', { as, params: { id } })).toMatchObject({ body: { status: 'paid' } })
})

test('a record of a request by key goes after 90 days', async () => {
  for (const ending of service.endings) await ending()
  expect(await count('api_key_requests')).toBeGreaterThan(0)
  clock.advance(90 * dayMs + 1)
  await purgeDue(database, clock.now())
  expect(await count('api_key_requests')).toBe(0)
})

test('the withdrawal of a charge goes 30 days after it was done; one that waits for its provider stays', async () => {
  for (const channel of ['va_bank_a', 'va_bank_b']) {
    const intent = await call('createPaymentIntent', { as, key: randomUUID(), body: { amount_idr: 150_000, allowed_channels: [channel] } })
    await call('cancelPaymentIntent', { as, params: { id: (intent.body as { id: string }).id } })
  }
  const [first] = await dueWithdrawals(creation, 'simulator', 2)
  if (!first) throw new Error('nothing is to be withdrawn')
  await withdrawCharge(first, creation)
  clock.advance(30 * dayMs)
  await purgeDue(database, clock.now())
  expect(await count('charge_withdrawals')).toBe(2)
  clock.advance(1)
  await purgeDue(database, clock.now())
  expect(await count('charge_withdrawals')).toBe(1)
  expect(await count('charge_withdrawals', 'done_at is null')).toBe(1)
})

describe('finished deliveries of webhooks', () => {
  const hook = async () => {
    const owner = await given.merchant()
    const token = await given.token(owner, 'merchant_owner', `merchant:${owner.id}`)
    const answer = await call('createWebhookSubscription', { as: token, body: { url: 'https://shop.example/hook', events: ['payment.completed'] } })
    if (answer.status !== 201) throw new Error('no subscription')
    const happen = () => database.tx((sql) => writeEvent(sql, {
      kind: 'payment.completed', tenantId: owner.tenantId, merchantId: owner.id, intentId: null, data: {},
    }, creation, clock.now()))
    /** Ends the newest delivery, `days` ago, after `attempts`. */
    const end = async (status: 'delivered' | 'dead', days: number, attempts: number) => {
      const [row] = await database.query((sql) => sql<{ id: string }[]>`
        update payments.webhook_deliveries
        set status = ${status}, dead_reason = ${status === 'dead' ? 'exhausted' : null}, due_at = null, attempt = ${attempts},
          ended_at = ${new Date(clock.now().getTime() - days * dayMs)}
        where merchant_id = ${owner.id} and status = 'pending' returning id`)
      await database.query((sql) => sql`
        insert into payments.webhook_attempts (id, tenant_id, merchant_id, delivery_id, number, outcome, started_at, ended_at)
        select gen_random_uuid(), ${owner.tenantId}::uuid, ${owner.id}::uuid, ${row?.id ?? null}::uuid, n, 'failed', now(), now()
        from generate_series(1, ${attempts}::int) n`)
      return row?.id
    }
    const left = () => database.query((sql) => sql<{ id: string, attempts: number }[]>`
      select d.id, (select count(*)::int from payments.webhook_attempts a where a.delivery_id = d.id) as attempts
      from payments.webhook_deliveries d where merchant_id = ${owner.id} order by d.id`)
    return { owner, token, happen, end, left }
  }

  test('go after the days that are set, delivered and dead alike, with their attempts; younger and pending ones stay, and so do the events', async () => {
    const { token, happen, end, left } = await hook()
    await happen()
    await end('delivered', 8, 1)
    await happen()
    await end('dead', 8, 3)
    await happen()
    const young = await end('delivered', 6, 2)
    await happen()
    await purgeDue(database, clock.now(), { webhooks: 7 })
    const rest = await left()
    expect(rest).toHaveLength(2)
    expect(rest.find(({ id }) => id === young)).toEqual({ id: young, attempts: 2 })
    expect((await call('listWebhookDeliveries', { as: token })).body).toMatchObject({ total: 2 })
    expect((await call('listEvents', { as: token })).body).toMatchObject({ total: 4 })
    const [noted] = await database.query((sql) => sql<{ purged_before: Date }[]>`select purged_before from payments.webhook_retention`)
    expect(noted?.purged_before).toEqual(new Date(clock.now().getTime() - 7 * dayMs))
    await purgeDue(database, clock.now())
    expect(await left()).toHaveLength(2)
  })

  /** 2,000 deliveries of a merchant, each of an event of its own, that ended some days ago. */
  const fill = async (merchantId: string, days: number) => {
    await database.tx((sql) => sql`
      with copies as (
        insert into payments.events (id, tenant_id, merchant_id, kind, body, created_at)
        select gen_random_uuid(), tenant_id, merchant_id, kind, '{}', created_at
        from payments.events, generate_series(1, 2000)
        where merchant_id = ${merchantId} and body <> '{}'
        returning id, tenant_id, merchant_id, created_at
      ), deliveries as (
        insert into payments.webhook_deliveries
          (id, tenant_id, merchant_id, event_id, kind, subscription_id, status, round_started_at, scheduled_at, created_at, ended_at)
        select gen_random_uuid(), c.tenant_id, c.merchant_id, c.id, 'payment.completed', s.id, 'delivered', now(), now(), now(),
          ${new Date(clock.now().getTime() - days * dayMs)}
        from copies c join payments.webhook_subscriptions s on s.merchant_id = c.merchant_id
        returning id, tenant_id, merchant_id
      )
      insert into payments.webhook_attempts (id, tenant_id, merchant_id, delivery_id, number, outcome, started_at, ended_at)
      select gen_random_uuid(), tenant_id, merchant_id, id, 1, 'succeeded', now(), now() from deliveries`)
  }

  test('are found by index, however many are kept', async () => {
    const { owner, happen } = await hook()
    await happen()
    await fill(owner.id, 1)
    await database.query((sql) => sql`analyze payments.webhook_deliveries`)
    const plan = await database.query((sql) => sql.unsafe<{ 'QUERY PLAN': string }[]>(`
      explain select id from payments.webhook_deliveries where ended_at < '2020-01-01' order by ended_at limit 500 for update skip locked`))
    expect(plan.map((row) => row['QUERY PLAN']).join()).toContain('webhook_deliveries_ended')
  })

  test('leave no growing tables: ten times as much written and forgotten again takes the room of once, whatever is kept beside it', async () => {
    const { owner, happen } = await hook()
    await happen()
    const size = async () => {
      const [row] = await database.query((sql) => sql<{ bytes: number }[]>`
        select (pg_total_relation_size('payments.webhook_deliveries') + pg_total_relation_size('payments.webhook_attempts'))::int8 as bytes`)
      return row?.bytes ?? 0
    }
    const cycle = async () => {
      await fill(owner.id, 31)
      await purgeDue(database, clock.now())
      // Autovacuum comes by itself, but not at a time that a test can wait for.
      await database.query((sql) => sql`vacuum payments.webhook_deliveries`)
      await database.query((sql) => sql`vacuum payments.webhook_attempts`)
      return size()
    }
    const sizes = []
    for (let n = 0; n < 10; n += 1) sizes.push(await cycle())
    expect((sizes.at(-1) ?? Infinity) / (sizes[1] ?? 1)).toBeLessThan(1.3)
  })
})
