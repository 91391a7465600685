import type { Sql } from '../sql.ts'

export type IntentStatus = 'open' | 'paid' | 'failed' | 'expired' | 'cancelled' | 'reversed'

export interface IntentCustomer {
  name: string | null
  email: string | null
  phone: string | null
}

/** An intent with the channel-typed fields of its current attempt. */
export interface PaymentIntentRow {
  id: string
  tenant_id: string
  merchant_id: string
  shortcode: string
  visible: boolean
  status: IntentStatus
  amount_idr: number
  max_uses: number
  uses: number
  paid_idr: number
  refunded_idr: number
  overpaid_idr: number
  description: string | null
  allowed_channels: string[]
  channel: string | null
  metadata: Record<string, string>
  reference_id: string | null
  return_url: string | null
  customer: IntentCustomer | null
  customer_id: string | null
  current_attempt_id: string | null
  late: boolean
  created_at: Date
  intent_expires_at: Date | null
  paid_at: Date | null
}

/** Rows that a caller may see: a tenant, and in it all merchants (null) or some. */
export interface Scope {
  tenantId: string
  merchantIds: readonly string[] | null
}

export type NewPaymentIntent = Pick<PaymentIntentRow,
  'id' | 'tenant_id' | 'merchant_id' | 'shortcode' | 'visible' | 'amount_idr' | 'max_uses' | 'description' | 'allowed_channels' | 'channel' |
  'metadata' | 'reference_id' | 'return_url' | 'customer' | 'customer_id' | 'current_attempt_id' | 'created_at' | 'intent_expires_at'>

/** Inserts an open intent. False when the shortcode is taken; violates payment_intents_reference_key when the reference is. */
export async function insertPaymentIntent(sql: Sql, intent: NewPaymentIntent): Promise<boolean> {
  const rows = await sql`
    insert into payments.payment_intents
      (id, tenant_id, merchant_id, shortcode, visible, status, amount_idr, max_uses, description, allowed_channels, channel, metadata,
       reference_id, return_url, customer, customer_id, current_attempt_id, created_at, intent_expires_at)
    values (${intent.id}, ${intent.tenant_id}, ${intent.merchant_id}, ${intent.shortcode}, ${intent.visible}, 'open', ${intent.amount_idr},
      ${intent.max_uses}, ${intent.description}, ${intent.allowed_channels}, ${intent.channel}, ${sql.json(intent.metadata)},
      ${intent.reference_id}, ${intent.return_url}, ${intent.customer && sql.json(intent.customer)}, ${intent.customer_id},
      ${intent.current_attempt_id}, ${intent.created_at}, ${intent.intent_expires_at})
    on conflict (shortcode) do nothing
    returning id`
  return rows.length === 1
}

/** A visible intent within the caller's reach. */
export async function findPaymentIntent(sql: Sql, { tenantId, merchantIds }: Scope, id: string): Promise<(PaymentIntentRow & AttemptFields) | undefined> {
  const [row] = await sql<(PaymentIntentRow & AttemptFields)[]>`
    select i.*, a.channel as attempt_channel, ${shownFields(sql)} as attempt_fields
    from payments.payment_intents i
    left join payments.payment_attempts a on a.id = i.current_attempt_id and a.merchant_id = i.merchant_id and a.tenant_id = i.tenant_id
    where i.tenant_id = ${tenantId} and (${merchantIds as string[] | null}::uuid[] is null or i.merchant_id = any(${merchantIds as string[] | null}::uuid[]))
      and i.id = ${id} and i.visible`
  return row
}

/** What the view of an intent takes from its current attempt. */
export interface AttemptFields {
  attempt_channel: string | null
  attempt_fields: Record<string, string> | null
}

/** Typed fields of the current attempt `a` of intent `i`: those of an ended attempt are no way to pay an open intent. */
export function shownFields(sql: Sql) {
  return sql`case when i.status = 'open' and a.status <> 'pending' then '{}'::jsonb else a.fields end`
}

/** Locks an intent, visible or not, for a change of its state. */
export async function lockPaymentIntent(sql: Sql, tenantId: string, merchantId: string, id: string): Promise<PaymentIntentRow | undefined> {
  const [row] = await sql<PaymentIntentRow[]>`
    select * from payments.payment_intents
    where tenant_id = ${tenantId} and merchant_id = ${merchantId} and id = ${id}
    for update`
  return row
}

/**
 * Shows a hidden intent. One that had ended has given its reference back: where another holds it now, this one goes
 * without. No row when it is shown already.
 */
export async function revealPaymentIntent(sql: Sql, tenantId: string, merchantId: string, id: string): Promise<PaymentIntentRow | undefined> {
  const [row] = await sql<PaymentIntentRow[]>`
    update payments.payment_intents i
    set visible = true,
      reference_id = case when i.status <> 'open' and exists (
        select from payments.payment_intents o
        where o.tenant_id = i.tenant_id and o.merchant_id = i.merchant_id and o.reference_id = i.reference_id and o.id <> i.id
          and (o.visible or o.status = 'open')) then null else i.reference_id end
    where i.tenant_id = ${tenantId} and i.merchant_id = ${merchantId} and i.id = ${id} and not i.visible
    returning *`
  return row
}

/** Ends an open intent without payment. No row when it is not open. */
export async function endPaymentIntent(
  sql: Sql, tenantId: string, merchantId: string, id: string, status: 'failed' | 'expired' | 'cancelled', now: Date,
): Promise<PaymentIntentRow | undefined> {
  const [row] = await sql<PaymentIntentRow[]>`
    update payments.payment_intents set status = ${status}, ended_at = ${now}
    where tenant_id = ${tenantId} and merchant_id = ${merchantId} and id = ${id} and status = 'open'
    returning *`
  return row
}

/**
 * Counts a payment towards an intent that is not paid yet; the last one that it takes makes it paid, and the attempt
 * that was paid its current one.
 */
export async function countPayment(
  sql: Sql, { tenant_id, merchant_id, id }: PaymentIntentRow, attemptId: string, amountIdr: number, completedAt: Date, late: boolean, now: Date,
): Promise<PaymentIntentRow | undefined> {
  const [row] = await sql<PaymentIntentRow[]>`
    update payments.payment_intents
    set uses = uses + 1, paid_idr = paid_idr + ${amountIdr}, late = late or ${late},
      status = case when max_uses <> 0 and uses + 1 = max_uses then 'paid' else status end,
      paid_at = case when max_uses <> 0 and uses + 1 = max_uses then ${completedAt}::timestamptz else paid_at end,
      current_attempt_id = case when max_uses <> 0 and uses + 1 = max_uses then ${attemptId}::uuid else current_attempt_id end,
      ended_at = case when max_uses <> 0 and uses + 1 = max_uses then ${now}::timestamptz else ended_at end
    where tenant_id = ${tenant_id} and merchant_id = ${merchant_id} and id = ${id} and status in ('open', 'failed', 'expired', 'cancelled')
    returning *`
  return row
}

/** Records money beyond what the intent takes (decision 3.7). */
export async function addOverpayment(sql: Sql, { tenant_id, merchant_id, id }: PaymentIntentRow, amountIdr: number): Promise<void> {
  await sql`
    update payments.payment_intents set overpaid_idr = overpaid_idr + ${amountIdr}
    where tenant_id = ${tenant_id} and merchant_id = ${merchant_id} and id = ${id}`
}

/** The intent that holds a merchant's reference, visible or being created. */
export async function findIntentByReference(
  sql: Sql, tenantId: string, merchantId: string, referenceId: string,
): Promise<{ id: string, visible: boolean } | undefined> {
  const [row] = await sql<{ id: string, visible: boolean }[]>`
    select id, visible from payments.payment_intents
    where tenant_id = ${tenantId} and merchant_id = ${merchantId} and reference_id = ${referenceId} and (visible or status = 'open')`
  return row
}
