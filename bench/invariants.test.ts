import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { startPayments } from '../contract-tests/harness/payments.ts'
import type { Database, Sql } from '../db/sql.ts'
import { checkInvariants, readInvariants } from './invariants.ts'

const { call, database, given, simulator } = await startPayments({ settings: { PROVIDER_TIMEOUT_MS: '250' } })
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
const paid = await make({})
await simulator.pay((await simulator.charges()).charges[0]?.reference ?? '')
const open = await make({})
const choice = await make({ allowed_channels: ['qris', 'va_bank_a'] })
const refused = await make({ amount_idr: 50_000, allowed_channels: ['paylater_a'] })
const silent = await make({ amount_idr: 111_003 })

class Undone extends Error {}

/** Names of the invariants that a change breaks; the change is undone. */
const brokenBy = async (change: (sql: Sql) => Promise<unknown>): Promise<string[]> => {
  const broken: string[] = []
  await database.tx(async (sql) => {
    await change(sql)
    const within = { readTx: (work: (sql: Sql) => Promise<unknown>) => work(sql) } as Database
    for (const { name, offenders } of await checkInvariants(within)) if (offenders.length > 0) broken.push(name)
    throw new Undone()
  }).catch((error: unknown) => {
    if (!(error instanceof Undone)) throw error
  })
  return broken
}

/** For each invariant a change that no constraint refuses. */
const breakages: [name: string, (sql: Sql) => Promise<unknown>][] = [
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
  ['I4.money_is_attempts', (sql) => sql`update payments.payment_intents set overpaid_idr = 5 where id = ${paid}`],
  ['I4.uses_are_attempts', (sql) => sql`
    update payments.payment_attempts set status = 'expired', completed_at = null where intent_id = ${paid}`],
  ['I4.hidden_took_nothing', (sql) => sql`
    update payments.payment_intents set status = 'cancelled', ended_at = now() where id = ${refused}`],
  ['I4.shown_when_answered', (sql) => sql`
    update payments.payment_attempts set charge_reference = null where intent_id = ${open}`],
  ['I4.shown_early_by_money', (sql) => sql`update payments.payment_intents set visible = true where id = ${silent}`],
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
  ['I5.event_is_what_it_says', (sql) => sql`
    insert into payments.events (id, tenant_id, merchant_id, kind, intent_id, body, created_at)
    select ${randomUUID()}, tenant_id, merchant_id, kind, intent_id, body, created_at from payments.events
    where intent_id = ${open}`],
  ['I5.applied_proof_is_money', (sql) => sql`
    update payments.provider_callbacks set intent_id = ${open} where intent_id = ${paid}`],
  ['I6.no_operation_overdue', (sql) => sql`
    update payments.provider_operations set next_try_at = now() - interval '61 seconds',
    lease_until = now() - interval '61 seconds'
    where intent_id = ${silent}`],
  ['I8.key_of_its_tenant', (sql) => sql`
    update payments.idempotency_keys set owner_id = ${randomUUID()} where resource_id = ${choice}`],
]

describe('the invariants', () => {
  test('hold after creations, a refusal, a silent provider and a payment', async () => {
    expect(await brokenBy(async () => undefined)).toEqual([])
  })

  test('each has a change here that breaks it', () => {
    expect(breakages.map(([name]) => name)).toEqual(readInvariants().map(({ name }) => name))
  })

  test.each(breakages)('%s is found broken', async (name, change) => {
    expect(await brokenBy(change)).toContain(name)
  })

  test('a part of the script that is no invariant is refused', () => {
    expect(() => readInvariants('-- I1.something: holds\nselect 1; select 2;\n')).toThrow('no invariant')
    expect(() => readInvariants('-- I1.a: holds\nselect 1;\n\n-- I1.a: holds\nselect 1;\n')).toThrow('twice')
  })
})
