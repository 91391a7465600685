import type { Page } from '../../domain/paging.ts'
import type { Sql } from '../sql.ts'
import { totalOf } from './listTotals.ts'
import type { Scope } from './paymentIntents.ts'

/** A delivery as it is shown, with how its latest attempt ended. */
export interface WebhookDeliveryRow {
  id: string
  tenant_id: string
  merchant_id: string
  subscription_id: string
  event_id: string
  kind: string
  origin: string
  status: 'pending' | 'delivered' | 'dead'
  attempt: number
  round_failures: number
  due_at: Date | null
  lease_token: string | null
  dead_reason: string | null
  created_at: Date
  ended_at: Date | null
  subscription_active: boolean
  last_outcome: string | null
  last_status: number | null
  last_error: string | null
}

/** An attempt as it is shown; without outcome it is at work. */
export interface WebhookAttemptRow {
  id: string
  number: number
  outcome: string | null
  status: number | null
  response_headers: Record<string, string> | null
  response_body: Buffer | null
  duration_ms: number | null
  error: string | null
  started_at: Date
  ended_at: Date | null
}

/** What a list of deliveries is narrowed by; what is left out narrows nothing. */
export interface DeliveryFilters {
  subscriptionId?: string | undefined
  eventId?: string | undefined
  kind?: string | undefined
  intentId?: string | undefined
  status?: string | undefined
  createdFrom?: Date | undefined
  createdTo?: Date | undefined
}

/**
 * A page of deliveries, newest first, merged from the runs of an index that are newest first each (`runs`): whatever the
 * filters, only as much is read as is shown or stands before it, and no row of another tenant or merchant.
 */
export async function listWebhookDeliveries(sql: Sql, scope: Scope, filters: DeliveryFilters, { limit, offset }: Page): Promise<WebhookDeliveryRow[]> {
  const { tenantId } = scope
  return sql<WebhookDeliveryRow[]>`
    with page as materialized (
      select found.id
      from ${owners(sql, scope, filters)} ${runs(sql, filters)}
      cross join lateral (
        select d.id, d.created_at from payments.webhook_deliveries d
        where ${matching(sql, scope, filters)}
          ${filters.status === undefined ? sql`and d.status = each_status.status` : sql``}
          ${hasRunsOfKinds(filters) ? sql`and d.kind = each_kind.kind` : sql``}
        order by d.created_at desc, d.id desc
        limit ${offset + limit}
      ) found
      order by found.created_at desc, found.id desc
      limit ${limit} offset ${offset}
    )
    select ${shown(sql)}
    from page join payments.webhook_deliveries d on d.id = page.id ${withLastAttempt(sql)}
    where d.tenant_id = ${tenantId}
    order by d.created_at desc, d.id desc`
}

/**
 * How many deliveries the list has in all, exactly: from the counters without a filter, else by a count that reads no more
 * than an index, unless an event or intent is named.
 */
export async function countWebhookDeliveries(sql: Sql, scope: Scope, filters: DeliveryFilters): Promise<number> {
  if (Object.values(filters).every((value) => value === undefined)) return totalOf(sql, 'deliveries', scope)
  const [row] = await sql<{ total: number }[]>`
    select count(*)::int as total
    from ${owners(sql, scope, filters)} join payments.webhook_deliveries d on ${matching(sql, scope, filters)}`
  return row?.total ?? 0
}

/** A delivery within reach, by its own id or that of one of its attempts. */
export async function findWebhookDelivery(sql: Sql, { tenantId, merchantIds }: Scope, id: string): Promise<WebhookDeliveryRow | undefined> {
  const ids = merchantIds as string[] | null
  const [row] = await sql<WebhookDeliveryRow[]>`
    select ${shown(sql)}
    from payments.webhook_deliveries d ${withLastAttempt(sql)}
    where d.tenant_id = ${tenantId} and (${ids}::uuid[] is null or d.merchant_id = any(${ids}::uuid[]))
      and d.id = coalesce((select a.delivery_id from payments.webhook_attempts a where a.tenant_id = ${tenantId} and a.id = ${id}), ${id})`
  return row
}

/** The latest attempts of a delivery, at most `most`, oldest first. */
export async function listWebhookAttempts(
  sql: Sql, { id, tenant_id, merchant_id }: Pick<WebhookDeliveryRow, 'id' | 'tenant_id' | 'merchant_id'>, most: number,
): Promise<WebhookAttemptRow[]> {
  return sql<WebhookAttemptRow[]>`
    select * from (
      select id, number, outcome, status, response_headers, response_body, duration_ms, error, started_at, ended_at
      from payments.webhook_attempts
      where tenant_id = ${tenant_id} and merchant_id = ${merchant_id} and delivery_id = ${id}
      order by number desc limit ${most}
    ) latest
    order by number`
}

/** Whose deliveries: subscriptions within reach, deleted ones too, or for the dead, which have an index of their own, merchants. */
function owners(sql: Sql, { tenantId, merchantIds }: Scope, { status, subscriptionId }: DeliveryFilters) {
  const ids = merchantIds as string[] | null
  return status === 'dead'
    ? sql`(
        select id from payments.merchants
        where tenant_id = ${tenantId} and (${ids}::uuid[] is null or id = any(${ids}::uuid[]))
      ) owner`
    : sql`(
        select id from payments.webhook_subscriptions
        where tenant_id = ${tenantId} and (${ids}::uuid[] is null or merchant_id = any(${ids}::uuid[]))
          ${subscriptionId === undefined ? sql`` : sql`and id = ${subscriptionId}`}
      ) owner`
}

function hasRunsOfKinds({ kind, status }: DeliveryFilters): boolean {
  return kind === undefined && status !== 'dead'
}

/** The kinds that a subscription has deliveries of, leapt to by index, and the statuses; where the filters name neither. */
function runs(sql: Sql, filters: DeliveryFilters) {
  const kinds = sql`
    cross join lateral (
      with recursive leap as (
        (select d.kind from payments.webhook_deliveries d where d.subscription_id = owner.id order by d.kind limit 1)
        union all
        select (select d.kind from payments.webhook_deliveries d where d.subscription_id = owner.id and d.kind > leap.kind order by d.kind limit 1)
        from leap where leap.kind is not null
      )
      select kind from leap where kind is not null
    ) each_kind`
  return sql`
    ${hasRunsOfKinds(filters) ? kinds : sql``}
    ${filters.status === undefined ? sql`cross join (values ('pending'), ('delivered'), ('dead')) as each_status (status)` : sql``}`
}

/** The deliveries of an owner, whose tenant and merchant are theirs: naming them once more would lead away from the owner's index. */
function matching(sql: Sql, { tenantId }: Scope, { subscriptionId, eventId, kind, intentId, status, createdFrom, createdTo }: DeliveryFilters) {
  return sql`
    ${status === 'dead' ? sql`d.merchant_id = owner.id` : sql`d.subscription_id = owner.id`}
    ${status === undefined ? sql`` : sql`and ${inStatus(sql, status)}`}
    ${status !== 'dead' || subscriptionId === undefined ? sql`` : sql`and d.subscription_id = ${subscriptionId}`}
    ${kind === undefined ? sql`` : sql`and d.kind = ${kind}`}
    ${createdFrom === undefined ? sql`` : sql`and d.created_at >= ${createdFrom}`}
    ${createdTo === undefined ? sql`` : sql`and d.created_at < ${createdTo}`}
    ${eventId === undefined ? sql`` : sql`and d.event_id = ${eventId}`}
    ${intentId === undefined ? sql`` : sql`and d.event_id = any(array(
      select e.id from payments.events e where e.tenant_id = ${tenantId} and e.intent_id = ${intentId}))`}`
}

/** In the text of the statement, so that a plan made for all values knows how few are dead. */
function inStatus(sql: Sql, status: string) {
  switch (status) {
    case 'pending': return sql`d.status = 'pending' and d.lease_token is null`
    case 'in_flight': return sql`d.status = 'pending' and d.lease_token is not null`
    case 'delivered': return sql`d.status = 'delivered'`
    case 'dead': return sql`d.status = 'dead'`
    default: return sql`false`
  }
}

function shown(sql: Sql) {
  return sql`
    d.id, d.tenant_id, d.merchant_id, d.subscription_id, d.event_id, d.kind, d.origin, d.status, d.attempt, d.round_failures, d.due_at, d.lease_token,
    d.dead_reason, d.created_at, d.ended_at, s.active as subscription_active,
    last.outcome as last_outcome, last.status as last_status, last.error as last_error`
}

function withLastAttempt(sql: Sql) {
  return sql`
    join payments.webhook_subscriptions s on s.tenant_id = d.tenant_id and s.merchant_id = d.merchant_id and s.id = d.subscription_id
    left join lateral (
      select a.outcome, a.status, a.error from payments.webhook_attempts a
      where a.tenant_id = d.tenant_id and a.merchant_id = d.merchant_id and a.delivery_id = d.id and a.outcome is not null
      order by a.number desc limit 1
    ) last on true`
}
