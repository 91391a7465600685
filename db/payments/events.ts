import type { Sql } from '../sql.ts'
import type { Scope } from './paymentIntents.ts'

export interface NewEvent {
  id: string
  tenantId: string
  merchantId: string
  kind: string
  intentId: string | null
  /** The JSON that is delivered, byte for byte. */
  body: string
  createdAt: Date
}

/** A delivery as its job names it. */
export interface DeliveryKey {
  id: string
  tenant_id: string
  merchant_id: string
  subscription_id: string
  attempt: number
  due_at: Date
}

/**
 * Writes an event and its deliveries, one for each active subscription of the merchant to its kind, in the
 * transaction of the change that it tells of (decision 6.3), and with the event how many these are. Answers the
 * deliveries, due now. Their ids are `firstDeliveryId` with a number in its last four digits.
 */
export async function insertEvent(sql: Sql, event: NewEvent, firstDeliveryId: string): Promise<DeliveryKey[]> {
  return sql<DeliveryKey[]>`
    with matched as materialized (
      select id, tenant_id, merchant_id from payments.webhook_subscriptions
      where tenant_id = ${event.tenantId} and merchant_id = ${event.merchantId} and active and ${event.kind} = any(events)
    ), event as (
      insert into payments.events (id, tenant_id, merchant_id, kind, intent_id, body, created_at, matched)
      select ${event.id}, ${event.tenantId}, ${event.merchantId}, ${event.kind}, ${event.intentId}, ${event.body}, ${event.createdAt}, count(*)
      from matched
      returning id
    )
    insert into payments.webhook_deliveries
      (id, tenant_id, merchant_id, event_id, kind, subscription_id, status, round_started_at, due_at, scheduled_at, created_at)
    select (left(${firstDeliveryId}::text, 32) || lpad(to_hex(row_number() over (order by s.id)), 4, '0'))::uuid,
      s.tenant_id, s.merchant_id, event.id, ${event.kind}, s.id, 'pending', clock_timestamp(), date_trunc('milliseconds', now()), now(), ${event.createdAt}
    from event, matched s
    returning id, tenant_id, merchant_id, subscription_id, attempt, due_at`
}

/** Whether an event of this kind was written for an intent. */
export async function hasEvent(sql: Sql, intent: { tenant_id: string, merchant_id: string, id: string }, kind: string): Promise<boolean> {
  const rows = await sql`
    select from payments.events
    where tenant_id = ${intent.tenant_id} and merchant_id = ${intent.merchant_id} and intent_id = ${intent.id} and kind = ${kind} limit 1`
  return rows.length > 0
}

/** The body of an event within reach. */
export async function findEventBody(sql: Sql, { tenantId, merchantIds }: Scope, id: string): Promise<string | undefined> {
  const ids = merchantIds as string[] | null
  const [row] = await sql<{ body: string }[]>`
    select body from payments.events
    where tenant_id = ${tenantId} and (${ids}::uuid[] is null or merchant_id = any(${ids}::uuid[])) and id = ${id}`
  return row?.body
}
