import type { Sql } from '../sql.ts'
import type { PaymentAttemptRow } from './paymentAttempts.ts'
import type { PaymentIntentRow } from './paymentIntents.ts'

type OfIntent = Pick<PaymentIntentRow, 'tenant_id' | 'merchant_id' | 'id'>

/** Ends what is pending of an intent; the charges behind it are another matter. */
export async function expirePendingAttempts(sql: Sql, { tenant_id, merchant_id, id }: OfIntent): Promise<PaymentAttemptRow[]> {
  return sql<PaymentAttemptRow[]>`
    update payments.payment_attempts set status = 'expired'
    where tenant_id = ${tenant_id} and merchant_id = ${merchant_id} and intent_id = ${id} and status = 'pending'
    returning *`
}

/** Ends the pending attempts of a locked intent whose own deadline is past. */
export async function expireDueAttempts(sql: Sql, { tenant_id, merchant_id, id }: OfIntent, now: Date): Promise<PaymentAttemptRow[]> {
  return sql<PaymentAttemptRow[]>`
    update payments.payment_attempts set status = 'expired'
    where tenant_id = ${tenant_id} and merchant_id = ${merchant_id} and intent_id = ${id} and status = 'pending' and expires_at <= ${now}
    returning *`
}

/** The attempt that can be paid now: the newest pending one whose deadline is not past and whose charge is made. */
export async function findLiveAttempt(sql: Sql, { tenant_id, merchant_id, id }: OfIntent, now: Date): Promise<PaymentAttemptRow | undefined> {
  const [row] = await sql<PaymentAttemptRow[]>`
    select * from payments.payment_attempts
    where tenant_id = ${tenant_id} and merchant_id = ${merchant_id} and intent_id = ${id} and status = 'pending'
      and (provider is null or charge_reference is not null) and (expires_at is null or expires_at > ${now})
    order by created_at desc, id desc
    limit 1`
  return row
}

/** The newest attempt of an intent over one of the channels, whatever became of it. */
export async function findNewestAttempt(
  sql: Sql, { tenant_id, merchant_id, id }: OfIntent, channels: readonly string[],
): Promise<PaymentAttemptRow | undefined> {
  const [row] = await sql<PaymentAttemptRow[]>`
    select * from payments.payment_attempts
    where tenant_id = ${tenant_id} and merchant_id = ${merchant_id} and intent_id = ${id} and channel = any(${channels as string[]})
    order by created_at desc, id desc
    limit 1`
  return row
}

/** The newest pending attempt of an intent over one channel. */
export async function findPendingAttempt(
  sql: Sql, { tenant_id, merchant_id, id }: OfIntent, channel: string,
): Promise<PaymentAttemptRow | undefined> {
  const [row] = await sql<PaymentAttemptRow[]>`
    select * from payments.payment_attempts
    where tenant_id = ${tenant_id} and merchant_id = ${merchant_id} and intent_id = ${id} and channel = ${channel} and status = 'pending'
    order by created_at desc, id desc
    limit 1`
  return row
}

/** Whether an intent has an attempt in the state. */
export async function hasAttempt(
  sql: Sql, { tenant_id, merchant_id, id }: OfIntent, status: PaymentAttemptRow['status'],
): Promise<boolean> {
  const rows = await sql`
    select from payments.payment_attempts
    where tenant_id = ${tenant_id} and merchant_id = ${merchant_id} and intent_id = ${id} and status = ${status}
    limit 1`
  return rows.length > 0
}

/** The attempt that took a payment, by the provider's reference of that payment. */
export async function findPaidAttempt(
  sql: Sql, tenantId: string, merchantId: string, provider: string, reference: string,
): Promise<PaymentAttemptRow | undefined> {
  const [row] = await sql<PaymentAttemptRow[]>`
    select * from payments.payment_attempts
    where tenant_id = ${tenantId} and merchant_id = ${merchantId} and provider = ${provider} and provider_reference = ${reference}
      and status in ('succeeded', 'reversed')`
  return row
}

/** Marks a succeeded attempt as taken back. No row when it is not succeeded. */
export async function reversePaymentAttempt(
  sql: Sql, { tenant_id, merchant_id, id }: PaymentAttemptRow,
): Promise<PaymentAttemptRow | undefined> {
  const [row] = await sql<PaymentAttemptRow[]>`
    update payments.payment_attempts set status = 'reversed'
    where tenant_id = ${tenant_id} and merchant_id = ${merchant_id} and id = ${id} and status = 'succeeded'
    returning *`
  return row
}
