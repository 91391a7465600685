import type { Sql } from '../sql.ts'
import { shownFields } from './paymentIntents.ts'
import type { AttemptFields, PaymentIntentRow } from './paymentIntents.ts'

/** Locks up to `most` visible open intents past their deadline that nobody else is changing, the longest overdue first. */
export async function lockDueIntents(sql: Sql, now: Date, most: number): Promise<PaymentIntentRow[]> {
  return sql<PaymentIntentRow[]>`
    select * from payments.payment_intents
    where status = 'open' and visible and intent_expires_at <= ${now}
    order by intent_expires_at
    limit ${most}
    for update skip locked`
}

/**
 * Locks up to `most` visible intents with a pending attempt past its own deadline, but those that somebody else is
 * changing. The intent first, as everywhere: two transactions never hold intents and attempts crosswise.
 */
export async function lockIntentsOfDueAttempts(sql: Sql, now: Date, most: number): Promise<PaymentIntentRow[]> {
  return sql<PaymentIntentRow[]>`
    select * from payments.payment_intents
    where (tenant_id, merchant_id, id) in (
      select a.tenant_id, a.merchant_id, a.intent_id
      from payments.payment_attempts a
      join payments.payment_intents i on i.tenant_id = a.tenant_id and i.merchant_id = a.merchant_id and i.id = a.intent_id and i.visible
      where a.status = 'pending' and a.expires_at <= ${now}
      order by a.expires_at
      limit ${most})
    for update skip locked`
}

/** Marks a paid intent as taken back (decision 3.1). No row when it is not paid. */
export async function reversePaymentIntent(
  sql: Sql, { tenant_id, merchant_id, id }: PaymentIntentRow, now: Date,
): Promise<PaymentIntentRow | undefined> {
  const [row] = await sql<PaymentIntentRow[]>`
    update payments.payment_intents set status = 'reversed', ended_at = ${now}
    where tenant_id = ${tenant_id} and merchant_id = ${merchant_id} and id = ${id} and status = 'paid'
    returning *`
  return row
}

/** A visible intent by its id alone, for operations that anyone may call: whoever knows the id is let in by it. */
export async function findIntentForAnyone(sql: Sql, id: string): Promise<(PaymentIntentRow & AttemptFields) | undefined> {
  const [row] = await sql<(PaymentIntentRow & AttemptFields)[]>`
    select i.*, a.channel as attempt_channel, ${shownFields(sql)} as attempt_fields
    from payments.payment_intents i
    left join payments.payment_attempts a on a.id = i.current_attempt_id and a.merchant_id = i.merchant_id and a.tenant_id = i.tenant_id
    where i.id = ${id} and i.visible`
  return row
}
