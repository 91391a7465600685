import type { Sql } from '../sql.ts'
import type { DeliveryKey } from './events.ts'

/** Seconds that a worker has a delivery to itself without a heartbeat (decision 6.3). */
export const deliveryLeaseSeconds = 8

/** A delivery that this worker has claimed, with everything that sending it takes. */
export interface ClaimedDelivery {
  id: string
  tenant_id: string
  merchant_id: string
  subscription_id: string
  event_id: string
  /** Id of the attempt: the lease, and what the receiver is told. */
  attempt_id: string
  attempt: number
  url: string
  secret: Buffer
  kind: string
  body: string
}

type Owned = Pick<ClaimedDelivery, 'id' | 'tenant_id' | 'merchant_id'>
type Attempted = Owned & Pick<ClaimedDelivery, 'attempt_id' | 'subscription_id'>

/**
 * Claims a delivery that is due, that nobody holds and whose subscription is active, and begins its next attempt.
 * Undefined otherwise. An attempt whose lease has lapsed is closed as lost.
 */
export async function claimWebhookDelivery(sql: Sql, { id, tenant_id, merchant_id }: Owned, attemptId: string): Promise<ClaimedDelivery | undefined> {
  const [row] = await sql<ClaimedDelivery[]>`
    with claimed as (
      update payments.webhook_deliveries d
      set attempt = d.attempt + 1, lease_token = ${attemptId}, lease_until = now() + ${deliveryLeaseSeconds} * interval '1 second'
      from payments.webhook_subscriptions s
      where d.tenant_id = ${tenant_id} and d.merchant_id = ${merchant_id} and d.id = ${id}
        and d.status = 'pending' and d.due_at <= now() and (d.lease_until is null or d.lease_until < now())
        and s.tenant_id = d.tenant_id and s.merchant_id = d.merchant_id and s.id = d.subscription_id and s.active
      returning d.id, d.tenant_id, d.merchant_id, d.subscription_id, d.event_id, d.lease_token, d.attempt, s.url, s.secret
    ), lost as (
      update payments.webhook_attempts a set outcome = 'lost', ended_at = clock_timestamp()
      from claimed
      where a.tenant_id = claimed.tenant_id and a.merchant_id = claimed.merchant_id and a.delivery_id = claimed.id and a.outcome is null
    ), begun as (
      insert into payments.webhook_attempts (id, tenant_id, merchant_id, delivery_id, number, started_at)
      select lease_token, tenant_id, merchant_id, id, attempt, clock_timestamp() from claimed
    )
    select claimed.id, claimed.tenant_id, claimed.merchant_id, claimed.subscription_id, claimed.event_id,
      claimed.lease_token as attempt_id, claimed.attempt, claimed.url, claimed.secret, e.kind, e.body
    from claimed join payments.events e
      on e.tenant_id = claimed.tenant_id and e.merchant_id = claimed.merchant_id and e.id = claimed.event_id`
  return row
}

/** Extends the leases of attempts at work in this process, of every tenant. Answers those that are still its own. */
export async function extendDeliveryLeases(sql: Sql, attemptIds: readonly string[]): Promise<string[]> {
  const rows = await sql<{ lease_token: string }[]>`
    update payments.webhook_deliveries set lease_until = now() + ${deliveryLeaseSeconds} * interval '1 second'
    where lease_token = any(${attemptIds as string[]}::uuid[])
    returning lease_token`
  return rows.map(({ lease_token }) => lease_token)
}

/** What came back of an attempt, as it is kept. */
export interface AttemptResult {
  status: number | null
  headers: Record<string, string> | null
  body: Buffer | null
  durationMs: number
  error: string | null
}

/**
 * Records a success, if the attempt is still this worker's. The subscription is written to only when a failure is newer
 * than its last success: no row is hot while all goes well (decision 6.5).
 */
export async function recordDeliverySuccess(sql: Sql, { id, tenant_id, merchant_id, attempt_id }: Attempted, result: AttemptResult): Promise<boolean> {
  const rows = await sql`
    with mine as (
      update payments.webhook_deliveries
      set status = 'delivered', due_at = null, lease_token = null, lease_until = null, ended_at = clock_timestamp()
      where tenant_id = ${tenant_id} and merchant_id = ${merchant_id} and id = ${id} and lease_token = ${attempt_id}
      returning tenant_id, merchant_id, id, subscription_id
    ), closed as (
      update payments.webhook_attempts a
      set outcome = 'succeeded', ended_at = clock_timestamp(), status = ${result.status}, response_headers = ${result.headers && sql.json(result.headers)},
        response_body = ${result.body}, duration_ms = ${result.durationMs}
      from mine
      where a.tenant_id = mine.tenant_id and a.merchant_id = mine.merchant_id and a.id = ${attempt_id}
    ), noted as (
      update payments.webhook_subscriptions s set last_success_at = clock_timestamp()
      from mine
      where s.tenant_id = mine.tenant_id and s.merchant_id = mine.merchant_id and s.id = mine.subscription_id
        and s.last_failure_at is not null and (s.last_success_at is null or s.last_success_at <= s.last_failure_at)
    )
    select id from mine`
  return rows.length === 1
}

/** How a subscription stands, locked until the failure is judged. Events that are being written are not held up. */
export async function lockForVerdict(
  sql: Sql, { tenant_id, merchant_id, subscription_id }: Pick<Attempted, 'tenant_id' | 'merchant_id' | 'subscription_id'>,
): Promise<'active' | 'inactive' | 'deleted'> {
  const [row] = await sql<{ active: boolean, deleted: boolean }[]>`
    select active, deleted_at is not null as deleted from payments.webhook_subscriptions
    where tenant_id = ${tenant_id} and merchant_id = ${merchant_id} and id = ${subscription_id}
    for no key update`
  return !row || row.deleted ? 'deleted' : row.active ? 'active' : 'inactive'
}

/** Closes a failed attempt, if it is still this worker's, and answers the failures since the round began. */
export async function recordDeliveryFailure(sql: Sql, { id, tenant_id, merchant_id, attempt_id }: Attempted, result: AttemptResult): Promise<number | undefined> {
  const [row] = await sql<{ round_failures: number }[]>`
    with mine as (
      update payments.webhook_deliveries
      set lease_token = null, lease_until = null, round_failures = round_failures + 1
      where tenant_id = ${tenant_id} and merchant_id = ${merchant_id} and id = ${id} and lease_token = ${attempt_id}
      returning tenant_id, merchant_id, id, round_failures
    ), closed as (
      update payments.webhook_attempts a
      set outcome = 'failed', ended_at = clock_timestamp(), status = ${result.status}, response_headers = ${result.headers && sql.json(result.headers)},
        response_body = ${result.body}, duration_ms = ${result.durationMs}, error = ${result.error}
      from mine
      where a.tenant_id = mine.tenant_id and a.merchant_id = mine.merchant_id and a.id = ${attempt_id}
    )
    select round_failures from mine`
  return row?.round_failures
}

/** Failed attempts of a delivery since the latest of: its round's start, the subscription's last success, its last activation. */
export async function countFailureRun(sql: Sql, { id, tenant_id, merchant_id }: Owned): Promise<number> {
  const [row] = await sql<{ run: number }[]>`
    select count(*)::int as run
    from payments.webhook_deliveries d
    join payments.webhook_subscriptions s on s.tenant_id = d.tenant_id and s.merchant_id = d.merchant_id and s.id = d.subscription_id
    join payments.webhook_attempts a on a.tenant_id = d.tenant_id and a.merchant_id = d.merchant_id and a.delivery_id = d.id
    where d.tenant_id = ${tenant_id} and d.merchant_id = ${merchant_id} and d.id = ${id}
      and a.outcome = 'failed' and a.ended_at > greatest(d.round_started_at, s.last_success_at, s.activated_at)`
  return row?.run ?? 0
}

/** Notes the time of a failure on the subscription, so that the next success is noted too. */
export async function noteSubscriptionFailure(
  sql: Sql, { tenant_id, merchant_id, subscription_id }: Pick<Attempted, 'tenant_id' | 'merchant_id' | 'subscription_id'>,
): Promise<void> {
  await sql`
    update payments.webhook_subscriptions set last_failure_at = clock_timestamp()
    where tenant_id = ${tenant_id} and merchant_id = ${merchant_id} and id = ${subscription_id}`
}

/** Makes an idle pending delivery due in `delaySeconds`. Undefined when it is at work or has ended. */
export async function scheduleDelivery(sql: Sql, { id, tenant_id, merchant_id }: Owned, delaySeconds: number): Promise<DeliveryKey | undefined> {
  const [row] = await sql<DeliveryKey[]>`
    update payments.webhook_deliveries
    set due_at = date_trunc('milliseconds', now() + ${delaySeconds}::float8 * interval '1 second'), scheduled_at = clock_timestamp()
    where tenant_id = ${tenant_id} and merchant_id = ${merchant_id} and id = ${id} and status = 'pending' and lease_token is null
    returning id, tenant_id, merchant_id, subscription_id, attempt, due_at`
  return row
}

/** Lets an idle pending delivery wait until its subscription is active again. */
export async function suspendDelivery(sql: Sql, { id, tenant_id, merchant_id }: Owned): Promise<void> {
  await sql`
    update payments.webhook_deliveries set due_at = null
    where tenant_id = ${tenant_id} and merchant_id = ${merchant_id} and id = ${id} and status = 'pending' and lease_token is null`
}

/** Ends a delivery that is not at work without success. */
export async function endDelivery(
  sql: Sql, { id, tenant_id, merchant_id }: Owned, reason: 'failures' | 'exhausted' | 'subscription_deleted',
): Promise<void> {
  await sql`
    update payments.webhook_deliveries set status = 'dead', dead_reason = ${reason}, due_at = null, ended_at = clock_timestamp()
    where tenant_id = ${tenant_id} and merchant_id = ${merchant_id} and id = ${id} and status = 'pending' and lease_token is null`
}
