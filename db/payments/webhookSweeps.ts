import type { Sql, Statement } from '../sql.ts'
import type { DeliveryKey } from './events.ts'
import type { DeliveryLane } from './webhookClaims.ts'

/**
 * Frees deliveries whose worker ended, of every tenant: their attempts are lost, neither failure nor success, and they
 * are due now (decision 6.3).
 */
export async function freeLapsedDeliveries(sql: Sql, most: number): Promise<DeliveryKey[]> {
  return sql<DeliveryKey[]>`
    with lapsed as (
      select id, lease_token from payments.webhook_deliveries
      where lease_token is not null and lease_until < now()
      order by lease_until limit ${most}
      for update skip locked
    ), closed as (
      update payments.webhook_attempts a set outcome = 'lost', ended_at = clock_timestamp()
      from lapsed
      where a.id = lapsed.lease_token and a.outcome is null
    )
    update payments.webhook_deliveries d
    set lease_token = null, lease_until = null, due_at = date_trunc('milliseconds', now()), scheduled_at = clock_timestamp()
    from lapsed
    where d.id = lapsed.id
    returning d.id, d.tenant_id, d.merchant_id, d.subscription_id, d.attempt, d.due_at`
}

/**
 * Subscriptions with a delivery that nobody holds and that became due more than `seconds` ago, of every tenant. Leaps from one
 * to the next by index, so that it costs as much as there are subscriptions with pending deliveries, however many those are.
 */
export async function listDueLanes(sql: Sql, seconds: number): Promise<DeliveryLane[]> {
  const first = (after: Statement<object[]>) => sql`
    select d.tenant_id, d.merchant_id, d.subscription_id, coalesce(d.waits_since, d.due_at) as since from payments.webhook_deliveries d
    where d.status = 'pending' and d.lease_token is null and d.due_at is not null ${after}
    order by d.subscription_id, coalesce(d.waits_since, d.due_at)
    limit 1`
  return sql<DeliveryLane[]>`
    with recursive lane as (
      (${first(sql``)})
      union all
      select next.* from lane cross join lateral (${first(sql`and d.subscription_id > lane.subscription_id`)}) next
    )
    select tenant_id, merchant_id, subscription_id from lane where since < now() - ${seconds} * interval '1 second'`
}

/**
 * Puts off what is late by more than `seconds` because many wait before it, of every tenant: by `seconds`, and by up to as long
 * again as it has waited, in order, so that each is put off a few times only. It keeps its place in line and may be claimed
 * before. Answers how many.
 */
export async function putOffLateDeliveries(sql: Sql, seconds: number, most: number): Promise<number> {
  const rows = await sql`
    with late as (
      select id, subscription_id, coalesce(waits_since, due_at) as since from payments.webhook_deliveries
      where status = 'pending' and lease_token is null and due_at < now() - ${seconds} * interval '1 second'
      order by due_at limit ${most}
      for update skip locked
    ), placed as (
      select id, since, row_number() over line / (count(*) over (partition by subscription_id))::float8 as place
      from late window line as (partition by subscription_id order by since, id)
    )
    update payments.webhook_deliveries d
    set waits_since = placed.since, due_at = date_trunc('milliseconds',
      now() + ${seconds} * interval '1 second' + placed.place * greatest(now() - placed.since, ${seconds} * interval '1 second'))
    from placed
    where d.id = placed.id
    returning d.id`
  return rows.length
}

/**
 * What becomes of deliveries that are due and cannot be claimed because their subscription is not active: they wait, or
 * are dead with a deleted one. An activation at the same moment comes first or after, never between. Answers how many.
 */
export async function settleInactiveDeliveries(sql: Sql, { tenant_id, merchant_id, subscription_id }: DeliveryLane, most: number): Promise<number> {
  const rows = await sql`
    with inactive as (
      select id, deleted_at from payments.webhook_subscriptions
      where tenant_id = ${tenant_id} and merchant_id = ${merchant_id} and id = ${subscription_id} and not active
      for share
    ), due as (
      select d.id, inactive.deleted_at from inactive join payments.webhook_deliveries d on d.subscription_id = inactive.id
      where d.tenant_id = ${tenant_id} and d.merchant_id = ${merchant_id}
        and d.status = 'pending' and d.lease_token is null and d.due_at is not null and coalesce(d.waits_since, d.due_at) <= now()
      limit ${most}
      for update of d skip locked
    )
    update payments.webhook_deliveries d
    set due_at = null, waits_since = null,
      status = case when due.deleted_at is null then 'pending' else 'dead' end,
      dead_reason = case when due.deleted_at is null then null else 'subscription_deleted' end,
      ended_at = case when due.deleted_at is null then null else clock_timestamp() end
    from due
    where d.id = due.id
    returning d.id`
  return rows.length
}

export interface UnsettledSubscription {
  id: string
  tenant_id: string
  merchant_id: string
  active: boolean
  deleted: boolean
}

/**
 * Subscriptions whose waiting deliveries are to be gone through now, of every tenant, the longest neglected first: those that
 * were deleted, and those whose deliveries are made due for less than `seconds` from now.
 */
export async function listUnsettledSubscriptions(
  sql: Sql, seconds: number, most: number,
): Promise<Pick<UnsettledSubscription, 'id' | 'tenant_id' | 'merchant_id'>[]> {
  return sql<UnsettledSubscription[]>`
    select id, tenant_id, merchant_id from payments.webhook_subscriptions
    where unsettled and (deleted_at is not null or woken_until is null or woken_until < now() + ${seconds} * interval '1 second')
    order by woken_until nulls first, id limit ${most}`
}

/** Locks such a subscription. Undefined when it is settled. */
export async function lockUnsettledSubscription(
  sql: Sql, { id, tenant_id, merchant_id }: Pick<UnsettledSubscription, 'id' | 'tenant_id' | 'merchant_id'>,
): Promise<UnsettledSubscription | undefined> {
  const [row] = await sql<UnsettledSubscription[]>`
    select id, tenant_id, merchant_id, active, deleted_at is not null as deleted from payments.webhook_subscriptions
    where tenant_id = ${tenant_id} and merchant_id = ${merchant_id} and id = ${id} and unsettled
    for no key update`
  return row
}

export async function markSubscriptionSettled(sql: Sql, { id, tenant_id, merchant_id }: UnsettledSubscription): Promise<void> {
  await sql`
    update payments.webhook_subscriptions set unsettled = false
    where tenant_id = ${tenant_id} and merchant_id = ${merchant_id} and id = ${id}`
}

/**
 * Makes the next deliveries that waited for an activation due, in order, `perSecond` of them a second: from now, or behind
 * those that were made due before, so that two workers at it do not double the pace.
 */
export async function wakeDeliveries(sql: Sql, { id, tenant_id, merchant_id }: UnsettledSubscription, perSecond: number, most: number): Promise<DeliveryKey[]> {
  return sql<DeliveryKey[]>`
    with waiting as (
      select d.id, greatest(now(), s.woken_until) as start from payments.webhook_deliveries d
      join payments.webhook_subscriptions s on s.tenant_id = d.tenant_id and s.merchant_id = d.merchant_id and s.id = d.subscription_id
      where d.tenant_id = ${tenant_id} and d.merchant_id = ${merchant_id} and d.subscription_id = ${id}
        and d.status = 'pending' and d.lease_token is null and d.scheduled_at < s.activated_at
      order by d.id limit ${most}
      for update of d skip locked
    ), placed as (
      select id, start + (row_number() over (order by id) - 1) * interval '1 second' / ${perSecond}::int as due_at from waiting
    ), noted as (
      update payments.webhook_subscriptions
      set woken_until = (select max(due_at) + interval '1 second' / ${perSecond}::int from placed)
      where tenant_id = ${tenant_id} and merchant_id = ${merchant_id} and id = ${id} and exists (select from placed)
    )
    update payments.webhook_deliveries d
    set due_at = date_trunc('milliseconds', placed.due_at), waits_since = null, scheduled_at = clock_timestamp()
    from placed
    where d.id = placed.id
    returning d.id, d.tenant_id, d.merchant_id, d.subscription_id, d.attempt, d.due_at`
}

/** Ends the next waiting deliveries of a deleted subscription and notes when; answers how many. */
export async function endDeliveriesOfDeleted(sql: Sql, { id, tenant_id, merchant_id }: UnsettledSubscription, most: number): Promise<number> {
  const rows = await sql`
    with waiting as (
      select id from payments.webhook_deliveries
      where tenant_id = ${tenant_id} and merchant_id = ${merchant_id} and subscription_id = ${id} and status = 'pending' and lease_token is null
      order by id limit ${most}
      for update skip locked
    ), noted as (
      update payments.webhook_subscriptions set woken_until = now()
      where tenant_id = ${tenant_id} and merchant_id = ${merchant_id} and id = ${id}
    )
    update payments.webhook_deliveries d
    set status = 'dead', dead_reason = 'subscription_deleted', due_at = null, ended_at = clock_timestamp()
    from waiting
    where d.id = waiting.id
    returning d.id`
  return rows.length
}
