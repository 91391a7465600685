import type { Sql } from '../sql.ts'
import type { DeliveryKey } from './events.ts'

/** Seconds that a worker has a delivery to itself without a heartbeat (decision 6.3). */
export const deliveryLeaseSeconds = 8

interface Owned {
  id: string
  tenant_id: string
  merchant_id: string
}

/** A delivery with the attempt at work. */
export interface Attempted extends Owned {
  subscription_id: string
  attempt_id: string
}

/**
 * Extends the leases of attempts at work in this process, of every tenant, that have used up a quarter of it. What is being
 * written to at this moment is left alone, so that this waits for nothing while it holds others. Answers the attempts extended.
 */
export async function extendDeliveryLeases(sql: Sql, attempts: readonly Pick<Attempted, 'id' | 'attempt_id'>[]): Promise<string[]> {
  const rows = await sql<{ lease_token: string }[]>`
    with mine as (
      select d.id from payments.webhook_deliveries d
      join unnest(${attempts.map(({ id }) => id)}::uuid[], ${attempts.map(({ attempt_id }) => attempt_id)}::uuid[]) as work (id, attempt_id)
        on d.id = work.id and d.lease_token = work.attempt_id
      where d.lease_until < now() + ${deliveryLeaseSeconds} * interval '0.75 second'
      for update of d skip locked
    )
    update payments.webhook_deliveries d set lease_until = now() + ${deliveryLeaseSeconds} * interval '1 second'
    from mine
    where d.id = mine.id
    returning d.lease_token`
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

export interface AttemptedResult {
  delivery: Attempted
  result: AttemptResult
}

const written = (results: readonly AttemptedResult[]) => results.map(({ delivery: { id, tenant_id, merchant_id, attempt_id }, result }) => ({
  id, tenant_id, merchant_id, attempt_id, status: result.status, headers: result.headers, body: result.body?.toString('base64') ?? null,
  duration_ms: result.durationMs, error: result.error,
}))

/** The rows of results in a statement, by the name `r`. */
const rowsOf = (sql: Sql, results: readonly AttemptedResult[]) => sql`
  jsonb_to_recordset(${sql.json(written(results))}::jsonb) as r (
    id uuid, tenant_id uuid, merchant_id uuid, attempt_id uuid, status integer, headers jsonb, body text, duration_ms integer, error text)`

/** Closes the attempts that are still this worker's, those of `mine` in the statement. */
const closing = (sql: Sql, results: readonly AttemptedResult[], outcome: 'succeeded' | 'failed') => sql`
  update payments.webhook_attempts a
  set outcome = ${outcome}, ended_at = clock_timestamp(), status = r.status, response_headers = r.headers, response_body = decode(r.body, 'base64'),
    duration_ms = r.duration_ms, error = r.error
  from ${rowsOf(sql, results)} join mine on mine.id = r.id
  where a.tenant_id = mine.tenant_id and a.merchant_id = mine.merchant_id and a.id = r.attempt_id`

/** A delivery that has succeeded, and whether its subscription has to be told: only when a failure is newer than its last success. */
export interface RecordedSuccess {
  id: string
  subscription_id: string
  to_note: boolean
}

/** In a statement with a subscription `s`. */
const toNote = (sql: Sql) => sql`
  s.last_failure_at is not null and (s.last_success_at is null or s.last_success_at <= s.last_failure_at) as to_note`

/** Records successes of attempts that are still this worker's. */
export async function recordDeliverySuccesses(sql: Sql, results: readonly AttemptedResult[]): Promise<RecordedSuccess[]> {
  return sql<RecordedSuccess[]>`
    with mine as (
      update payments.webhook_deliveries d
      set status = 'delivered', due_at = null, lease_token = null, lease_until = null, ended_at = clock_timestamp()
      from ${rowsOf(sql, results)}
      where d.tenant_id = r.tenant_id and d.merchant_id = r.merchant_id and d.id = r.id and d.lease_token = r.attempt_id
      returning d.tenant_id, d.merchant_id, d.id, d.subscription_id
    ), closed as (${closing(sql, results, 'succeeded')})
    select mine.id, mine.subscription_id, ${toNote(sql)}
    from mine join payments.webhook_subscriptions s
      on s.tenant_id = mine.tenant_id and s.merchant_id = mine.merchant_id and s.id = mine.subscription_id`
}

/** Those of the successes that are recorded already, for the same attempts: by a write whose answer did not come back. */
export async function listRecordedSuccesses(sql: Sql, results: readonly AttemptedResult[]): Promise<RecordedSuccess[]> {
  return sql<RecordedSuccess[]>`
    select d.id, d.subscription_id, ${toNote(sql)}
    from ${rowsOf(sql, results)}
    join payments.webhook_attempts a on a.tenant_id = r.tenant_id and a.merchant_id = r.merchant_id and a.id = r.attempt_id and a.outcome = 'succeeded'
    join payments.webhook_deliveries d on d.tenant_id = a.tenant_id and d.merchant_id = a.merchant_id and d.id = a.delivery_id
    join payments.webhook_subscriptions s on s.tenant_id = d.tenant_id and s.merchant_id = d.merchant_id and s.id = d.subscription_id`
}

type Subscribed = Pick<Attempted, 'tenant_id' | 'merchant_id' | 'subscription_id'>

/** Notes a success on the subscription, unless one is newer than its last failure: no row is hot while all goes well (decision 6.5). */
export async function noteSubscriptionSuccess(sql: Sql, { tenant_id, merchant_id, subscription_id }: Subscribed): Promise<void> {
  await sql`
    update payments.webhook_subscriptions set last_success_at = clock_timestamp()
    where tenant_id = ${tenant_id} and merchant_id = ${merchant_id} and id = ${subscription_id}
      and last_failure_at is not null and (last_success_at is null or last_success_at <= last_failure_at)`
}

/** How a subscription stands, locked until failures are judged. Events that are being written are not held up. */
export async function lockForVerdict(sql: Sql, { tenant_id, merchant_id, subscription_id }: Subscribed): Promise<'active' | 'inactive' | 'deleted'> {
  const [row] = await sql<{ active: boolean, deleted: boolean }[]>`
    select active, deleted_at is not null as deleted from payments.webhook_subscriptions
    where tenant_id = ${tenant_id} and merchant_id = ${merchant_id} and id = ${subscription_id}
    for no key update`
  return !row || row.deleted ? 'deleted' : row.active ? 'active' : 'inactive'
}

/** Notes the time of a failure on the subscription, so that the next success is noted too. */
export async function noteSubscriptionFailure(sql: Sql, { tenant_id, merchant_id, subscription_id }: Subscribed): Promise<void> {
  await sql`
    update payments.webhook_subscriptions set last_failure_at = clock_timestamp()
    where tenant_id = ${tenant_id} and merchant_id = ${merchant_id} and id = ${subscription_id}`
}

/** Closes failed attempts that are still this worker's. Answers the failures of each delivery since its round began. */
export async function recordDeliveryFailures(sql: Sql, results: readonly AttemptedResult[]): Promise<Map<string, number>> {
  const rows = await sql<{ id: string, round_failures: number }[]>`
    with mine as (
      update payments.webhook_deliveries d
      set lease_token = null, lease_until = null, round_failures = d.round_failures + 1
      from ${rowsOf(sql, results)}
      where d.tenant_id = r.tenant_id and d.merchant_id = r.merchant_id and d.id = r.id and d.lease_token = r.attempt_id
      returning d.tenant_id, d.merchant_id, d.id, d.round_failures
    ), closed as (${closing(sql, results, 'failed')})
    select id, round_failures from mine`
  return new Map(rows.map(({ id, round_failures }) => [id, round_failures]))
}

/**
 * Failed attempts of each delivery of a subscription since the latest of: its round's start, the subscription's last
 * success, its last activation.
 */
export async function countFailureRuns(
  sql: Sql, { tenant_id, merchant_id, subscription_id }: Subscribed, ids: readonly string[],
): Promise<Map<string, number>> {
  const rows = await sql<{ id: string, run: number }[]>`
    select d.id, count(*)::int as run
    from payments.webhook_subscriptions s
    join payments.webhook_deliveries d on d.tenant_id = s.tenant_id and d.merchant_id = s.merchant_id and d.subscription_id = s.id
    join payments.webhook_attempts a on a.tenant_id = d.tenant_id and a.merchant_id = d.merchant_id and a.delivery_id = d.id
    where s.tenant_id = ${tenant_id} and s.merchant_id = ${merchant_id} and s.id = ${subscription_id} and d.id = any(${ids as string[]}::uuid[])
      and a.outcome = 'failed' and a.ended_at > greatest(d.round_started_at, s.last_success_at, s.activated_at)
    group by d.id`
  return new Map(rows.map(({ id, run }) => [id, run]))
}

/** Makes idle pending deliveries of a subscription due, each in its own number of seconds. Those at work or ended are left as they are. */
export async function scheduleDeliveries(
  sql: Sql, { tenant_id, merchant_id, subscription_id }: Subscribed, delays: readonly { id: string, seconds: number }[],
): Promise<DeliveryKey[]> {
  if (delays.length === 0) return []
  return sql<DeliveryKey[]>`
    update payments.webhook_deliveries d
    set due_at = date_trunc('milliseconds', now() + late.seconds * interval '1 second'), waits_since = null, scheduled_at = clock_timestamp()
    from jsonb_to_recordset(${sql.json(delays)}::jsonb) as late (id uuid, seconds float8)
    where d.tenant_id = ${tenant_id} and d.merchant_id = ${merchant_id} and d.subscription_id = ${subscription_id} and d.id = late.id
      and d.status = 'pending' and d.lease_token is null
    returning d.id, d.tenant_id, d.merchant_id, d.subscription_id, d.attempt, d.due_at`
}

/** Lets idle pending deliveries wait until their subscription is active again. */
export async function suspendDeliveries(sql: Sql, { tenant_id, merchant_id, subscription_id }: Subscribed, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await sql`
    update payments.webhook_deliveries set due_at = null, waits_since = null
    where tenant_id = ${tenant_id} and merchant_id = ${merchant_id} and subscription_id = ${subscription_id} and id = any(${ids as string[]}::uuid[])
      and status = 'pending' and lease_token is null`
}

export type DeadReason = 'failures' | 'exhausted' | 'subscription_deleted'

/** Ends deliveries of a subscription that are not at work without success. */
export async function endDeliveries(
  sql: Sql, { tenant_id, merchant_id, subscription_id }: Subscribed, ends: readonly { id: string, reason: DeadReason }[],
): Promise<void> {
  if (ends.length === 0) return
  await sql`
    update payments.webhook_deliveries d set status = 'dead', dead_reason = ended.reason, due_at = null, ended_at = clock_timestamp()
    from jsonb_to_recordset(${sql.json(ends)}::jsonb) as ended (id uuid, reason text)
    where d.tenant_id = ${tenant_id} and d.merchant_id = ${merchant_id} and d.subscription_id = ${subscription_id} and d.id = ended.id
      and d.status = 'pending' and d.lease_token is null`
}
