import type { Sql } from '../sql.ts'
import { deliveryLeaseSeconds } from './webhookDeliveries.ts'

/** A subscription by the deliveries that wait for it. */
export interface DeliveryLane {
  tenant_id: string
  merchant_id: string
  subscription_id: string
}

/** A delivery that this worker has claimed, with everything that sending it takes. */
export interface ClaimedDelivery extends DeliveryLane {
  id: string
  event_id: string
  /** Id of the attempt: the lease, and what the receiver is told. */
  attempt_id: string
  attempt: number
  url: string
  /** Sealed, as the previous one. */
  secret: Buffer
  previous_secret: Buffer | null
  previous_secret_until: Date | null
  kind: string
  body: string
}

export interface Claim {
  /** Whether each subscription was active; one that somebody is changing at this moment is missing, with its deliveries. */
  active: Map<string, boolean>
  claimed: ClaimedDelivery[]
}

/**
 * Claims what is due of subscriptions and held by nobody, at most `most` of each, what became due first comes first,
 * and begins the next attempt of each. An attempt id is taken for each delivery, so as many are needed. The subscriptions stay
 * locked against change until the attempts have begun, so none begins after a disabling. What others hold is passed over, so
 * no claim waits for another.
 */
export async function claimDueDeliveries(sql: Sql, lanes: readonly (DeliveryLane & { most: number })[], attemptIds: readonly string[]): Promise<Claim> {
  const wanted = sql`
    select * from unnest(${lanes.map(({ tenant_id }) => tenant_id)}::uuid[], ${lanes.map(({ merchant_id }) => merchant_id)}::uuid[],
      ${lanes.map(({ subscription_id }) => subscription_id)}::uuid[], ${lanes.map(({ most }) => most)}::int[])
      as wanted (tenant_id, merchant_id, subscription_id, most)`
  // By the subscription alone, which is the merchant's: told of the merchant too, the planner takes a line for short and sorts it.
  const due = sql`
    select d.id, d.tenant_id, d.merchant_id from payments.webhook_deliveries d
    where d.subscription_id = s.id and d.status = 'pending'
      and d.lease_token is null and d.due_at is not null and coalesce(d.waits_since, d.due_at) <= now()
    order by coalesce(d.waits_since, d.due_at)
    limit s.most`
  const rows = await sql<({ lane: string, active: boolean } & (ClaimedDelivery | { id: null }))[]>`
    with wanted as (${wanted}), held as materialized (
      select s.id, s.tenant_id, s.merchant_id, s.active, s.url, s.secret, s.previous_secret, s.previous_secret_until, wanted.most
      from wanted join payments.webhook_subscriptions s
        on s.tenant_id = wanted.tenant_id and s.merchant_id = wanted.merchant_id and s.id = wanted.subscription_id
      order by s.id
      for share of s skip locked
    ), due as materialized (
      select d.id, row_number() over () as place
      from held s cross join lateral (${due} for update of d skip locked) d
      where s.active and d.tenant_id = s.tenant_id and d.merchant_id = s.merchant_id
    ), claimed as (
      update payments.webhook_deliveries d
      set attempt = d.attempt + 1, waits_since = null, lease_token = given.attempt_id, lease_until = now() + ${deliveryLeaseSeconds} * interval '1 second'
      from due join unnest(${attemptIds as string[]}::uuid[]) with ordinality as given (attempt_id, place) on given.place = due.place
      where d.id = due.id
      returning d.id, d.tenant_id, d.merchant_id, d.subscription_id, d.event_id, d.kind, d.lease_token, d.attempt
    ), begun as (
      insert into payments.webhook_attempts (id, tenant_id, merchant_id, delivery_id, number, started_at)
      select lease_token, tenant_id, merchant_id, id, attempt, clock_timestamp() from claimed
    ), told as materialized (
      select claimed.*, e.body
      from claimed join payments.events e on e.tenant_id = claimed.tenant_id and e.merchant_id = claimed.merchant_id and e.id = claimed.event_id
    )
    select held.id as lane, held.active, held.url, held.secret, held.previous_secret, held.previous_secret_until,
      told.id, told.tenant_id, told.merchant_id, told.subscription_id, told.event_id, told.lease_token as attempt_id, told.attempt, told.kind, told.body
    from held left join told on told.subscription_id = held.id`
  return {
    active: new Map(rows.map(({ lane, active }) => [lane, active])),
    claimed: rows.filter((row) => row.id !== null),
  }
}
