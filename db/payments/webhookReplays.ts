import type { Sql } from '../sql.ts'
import type { Scope } from './paymentIntents.ts'

/** A replay of many deliveries. Its cursor never leaves the database, whose times are finer than ours. */
export interface WebhookReplayRow {
  id: string
  tenant_id: string
  merchant_id: string
  kind: 'dead_letters' | 'resend'
  subscription_id: string | null
  event_kinds: string[] | null
  since: Date | null
  until: Date | null
  fingerprint: Buffer
  status: 'queued' | 'running' | 'succeeded' | 'failed'
  failure_reason: string | null
  total: number | null
  done: number
  replayed: number
  created_at: Date
  started_at: Date | null
  ended_at: Date | null
}

export type NewWebhookReplay = Pick<WebhookReplayRow,
  'id' | 'tenant_id' | 'merchant_id' | 'kind' | 'subscription_id' | 'event_kinds' | 'since' | 'until' | 'fingerprint' | 'created_at'>

type Owned = Pick<WebhookReplayRow, 'id' | 'tenant_id' | 'merchant_id'>

const columns = (sql: Sql) => sql`
  id, tenant_id, merchant_id, kind, subscription_id, event_kinds, since, until, fingerprint, status, failure_reason, total, done, replayed,
  created_at, started_at, ended_at`

/**
 * Inserts a queued replay that begins after `delaySeconds`. No row while another of its kind is unfinished, of the
 * subscription (resend) or the merchant (dead_letters).
 */
export async function insertWebhookReplay(sql: Sql, replay: NewWebhookReplay, delaySeconds: number): Promise<WebhookReplayRow | undefined> {
  const [row] = await sql<WebhookReplayRow[]>`
    insert into payments.webhook_replays
      (id, tenant_id, merchant_id, kind, subscription_id, event_kinds, since, until, fingerprint, status, cursor_at, due_at, created_at)
    values (${replay.id}, ${replay.tenant_id}, ${replay.merchant_id}, ${replay.kind}, ${replay.subscription_id}, ${replay.event_kinds}::text[],
      ${replay.since}, ${replay.until}, ${replay.fingerprint}, 'queued', coalesce(${replay.since}::timestamptz, '-infinity'),
      now() + ${delaySeconds} * interval '1 second', ${replay.created_at})
    on conflict do nothing
    returning ${columns(sql)}`
  return row
}

/** The latest replay of a kind, of the subscription (resend) or the merchant (dead_letters). */
export async function findLatestWebhookReplay(
  sql: Sql, { tenant_id, merchant_id, kind, subscription_id }: Pick<NewWebhookReplay, 'tenant_id' | 'merchant_id' | 'kind' | 'subscription_id'>,
): Promise<WebhookReplayRow | undefined> {
  const [row] = await sql<WebhookReplayRow[]>`
    select ${columns(sql)} from payments.webhook_replays
    where tenant_id = ${tenant_id} and merchant_id = ${merchant_id} and kind = ${kind}
      and (kind = 'dead_letters' or subscription_id = ${subscription_id})
    order by created_at desc, id desc limit 1`
  return row
}

export async function findWebhookReplay(sql: Sql, { tenantId, merchantIds }: Scope, id: string): Promise<WebhookReplayRow | undefined> {
  const ids = merchantIds as string[] | null
  const [row] = await sql<WebhookReplayRow[]>`
    select ${columns(sql)} from payments.webhook_replays
    where tenant_id = ${tenantId} and (${ids}::uuid[] is null or merchant_id = any(${ids}::uuid[])) and id = ${id}`
  return row
}

/** Unfinished replays whose next batch is due, of every tenant, the longest waiting first. */
export async function listDueWebhookReplays(sql: Sql, most: number): Promise<Owned[]> {
  return sql<Owned[]>`
    select id, tenant_id, merchant_id from payments.webhook_replays
    where ended_at is null and due_at <= now()
    order by due_at limit ${most}`
}

/**
 * Locks a replay whose next batch is due. Undefined when it is not, or another worker has it. It is settled once every
 * transaction that began before it has ended, which none of ours is a minute away from.
 */
export async function lockDueWebhookReplay(sql: Sql, { id, tenant_id, merchant_id }: Owned): Promise<(WebhookReplayRow & { settled: boolean }) | undefined> {
  const [row] = await sql<(WebhookReplayRow & { settled: boolean })[]>`
    select ${columns(sql)}, pg_snapshot_xmin(pg_current_snapshot()) > horizon or asked_at < now() - interval '60 seconds' as settled
    from payments.webhook_replays
    where tenant_id = ${tenant_id} and merchant_id = ${merchant_id} and id = ${id} and ended_at is null and due_at <= now()
    for update skip locked`
  return row
}

/** Begins a queued replay, with how many it is about. */
export async function startWebhookReplay(sql: Sql, { id, tenant_id, merchant_id }: Owned, total: number, now: Date): Promise<void> {
  await sql`
    update payments.webhook_replays set status = 'running', total = ${total}, started_at = ${now}
    where tenant_id = ${tenant_id} and merchant_id = ${merchant_id} and id = ${id} and status = 'queued'`
}

/** Puts off the next batch. */
export async function postponeWebhookReplay(sql: Sql, { id, tenant_id, merchant_id }: Owned, seconds: number): Promise<void> {
  await sql`
    update payments.webhook_replays set due_at = now() + ${seconds}::float8 * interval '1 second'
    where tenant_id = ${tenant_id} and merchant_id = ${merchant_id} and id = ${id} and ended_at is null`
}

/** Ends a running replay: without a reason it succeeded, and what it is about is what it has gone through. */
export async function endWebhookReplay(
  sql: Sql, { id, tenant_id, merchant_id }: Owned, reason: 'subscription_inactive' | 'subscription_deleted' | null, now: Date,
): Promise<void> {
  await sql`
    update payments.webhook_replays
    set status = case when ${reason}::text is null then 'succeeded' else 'failed' end, failure_reason = ${reason}, ended_at = ${now},
      total = case when ${reason}::text is null then done else total end
    where tenant_id = ${tenant_id} and merchant_id = ${merchant_id} and id = ${id} and status = 'running'`
}

/** Forgets replays, of every tenant, that ended before a time; at most `most`. Returns how many. */
export async function purgeWebhookReplays(sql: Sql, before: Date, most: number): Promise<number> {
  const rows = await sql`
    delete from payments.webhook_replays
    where id in (select id from payments.webhook_replays where ended_at < ${before} order by ended_at limit ${most} for update skip locked)
    returning id`
  return rows.length
}
