import type { Sql } from '../sql.ts'

export type AttemptStatus = 'pending' | 'succeeded' | 'failed' | 'expired' | 'reversed'

export interface PaymentAttemptRow {
  id: string
  tenant_id: string
  merchant_id: string
  intent_id: string
  channel: string
  amount_idr: number
  status: AttemptStatus
  /** Takes several payments, each recorded as an attempt of its own beside it (decision 3.4). */
  standing: boolean
  provider: string | null
  /** Id of the provider operation that made the charge; null on payments recorded beside a standing attempt. */
  provider_key: string | null
  charge_reference: string | null
  provider_reference: string | null
  fields: Record<string, string>
  failure_code: string | null
  expires_at: Date | null
  created_at: Date
  completed_at: Date | null
}

export type NewPaymentAttempt = Pick<PaymentAttemptRow,
  'id' | 'tenant_id' | 'merchant_id' | 'intent_id' | 'channel' | 'amount_idr' | 'standing' | 'provider' | 'provider_key' | 'expires_at' | 'created_at'> & {
    /** When its provider is asked about it first; null where there is none. */
    next_check_at: Date | null
  }

/** Inserts a pending attempt, and with it the first check at its provider. */
export async function insertPaymentAttempt(sql: Sql, attempt: NewPaymentAttempt): Promise<void> {
  await sql`
    with attempt as (
      insert into payments.payment_attempts
        (id, tenant_id, merchant_id, intent_id, channel, amount_idr, status, standing, provider, provider_key, expires_at, created_at)
      values (${attempt.id}, ${attempt.tenant_id}, ${attempt.merchant_id}, ${attempt.intent_id}, ${attempt.channel}, ${attempt.amount_idr}, 'pending',
        ${attempt.standing}, ${attempt.provider}, ${attempt.provider_key}, ${attempt.expires_at}, ${attempt.created_at})
      returning id, tenant_id, merchant_id, provider)
    insert into payments.attempt_checks (attempt_id, tenant_id, merchant_id, provider, next_check_at)
    select id, tenant_id, merchant_id, provider, ${attempt.next_check_at}::timestamptz from attempt
    where provider is not null and ${attempt.next_check_at}::timestamptz is not null`
}

/** Records a payment that a standing attempt took. */
export async function insertRecordedPayment(
  sql: Sql, beside: PaymentAttemptRow, payment: { id: string, amountIdr: number, reference: string | null, completedAt: Date }, now: Date,
): Promise<PaymentAttemptRow | undefined> {
  const [row] = await sql<PaymentAttemptRow[]>`
    insert into payments.payment_attempts
      (id, tenant_id, merchant_id, intent_id, channel, amount_idr, status, standing, provider, charge_reference, provider_reference, created_at, completed_at)
    values (${payment.id}, ${beside.tenant_id}, ${beside.merchant_id}, ${beside.intent_id}, ${beside.channel}, ${payment.amountIdr}, 'succeeded', false,
      ${beside.provider}, ${beside.charge_reference}, ${payment.reference}, ${now}, ${payment.completedAt})
    returning *`
  return row
}

export async function findPaymentAttempt(sql: Sql, tenantId: string, merchantId: string, id: string): Promise<PaymentAttemptRow | undefined> {
  const [row] = await sql<PaymentAttemptRow[]>`
    select * from payments.payment_attempts where tenant_id = ${tenantId} and merchant_id = ${merchantId} and id = ${id}`
  return row
}

/** Fills in what the provider answered, and never over what is known already. */
export async function fillPaymentAttempt(
  sql: Sql, tenantId: string, merchantId: string, id: string, chargeReference: string, fields: Record<string, string>,
): Promise<PaymentAttemptRow | undefined> {
  const [row] = await sql<PaymentAttemptRow[]>`
    update payments.payment_attempts
    set charge_reference = coalesce(charge_reference, ${chargeReference}), provider_reference = coalesce(provider_reference, ${chargeReference}),
      fields = ${sql.json(fields)} || fields
    where tenant_id = ${tenantId} and merchant_id = ${merchantId} and id = ${id}
    returning *`
  return row
}

/** Ends a pending attempt without payment. No row when it is not pending. */
export async function endPaymentAttempt(
  sql: Sql, tenantId: string, merchantId: string, id: string, status: 'failed' | 'expired', failureCode: string | null,
): Promise<PaymentAttemptRow | undefined> {
  const [row] = await sql<PaymentAttemptRow[]>`
    update payments.payment_attempts set status = ${status}, failure_code = ${failureCode}
    where tenant_id = ${tenantId} and merchant_id = ${merchantId} and id = ${id} and status = 'pending'
    returning *`
  return row
}

/**
 * Makes an attempt that took no payment yet succeed, whatever ended it before: proven money is always recorded. There is
 * nothing left to ask its provider.
 */
export async function completePaymentAttempt(
  sql: Sql, { tenant_id, merchant_id, id }: PaymentAttemptRow, amountIdr: number, reference: string | null, completedAt: Date,
): Promise<PaymentAttemptRow | undefined> {
  const [row] = await sql<PaymentAttemptRow[]>`
    with checked as (
      delete from payments.attempt_checks where tenant_id = ${tenant_id} and merchant_id = ${merchant_id} and attempt_id = ${id})
    update payments.payment_attempts
    set status = 'succeeded', amount_idr = ${amountIdr}, provider_reference = ${reference}, completed_at = ${completedAt}, failure_code = null
    where tenant_id = ${tenant_id} and merchant_id = ${merchant_id} and id = ${id} and status in ('pending', 'failed', 'expired')
    returning *`
  return row
}

/** Whether this payment was recorded before (decision 3.7: a completion counts once per provider reference). */
export async function isPaymentRecorded(sql: Sql, tenantId: string, merchantId: string, provider: string, reference: string): Promise<boolean> {
  const rows = await sql`
    select from payments.payment_attempts
    where tenant_id = ${tenantId} and merchant_id = ${merchantId} and provider = ${provider} and provider_reference = ${reference}
      and status in ('succeeded', 'reversed')`
  return rows.length > 0
}

/** Which of these payments were recorded before, and whether they were taken back since. */
export async function findRecordedPayments(
  sql: Sql, tenantId: string, merchantId: string, provider: string, references: readonly string[],
): Promise<Map<string, 'succeeded' | 'reversed'>> {
  const rows = await sql<{ provider_reference: string, status: 'succeeded' | 'reversed' }[]>`
    select provider_reference, status from payments.payment_attempts
    where tenant_id = ${tenantId} and merchant_id = ${merchantId} and provider = ${provider} and provider_reference = any(${references as string[]})
      and status in ('succeeded', 'reversed')`
  return new Map(rows.map(({ provider_reference, status }) => [provider_reference, status]))
}
