import type { Sql } from '../sql.ts'
import type { DeliveryKey } from './events.ts'
import type { WebhookDeliveryRow } from './webhookDeliveryList.ts'

type Owned = Pick<WebhookDeliveryRow, 'id' | 'tenant_id' | 'merchant_id'>

export type SubscriptionStanding = 'active' | 'inactive' | 'deleted'

/** How a subscription stands. It stays so until the transaction ends: no disabling overtakes what is made due for it. */
export async function holdSubscription(sql: Sql, { tenant_id, merchant_id, id }: Owned): Promise<SubscriptionStanding> {
  const [row] = await sql<{ active: boolean, deleted: boolean }[]>`
    select active, deleted_at is not null as deleted from payments.webhook_subscriptions
    where tenant_id = ${tenant_id} and merchant_id = ${merchant_id} and id = ${id}
    for share`
  return !row || row.deleted ? 'deleted' : row.active ? 'active' : 'inactive'
}

/** The same of several; answers those that are active. */
export async function holdActiveSubscriptions(sql: Sql, { tenant_id, merchant_id }: Omit<Owned, 'id'>, ids: readonly string[]): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select id from payments.webhook_subscriptions
    where tenant_id = ${tenant_id} and merchant_id = ${merchant_id} and id = any(${ids as string[]}::uuid[]) and active
    order by id
    for share`
  return rows.map(({ id }) => id)
}

/**
 * Locks a delivery, after its subscription. Undefined when it is in flight or due already: then there is nothing to replay. By the clock, since
 * the time of this transaction may lie before what another, for which the lock was waited, has made due.
 */
export async function lockReplayable(sql: Sql, { id, tenant_id, merchant_id }: Owned): Promise<{ replayed_at: Date | null } | undefined> {
  const [row] = await sql<{ replayed_at: Date | null, replayable: boolean }[]>`
    select replayed_at, lease_token is null and (status <> 'pending' or due_at is null or due_at > clock_timestamp()) as replayable
    from payments.webhook_deliveries
    where tenant_id = ${tenant_id} and merchant_id = ${merchant_id} and id = ${id}
    for update`
  return row?.replayable ? row : undefined
}

/** Makes a locked delivery due now: one that has ended begins a new round, one that waits stays in its round (decision 6.6). */
export async function replayDelivery(sql: Sql, { id, tenant_id, merchant_id }: Owned, now: Date): Promise<DeliveryKey[]> {
  return sql<DeliveryKey[]>`
    update payments.webhook_deliveries
    set ${inNewRound(sql)}, due_at = date_trunc('milliseconds', now()), replayed_at = ${now}
    where tenant_id = ${tenant_id} and merchant_id = ${merchant_id} and id = ${id} and lease_token is null
    returning id, tenant_id, merchant_id, subscription_id, attempt, due_at`
}

/** What every replay sets: a delivery that has ended starts a round anew, a pending one keeps its own. */
export function inNewRound(sql: Sql) {
  return sql`
    round_failures = case when status = 'pending' then round_failures else 0 end,
    round_started_at = case when status = 'pending' then round_started_at else clock_timestamp() end,
    status = 'pending', dead_reason = null, ended_at = null, scheduled_at = clock_timestamp()`
}
