import type { Sql } from '../sql.ts'
import type { DeliveryKey } from './events.ts'

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

/** Deliveries overdue by more than `seconds` that nobody holds, of every tenant, the longest waiting first. */
export async function listOverdueDeliveries(sql: Sql, seconds: number, most: number): Promise<DeliveryKey[]> {
  return sql<DeliveryKey[]>`
    select id, tenant_id, merchant_id, subscription_id, attempt, due_at from payments.webhook_deliveries
    where status = 'pending' and lease_token is null and due_at < now() - ${seconds} * interval '1 second'
    order by due_at limit ${most}`
}

/**
 * What becomes of a due delivery that could not be claimed because its subscription is not active: it waits, or is dead
 * with a deleted one. An activation at the same moment comes first or after, never between.
 */
export async function settleUnclaimedDelivery(sql: Sql, { id, tenant_id, merchant_id, subscription_id }: Omit<DeliveryKey, 'attempt' | 'due_at'>): Promise<void> {
  await sql`
    with inactive as (
      select id, deleted_at from payments.webhook_subscriptions
      where tenant_id = ${tenant_id} and merchant_id = ${merchant_id} and id = ${subscription_id} and not active
      for share
    )
    update payments.webhook_deliveries d
    set due_at = null,
      status = case when inactive.deleted_at is null then 'pending' else 'dead' end,
      dead_reason = case when inactive.deleted_at is null then null else 'subscription_deleted' end,
      ended_at = case when inactive.deleted_at is null then null else clock_timestamp() end
    from inactive
    where d.tenant_id = ${tenant_id} and d.merchant_id = ${merchant_id} and d.id = ${id} and d.subscription_id = inactive.id
      and d.status = 'pending' and d.lease_token is null`
}

export interface UnsettledSubscription {
  id: string
  tenant_id: string
  merchant_id: string
  active: boolean
  deleted: boolean
}

/** Subscriptions whose waiting deliveries are to be gone through, of every tenant. */
export async function listUnsettledSubscriptions(sql: Sql, most: number): Promise<Pick<UnsettledSubscription, 'id' | 'tenant_id' | 'merchant_id'>[]> {
  return sql<UnsettledSubscription[]>`
    select id, tenant_id, merchant_id from payments.webhook_subscriptions where unsettled order by id limit ${most}`
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

/** Makes the next deliveries that waited for an activation due, in order, `perSecond` of them a second from now. */
export async function wakeDeliveries(sql: Sql, { id, tenant_id, merchant_id }: UnsettledSubscription, perSecond: number, most: number): Promise<DeliveryKey[]> {
  return sql<DeliveryKey[]>`
    with waiting as (
      select d.id from payments.webhook_deliveries d
      join payments.webhook_subscriptions s on s.tenant_id = d.tenant_id and s.merchant_id = d.merchant_id and s.id = d.subscription_id
      where d.tenant_id = ${tenant_id} and d.merchant_id = ${merchant_id} and d.subscription_id = ${id}
        and d.status = 'pending' and d.lease_token is null and d.scheduled_at < s.activated_at
      order by d.id limit ${most}
      for update of d skip locked
    ), placed as (
      select id, row_number() over (order by id) - 1 as place from waiting
    )
    update payments.webhook_deliveries d
    set due_at = date_trunc('milliseconds', now() + placed.place * interval '1 second' / ${perSecond}), scheduled_at = clock_timestamp()
    from placed
    where d.id = placed.id
    returning d.id, d.tenant_id, d.merchant_id, d.subscription_id, d.attempt, d.due_at`
}

/** Ends the next waiting deliveries of a deleted subscription; answers how many. */
export async function endDeliveriesOfDeleted(sql: Sql, { id, tenant_id, merchant_id }: UnsettledSubscription, most: number): Promise<number> {
  const rows = await sql`
    with waiting as (
      select id from payments.webhook_deliveries
      where tenant_id = ${tenant_id} and merchant_id = ${merchant_id} and subscription_id = ${id} and status = 'pending' and lease_token is null
      order by id limit ${most}
      for update skip locked
    )
    update payments.webhook_deliveries d
    set status = 'dead', dead_reason = 'subscription_deleted', due_at = null, ended_at = clock_timestamp()
    from waiting
    where d.id = waiting.id
    returning d.id`
  return rows.length
}

/** Puts off idle deliveries, of every tenant, each by its own number of milliseconds. */
export async function postponeDeliveries(sql: Sql, ids: readonly string[], milliseconds: readonly number[]): Promise<DeliveryKey[]> {
  return sql<DeliveryKey[]>`
    update payments.webhook_deliveries d
    set due_at = date_trunc('milliseconds', now() + late.ms * interval '1 millisecond'), scheduled_at = clock_timestamp()
    from unnest(${ids as string[]}::uuid[], ${milliseconds as number[]}::int[]) as late (id, ms)
    where d.id = late.id and d.status = 'pending' and d.lease_token is null and d.due_at <= now()
    returning d.id, d.tenant_id, d.merchant_id, d.subscription_id, d.attempt, d.due_at`
}
