import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { startPayments } from '../contract-tests/harness/payments.ts'
import { startReceiver } from '../contract-tests/harness/receiver.ts'
import { answering, webhooksOf } from '../contract-tests/harness/webhooks.ts'
import { insertAuditEvent } from '../db/payments/auditEvents.ts'
import type { Database, Sql } from '../db/sql.ts'
import { checkInvariants, readInvariants } from './invariants.ts'
import type { Acknowledged } from './invariants.ts'

const bench = await startPayments({ settings: { PROVIDER_TIMEOUT_MS: '250' } })
const { call, database, given, settled, simulator } = bench
const hooks = webhooksOf(bench, await startReceiver())
const merchant = await given.merchant()
const as = await given.apiKey(merchant)

/** An intent of each kind: paid, with one channel, with several, refused, and one whose provider is silent. */
const make = async (body: object): Promise<string> => {
  const key = randomUUID()
  const request = { amount_idr: 150_000, allowed_channels: ['qris'], reference_id: key, ...body }
  await call('createPaymentIntent', { as, key, body: request })
  const [row] = await database.query((sql) => sql<{ id: string }[]>`
    select id from payments.payment_intents where reference_id = ${key}`)
  return row?.id ?? ''
}
const chargeOf = async (id: string): Promise<string> => {
  const [row] = await database.query((sql) => sql<{ charge_reference: string }[]>`
    select charge_reference from payments.payment_attempts where intent_id = ${id}`)
  return row?.charge_reference ?? ''
}
const pay = async (id: string): Promise<void> => {
  await simulator.pay(await chargeOf(id), { force: true })
  await settled()
}
const paid = await make({})
await pay(paid)
const { id: subscription } = await hooks.subscribe(merchant, ['payment.completed'])
const overpaid = await make({})
await pay(overpaid)
await pay(overpaid)
const reversed = await make({})
await pay(reversed)
await simulator.move(await chargeOf(reversed), 'reverse')
await settled()
const open = await make({})
const choice = await make({ allowed_channels: ['qris', 'va_bank_a'] })
const declined = await make({})
await simulator.move(await chargeOf(declined), 'decline')
await settled()
const refused = await make({ amount_idr: 50_000, allowed_channels: ['paylater_a'] })
const silent = await make({ amount_idr: 111_003 })
for (const delivery of await hooks.deliveries(subscription)) await hooks.deliver(delivery, { sender: answering({ status: 204 }) })
const [delivered] = await hooks.deliveries(subscription)
const delivery = delivered?.id ?? ''
const acknowledged: Acknowledged[] = [
  { kind: 'paid_intent', id: paid }, { kind: 'intent', id: open }, { kind: 'event', id: delivered?.event_id ?? '' },
]

class Undone extends Error {}

/** Names of the invariants that a change breaks; the change is undone. */
const brokenBy = async (change: (sql: Sql) => Promise<unknown>): Promise<string[]> => {
  const broken: string[] = []
  await database.tx(async (sql) => {
    await change(sql)
    const within = { readTx: (work: (sql: Sql) => Promise<unknown>) => work(sql) } as Database
    for (const { name, offenders } of await checkInvariants(within, acknowledged)) if (offenders.length > 0) broken.push(name)
    throw new Undone()
  }).catch((error: unknown) => {
    if (!(error instanceof Undone)) throw error
  })
  return broken
}

/** An audit row as of a sensitive write to the open intent, but for what is given. */
const auditRow = (sql: Sql, { target = `payment_intent:${open}`, changedKeys = [], keyPrefix = null }: { target?: string, changedKeys?: string[], keyPrefix?: string | null }) =>
  insertAuditEvent(sql, {
    id: randomUUID(), tenantId: merchant.tenantId, merchantId: merchant.id, actor: 'user:tester', action: 'payments.test', target, requestId: randomUUID(), keyPrefix,
    changedKeys, createdAt: new Date(),
  })

/** For each invariant a change that no constraint refuses. */
const breakages: [name: string, (sql: Sql) => Promise<unknown>][] = [
  ['I1.acknowledged_exists', (sql) => sql`update payments.payment_intents set visible = false where id = ${open}`],
  ['I2.one_intent_per_key', (sql) => sql`
    update payments.provider_operations set idempotency_key = (select idempotency_key from payments.provider_operations
    where intent_id = ${open})
    where intent_id = ${paid}`],
  ['I2.one_key_per_intent', (sql) => sql`
    update payments.idempotency_keys set resource_id = ${open} where resource_id = ${paid}`],
  ['I2.answered_intent_exists', (sql) => sql`
    update payments.idempotency_keys set resource_id = ${randomUUID()} where resource_id = ${open}`],
  ['I2.key_ends_with_its_operation', (sql) => sql`
    update payments.provider_operations set recovery_point = 'started', finished_at = null where intent_id = ${open}`],
  ['I2.no_key_left_open', (sql) => sql`
    update payments.idempotency_keys set status = null, replied_at = null where resource_id = ${choice}`],
  ['I4.ended_when', (sql) => sql`update payments.payment_intents set ended_at = now() where id = ${open}`],
  ['I4.paid_when', (sql) => sql`update payments.payment_intents set paid_at = now() where id = ${open}`],
  ['I4.paid_once_in_full', (sql) => sql`
    update payments.payment_intents set paid_idr = paid_idr - 1 where id = ${paid}`],
  ['I4.money_is_attempts', (sql) => sql`update payments.cases set expected_idr = null where intent_id = ${reversed}`],
  ['I4.uses_are_attempts', (sql) => sql`
    update payments.payment_attempts set status = 'expired', completed_at = null where intent_id = ${paid}`],
  ['I4.overpaid_has_case', (sql) => sql`update payments.cases set received_idr = received_idr - 1 where intent_id = ${overpaid}`],
  ['I4.reversed_has_case', (sql) => sql`update payments.cases set kind = 'dispute' where intent_id = ${reversed}`],
  ['I4.case_of_its_merchant', (sql) => sql`update payments.cases set intent_id = ${open} where intent_id = ${overpaid}`],
  ['I4.hidden_took_nothing', (sql) => sql`
    update payments.payment_intents set status = 'cancelled', ended_at = now() where id = ${refused}`],
  ['I4.shown_when_answered', (sql) => sql`
    update payments.payment_attempts set charge_reference = null where intent_id = ${open}`],
  ['I4.shown_early_by_proof', (sql) => sql`update payments.payment_intents set visible = true where id = ${silent}`],
  ['I4.attempt_of_its_intent', (sql) => sql`
    update payments.payment_intents set current_attempt_id = (
      select id from payments.payment_attempts where intent_id = ${paid})
    where id = ${open}`],
  ['I4.one_operation_per_attempt', (sql) => sql`
    update payments.payment_attempts set provider_key = ${randomUUID()} where intent_id = ${open}`],
  ['I5.created_once', (sql) => sql`delete from payments.events where intent_id = ${choice}`],
  ['I5.created_first', (sql) => sql`
    insert into payments.events (id, tenant_id, merchant_id, kind, intent_id, body, created_at)
    select gen_random_uuid(), tenant_id, merchant_id, 'payment.completed', id, '{}', created_at
    from payments.payment_intents
    where id = ${silent}`],
  ['I5.completed_per_use', (sql) => sql`
    delete from payments.events where intent_id = ${paid} and kind = 'payment.completed'`],
  ['I5.expired_once', (sql) => sql`
    update payments.payment_intents set status = 'expired', ended_at = now() where id = ${open}`],
  ['I5.failed_once', (sql) => sql`
    delete from payments.events where intent_id = ${declined} and kind = 'payment.failed'`],
  ['I5.event_is_what_it_says', (sql) => sql`
    insert into payments.events (id, tenant_id, merchant_id, kind, intent_id, body, created_at)
    select ${randomUUID()}, tenant_id, merchant_id, kind, intent_id, body, created_at from payments.events
    where intent_id = ${open}`],
  ['I5.applied_proof_is_money', (sql) => sql`
    update payments.provider_callbacks set intent_id = ${open} where intent_id = ${paid}`],
  ['I5.doubted_money_has_case', (sql) => sql`
    update payments.provider_callbacks set outcome = 'unconfirmed' where intent_id = ${paid}`],
  ['I5.delivered_to_whom_it_matched', async (sql) => {
    await sql`delete from payments.webhook_attempts where delivery_id = ${delivery}`
    await sql`delete from payments.webhook_deliveries where id = ${delivery}`
  }],
  ['I5.delivery_of_its_event', (sql) => sql`update payments.webhook_deliveries set kind = 'payment.failed' where id = ${delivery}`],
  ['I6.no_operation_overdue', (sql) => sql`
    update payments.provider_operations set next_try_at = now() - interval '61 seconds',
    lease_until = now() - interval '61 seconds'
    where intent_id = ${silent}`],
  ['I6.no_callback_overdue', (sql) => sql`
    update payments.provider_callbacks set next_try_at = now() - interval '61 seconds' where intent_id = ${paid}`],
  ['I6.pending_is_checked', async (sql) => {
    await sql`update payments.payment_attempts set expires_at = null where intent_id = ${open}`
    await sql`delete from payments.attempt_checks`
  }],
  ['I6.no_delivery_overdue', async (sql) => {
    await sql`update payments.webhook_attempts set started_at = started_at - interval '61 seconds'`
    await sql`
      update payments.webhook_deliveries
      set status = 'pending', ended_at = null, due_at = now() + interval '1 minute', waits_since = now() - interval '61 seconds' where id = ${delivery}`
  }],
  ['I6.none_asleep', (sql) => sql`update payments.webhook_deliveries set status = 'pending', ended_at = null where id = ${delivery}`],
  ['I6.no_replay_overdue', (sql) => sql`
    insert into payments.webhook_replays (id, tenant_id, merchant_id, kind, fingerprint, status, due_at, created_at)
    values (gen_random_uuid(), ${merchant.tenantId}, ${merchant.id}, 'dead_letters', sha256(''), 'queued', now() - interval '61 seconds', now())`],
  ['I8.key_of_its_tenant', (sql) => sql`
    update payments.idempotency_keys set owner_id = ${randomUUID()} where resource_id = ${choice}`],
  ['I8.key_stays_with_its_merchant', (sql) => auditRow(sql, { keyPrefix: 'sk_test_none' })],
  ['I8.counted_for_its_merchant', (sql) => sql`
    insert into payments.list_totals (tenant_id, list, merchant_id, total) values (${randomUUID()}, 'events', ${merchant.id}, 0)`],
  ['I9.attempts_without_gap', (sql) => sql`update payments.webhook_attempts set number = 2 where delivery_id = ${delivery}`],
  ['I9.one_at_work', (sql) => sql`update payments.webhook_attempts set outcome = null, ended_at = null where delivery_id = ${delivery}`],
  ['I9.none_after_disabling', async (sql) => {
    await sql`
      update payments.webhook_subscriptions set active = false, disabled_at = now(), disabled_reason = 'paused' where id = ${subscription}`
    await sql`update payments.webhook_attempts set started_at = clock_timestamp() where delivery_id = ${delivery}`
  }],
  ['I10.sensitive_has_audit', (sql) => sql`update payments.payment_intents set status = 'cancelled', ended_at = now() where id = ${choice}`],
  ['I10.nothing_else_is_audited', (sql) => auditRow(sql, { target: `payment_intent:${randomUUID()}` })],
  ['I10.names_only', (sql) => auditRow(sql, { changedKeys: ['+62 812 0000 0000'] })],
  ['I12.seen_as_its_intent', (sql) => sql`update payments.payment_attempts set visible = false where intent_id = ${open}`],
  ['I12.visible_is_listed', (sql) => sql`update payments.listed_payments set words = 'others' where attempt_id in (
    select id from payments.payment_attempts where intent_id = ${open})`],
  ['I12.totals_are_counts', (sql) => sql`delete from payments.list_changes where ctid in (select min(ctid) from payments.list_changes)`],
]

describe('the invariants', () => {
  test('hold after creations, a refusal, a silent provider, a payment, one too many, one that was declined and one that was taken back', async () => {
    expect(await brokenBy(async () => undefined)).toEqual([])
  })

  test('each has a change here that breaks it', () => {
    expect(breakages.map(([name]) => name)).toEqual(readInvariants().map(({ name }) => name))
  })

  test.each(breakages)('%s is found broken', async (name, change) => {
    expect(await brokenBy(change)).toContain(name)
  })

  test('a delivery is not overdue while others of its subscription are attempted; a lease is, whatever else is attempted', async () => {
    const waiting = (sql: Sql) => sql`
      update payments.webhook_deliveries set status = 'pending', ended_at = null, due_at = now() - interval '61 seconds' where id = ${delivery}`
    expect(await brokenBy(waiting)).not.toContain('I6.no_delivery_overdue')
    expect(await brokenBy(async (sql) => {
      await waiting(sql)
      await sql`
        update payments.webhook_deliveries set lease_token = gen_random_uuid(), lease_until = now() - interval '61 seconds' where id = ${delivery}`
    })).toContain('I6.no_delivery_overdue')
  })

  test('a decline is told once, and of no attempt that was not declined', async () => {
    const tellAgain = (sql: Sql) => sql`
      insert into payments.events (id, tenant_id, merchant_id, kind, intent_id, body, created_at)
      select gen_random_uuid(), tenant_id, merchant_id, kind, intent_id, body, created_at from payments.events
      where intent_id = ${declined} and kind = 'payment.failed'`
    expect(await brokenBy(tellAgain)).toContain('I5.failed_once')
    const pending = (sql: Sql) => sql`
      update payments.payment_attempts set status = 'pending', failure_code = null where intent_id = ${declined}`
    expect(await brokenBy(pending)).toContain('I5.failed_once')
  })

  test('a part of the script that is no invariant is refused', () => {
    expect(() => readInvariants('-- I1.something: holds\nselect 1; select 2;\n')).toThrow('no invariant')
    expect(() => readInvariants('-- I1.a: holds\nselect 1;\n\n-- I1.a: holds\nselect 1;\n')).toThrow('twice')
  })
})
