import type { Sql } from '../sql.ts'
import type { DeliveryKey } from './events.ts'
import { inNewRound } from './webhookDeliveryReplay.ts'
import type { WebhookReplayRow } from './webhookReplays.ts'

/** A replay to one subscription. */
export type Resend = WebhookReplayRow & { subscription_id: string }

/** No two processes' clocks are further apart. */
const clocksApartMs = 300_000

export interface DeadDelivery {
  id: string
  subscription_id: string
}

/** How many dead deliveries a replay is about: a count over an index. */
export async function countDeadDeliveries(sql: Sql, replay: WebhookReplayRow): Promise<number> {
  const [row] = await sql<{ total: number }[]>`select count(*)::int as total from payments.webhook_deliveries d where ${deadOf(sql, replay)}`
  return row?.total ?? 0
}

/** The next dead deliveries behind the cursor, oldest first, of those that were dead when the replay was asked for. */
export async function nextDeadDeliveries(sql: Sql, replay: WebhookReplayRow, most: number): Promise<DeadDelivery[]> {
  return sql<DeadDelivery[]>`
    with replay as materialized (${cursorOf(sql, replay)})
    select d.id, d.subscription_id from payments.webhook_deliveries d
    where ${deadOf(sql, replay)} and (d.created_at, d.id) > ((select cursor_at from replay), (select cursor_id from replay))
      and d.ended_at <= (select asked_at from replay)
    order by d.created_at, d.id limit ${most}`
}

/** Begins a new round of those deliveries that are still dead, in their order, `perSecond` of them a second from now. */
export async function replayDeadDeliveries(
  sql: Sql, { tenant_id, merchant_id }: WebhookReplayRow, ids: readonly string[], perSecond: number,
): Promise<DeliveryKey[]> {
  return sql<DeliveryKey[]>`
    with dead as materialized (
      select id from payments.webhook_deliveries
      where tenant_id = ${tenant_id} and merchant_id = ${merchant_id} and id = any(${ids as string[]}::uuid[]) and status = 'dead'
      order by id
      for update
    )
    update payments.webhook_deliveries d
    set ${inNewRound(sql)}, due_at = ${slot(sql, perSecond)}
    from dead join unnest(${ids as string[]}::uuid[]) with ordinality as wanted (id, place) on wanted.id = dead.id
    where d.tenant_id = ${tenant_id} and d.merchant_id = ${merchant_id} and d.id = dead.id
    returning d.id, d.tenant_id, d.merchant_id, d.subscription_id, d.attempt, d.due_at`
}

/** How many events a resend is about, and those of the seconds since it was asked for: a count over an index. */
export async function countResentEvents(sql: Sql, replay: Resend): Promise<number> {
  const [row] = await sql<{ total: number }[]>`select count(*)::int as total from payments.events e where ${eventsOf(sql, replay)}`
  return row?.total ?? 0
}

/** The next events behind the cursor, oldest first, of those that were begun when the resend was asked for. */
export async function nextResentEvents(sql: Sql, replay: Resend, most: number): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    with replay as materialized (${cursorOf(sql, replay)})
    select e.id from payments.events e
    where ${eventsOf(sql, replay)} and (e.created_at, e.id) > ((select cursor_at from replay), (select cursor_id from replay))
      and e.position <= (select last_position from replay)
    order by e.created_at, e.id limit ${most}`
  return rows.map(({ id }) => id)
}

/**
 * Makes the deliveries that there are of these events due, in the events' order, `perSecond` of them a second from now.
 * Those in flight or due already are left alone, also because other workers write to them.
 */
export async function replayDeliveriesOfEvents(
  sql: Sql, { tenant_id, merchant_id, subscription_id }: Resend, eventIds: readonly string[], perSecond: number,
): Promise<DeliveryKey[]> {
  return sql<DeliveryKey[]>`
    with present as materialized (
      select id, event_id as of_event from payments.webhook_deliveries
      where tenant_id = ${tenant_id} and merchant_id = ${merchant_id} and subscription_id = ${subscription_id}
        and event_id = any(${eventIds as string[]}::uuid[]) and lease_token is null and (status <> 'pending' or due_at is null or due_at > now())
      order by id
      for update
    )
    update payments.webhook_deliveries d
    set ${inNewRound(sql)}, due_at = least(d.due_at, ${slot(sql, perSecond)})
    from present join unnest(${eventIds as string[]}::uuid[]) with ordinality as wanted (of_event, place) on wanted.of_event = present.of_event
    where d.tenant_id = ${tenant_id} and d.merchant_id = ${merchant_id} and d.id = present.id
    returning d.id, d.tenant_id, d.merchant_id, d.subscription_id, d.attempt, d.due_at`
}

/** Makes deliveries of those events that have none to the subscription. An id is taken for each event, so as many are needed. */
export async function insertResentDeliveries(
  sql: Sql, { tenant_id, merchant_id, subscription_id }: Resend, eventIds: readonly string[], deliveryIds: readonly string[], perSecond: number, now: Date,
): Promise<DeliveryKey[]> {
  return sql<DeliveryKey[]>`
    insert into payments.webhook_deliveries
      (id, tenant_id, merchant_id, event_id, kind, origin, subscription_id, status, round_started_at, due_at, scheduled_at, created_at)
    select wanted.id, e.tenant_id, e.merchant_id, e.id, e.kind, 'resend', ${subscription_id}, 'pending', clock_timestamp(), ${slot(sql, perSecond)},
      clock_timestamp(), ${now}
    from unnest(${eventIds as string[]}::uuid[], ${deliveryIds as string[]}::uuid[]) with ordinality as wanted (event_id, id, place)
    join payments.events e on e.tenant_id = ${tenant_id} and e.merchant_id = ${merchant_id} and e.id = wanted.event_id
    on conflict on constraint webhook_deliveries_once do nothing
    returning id, tenant_id, merchant_id, subscription_id, attempt, due_at`
}

/** Moves the cursor behind the last that was gone through, and puts the next batch off by `seconds`. */
export async function advanceWebhookReplay(
  sql: Sql, { id, tenant_id, merchant_id, kind }: WebhookReplayRow, { last, done, replayed }: { last: string, done: number, replayed: number }, seconds: number,
): Promise<void> {
  const reached = kind === 'resend' ? sql`payments.events` : sql`payments.webhook_deliveries`
  await sql`
    update payments.webhook_replays r
    set cursor_at = reached.created_at, cursor_id = reached.id, done = done + ${done}, replayed = replayed + ${replayed},
      due_at = now() + ${seconds}::float8 * interval '1 second'
    from ${reached} reached
    where r.tenant_id = ${tenant_id} and r.merchant_id = ${merchant_id} and r.id = ${id}
      and reached.tenant_id = r.tenant_id and reached.merchant_id = r.merchant_id and reached.id = ${last}`
}

function cursorOf(sql: Sql, { id, tenant_id, merchant_id }: WebhookReplayRow) {
  return sql`
    select cursor_at, cursor_id, asked_at, last_position from payments.webhook_replays
    where tenant_id = ${tenant_id} and merchant_id = ${merchant_id} and id = ${id}`
}

/** The tenant is proven by the replay's own row: naming what the index lacks would make a look at the table of every count. */
function deadOf(sql: Sql, { merchant_id, subscription_id, event_kinds, until }: WebhookReplayRow) {
  return sql`
    d.status = 'dead' and d.merchant_id = ${merchant_id}
    ${subscription_id === null ? sql`` : sql`and d.subscription_id = ${subscription_id}`}
    ${event_kinds === null ? sql`` : sql`and d.kind = any(${event_kinds}::text[])`}
    ${until === null ? sql`` : sql`and d.created_at < ${until}`}`
}

function eventsOf(sql: Sql, { tenant_id, merchant_id, event_kinds, since, until, created_at }: Resend) {
  return sql`
    e.tenant_id = ${tenant_id} and e.merchant_id = ${merchant_id}
    and e.created_at >= ${since} and e.created_at < ${until ?? new Date(created_at.getTime() + clocksApartMs)} and e.kind = any(${event_kinds}::text[])`
}

/** When the `place`-th of a batch is due. */
function slot(sql: Sql, perSecond: number) {
  return sql`date_trunc('milliseconds', now() + (wanted.place - 1) * interval '1 second' / ${perSecond}::int)`
}
