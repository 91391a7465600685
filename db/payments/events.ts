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
 * transaction of the change that it tells of (decision 6.3). Answers the deliveries, due now. Their ids are
 * `firstDeliveryId` with a number in its last four digits.
 */
export async function insertEvent(sql: Sql, event: NewEvent, firstDeliveryId: string): Promise<DeliveryKey[]> {
  return sql<DeliveryKey[]>`
    with event as (
      insert into payments.events (id, tenant_id, merchant_id, kind, intent_id, body, created_at)
      values (${event.id}, ${event.tenantId}, ${event.merchantId}, ${event.kind}, ${event.intentId}, ${event.body}, ${event.createdAt})
      returning id
    )
    insert into payments.webhook_deliveries
      (id, tenant_id, merchant_id, event_id, subscription_id, status, round_started_at, due_at, scheduled_at, created_at)
    select (left(${firstDeliveryId}::text, 32) || lpad(to_hex(row_number() over (order by s.id)), 4, '0'))::uuid,
      s.tenant_id, s.merchant_id, event.id, s.id, 'pending', clock_timestamp(), date_trunc('milliseconds', now()), now(), ${event.createdAt}
    from event, payments.webhook_subscriptions s
    where s.tenant_id = ${event.tenantId} and s.merchant_id = ${event.merchantId} and s.active and ${event.kind} = any(s.events)
    returning id, tenant_id, merchant_id, subscription_id, attempt, due_at`
}

export interface EventFilter {
  kind: string | null
  /** Only what was created at this time or later. */
  since: Date | null
  limit: number
  offset: number
}

/** A page of event bodies within reach, newest first. */
export async function listEvents(
  sql: Sql, { tenantId, merchantIds }: Scope, { kind, since, limit, offset }: EventFilter,
): Promise<{ bodies: string[], total: number }> {
  const ids = merchantIds as string[] | null
  const matching = sql`
    tenant_id = ${tenantId} and (${ids}::uuid[] is null or merchant_id = any(${ids}::uuid[]))
      and (${kind}::text is null or kind = ${kind}) and (${since}::timestamptz is null or created_at >= ${since})`
  const [rows, [count]] = await Promise.all([
    sql<{ body: string }[]>`
      select body from payments.events where ${matching} order by position desc limit ${limit} offset ${offset}`,
    sql<{ total: number }[]>`select count(*)::int as total from payments.events where ${matching}`,
  ])
  return { bodies: rows.map(({ body }) => body), total: count?.total ?? 0 }
}

/** The body of an event within reach. */
export async function findEventBody(sql: Sql, { tenantId, merchantIds }: Scope, id: string): Promise<string | undefined> {
  const ids = merchantIds as string[] | null
  const [row] = await sql<{ body: string }[]>`
    select body from payments.events
    where tenant_id = ${tenantId} and (${ids}::uuid[] is null or merchant_id = any(${ids}::uuid[])) and id = ${id}`
  return row?.body
}
