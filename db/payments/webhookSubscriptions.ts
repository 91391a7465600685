import type { Sql } from '../sql.ts'
import type { Scope } from './paymentIntents.ts'

export interface WebhookSubscriptionRow {
  id: string
  tenant_id: string
  merchant_id: string
  url: string
  description: string | null
  /** Sealed, as the previous one. */
  secret: Buffer
  previous_secret: Buffer | null
  previous_secret_until: Date | null
  events: string[]
  active: boolean
  created_at: Date
  last_success_at: Date | null
  disabled_at: Date | null
  disabled_reason: 'paused' | 'failures' | null
}

export interface NewWebhookSubscription {
  id: string
  tenantId: string
  merchantId: string
  url: string
  description: string | null
  /** Sealed. */
  secret: Buffer
  events: readonly string[]
  createdAt: Date
}

export async function insertWebhookSubscription(sql: Sql, subscription: NewWebhookSubscription): Promise<WebhookSubscriptionRow> {
  const [row] = await sql<WebhookSubscriptionRow[]>`
    insert into payments.webhook_subscriptions
      (id, tenant_id, merchant_id, url, description, secret, events, active, created_at, activated_at)
    values (${subscription.id}, ${subscription.tenantId}, ${subscription.merchantId}, ${subscription.url}, ${subscription.description},
      ${subscription.secret}, ${subscription.events as string[]}, true, ${subscription.createdAt}, clock_timestamp())
    returning *`
  if (!row) throw new Error('a subscription was not inserted')
  return row
}

/** How many subscriptions a merchant has, deleted ones left out. Until the transaction ends no other one counts them so. */
export async function countWebhookSubscriptionsLocked(sql: Sql, tenantId: string, merchantId: string): Promise<number> {
  await sql`select from payments.merchants where tenant_id = ${tenantId} and id = ${merchantId} for no key update`
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count from payments.webhook_subscriptions
    where tenant_id = ${tenantId} and merchant_id = ${merchantId} and deleted_at is null`
  return row?.count ?? 0
}

/** A subscription within reach that is not deleted. */
export async function findWebhookSubscription(sql: Sql, { tenantId, merchantIds }: Scope, id: string): Promise<WebhookSubscriptionRow | undefined> {
  const ids = merchantIds as string[] | null
  const [row] = await sql<WebhookSubscriptionRow[]>`
    select * from payments.webhook_subscriptions
    where tenant_id = ${tenantId} and (${ids}::uuid[] is null or merchant_id = any(${ids}::uuid[])) and id = ${id} and deleted_at is null`
  return row
}

/** The same, locked for a change. Events that are being written are not held up. */
export async function lockWebhookSubscription(sql: Sql, { tenantId, merchantIds }: Scope, id: string): Promise<WebhookSubscriptionRow | undefined> {
  const ids = merchantIds as string[] | null
  const [row] = await sql<WebhookSubscriptionRow[]>`
    select * from payments.webhook_subscriptions
    where tenant_id = ${tenantId} and (${ids}::uuid[] is null or merchant_id = any(${ids}::uuid[])) and id = ${id} and deleted_at is null
    for no key update`
  return row
}

/** A page of subscriptions within reach, newest first. `search` is text in url or description, taken literally. */
export async function listWebhookSubscriptions(
  sql: Sql, { tenantId, merchantIds }: Scope, { search, limit, offset }: { search: string | null, limit: number, offset: number },
): Promise<{ rows: WebhookSubscriptionRow[], total: number }> {
  const ids = merchantIds as string[] | null
  const like = search === null ? null : `%${search.replace(/[\\%_]/g, '\\$&')}%`
  const matching = sql`
    tenant_id = ${tenantId} and (${ids}::uuid[] is null or merchant_id = any(${ids}::uuid[])) and deleted_at is null
      and (${like}::text is null or url ilike ${like} or description ilike ${like})`
  const [rows, [count]] = await Promise.all([
    sql<WebhookSubscriptionRow[]>`
      select * from payments.webhook_subscriptions where ${matching}
      order by created_at desc, id desc limit ${limit} offset ${offset}`,
    sql<{ total: number }[]>`select count(*)::int as total from payments.webhook_subscriptions where ${matching}`,
  ])
  return { rows, total: count?.total ?? 0 }
}

/** What an update sets; active is told apart since it has effects of its own. */
export interface WebhookSubscriptionChange {
  url: string
  description: string | null
  events: readonly string[]
}

export async function updateWebhookSubscription(
  sql: Sql, { tenant_id, merchant_id, id }: WebhookSubscriptionRow, { url, description, events }: WebhookSubscriptionChange,
): Promise<void> {
  await sql`
    update payments.webhook_subscriptions set url = ${url}, description = ${description}, events = ${events as string[]}
    where tenant_id = ${tenant_id} and merchant_id = ${merchant_id} and id = ${id} and deleted_at is null`
}

/** Makes an inactive subscription active; failures count from now on, and what waits is to be gone through. */
export async function activateWebhookSubscription(sql: Sql, { tenant_id, merchant_id, id }: WebhookSubscriptionRow): Promise<void> {
  await sql`
    update payments.webhook_subscriptions
    set active = true, activated_at = clock_timestamp(), disabled_at = null, disabled_reason = null, unsettled = true, woken_until = null
    where tenant_id = ${tenant_id} and merchant_id = ${merchant_id} and id = ${id} and not active and deleted_at is null`
}

/** Makes an active subscription inactive. */
export async function disableWebhookSubscription(
  sql: Sql, { tenant_id, merchant_id, id }: Pick<WebhookSubscriptionRow, 'tenant_id' | 'merchant_id' | 'id'>, reason: 'paused' | 'failures', now: Date,
): Promise<void> {
  await sql`
    update payments.webhook_subscriptions set active = false, disabled_at = ${now}, disabled_reason = ${reason}
    where tenant_id = ${tenant_id} and merchant_id = ${merchant_id} and id = ${id} and active`
}

/**
 * Makes `secret`, sealed, the current one. The one until now becomes the previous one, which signs too until `previousUntil`;
 * one that was the previous one already is dropped.
 */
export async function rotateWebhookSecret(
  sql: Sql, { tenant_id, merchant_id, id }: WebhookSubscriptionRow, secret: Buffer, previousUntil: Date,
): Promise<WebhookSubscriptionRow | undefined> {
  const [row] = await sql<WebhookSubscriptionRow[]>`
    update payments.webhook_subscriptions
    set secret = ${secret}, previous_secret = secret, previous_secret_until = ${previousUntil}
    where tenant_id = ${tenant_id} and merchant_id = ${merchant_id} and id = ${id} and deleted_at is null
    returning *`
  return row
}

/** Forgets previous secrets, of every tenant, that have not signed since `before` or longer. Returns how many. */
export async function purgePreviousWebhookSecrets(sql: Sql, before: Date, most: number): Promise<number> {
  const rows = await sql`
    update payments.webhook_subscriptions set previous_secret = null, previous_secret_until = null
    where id in (
      select id from payments.webhook_subscriptions
      where previous_secret is not null and previous_secret_until <= ${before}
      order by previous_secret_until limit ${most}
      for no key update skip locked)
    returning id`
  return rows.length
}

/** Deletes a subscription; its row stays for the deliveries that it had, without its secrets. */
export async function deleteWebhookSubscription(sql: Sql, { tenant_id, merchant_id, id }: WebhookSubscriptionRow, now: Date): Promise<void> {
  await sql`
    update payments.webhook_subscriptions
    set active = false, deleted_at = ${now}, secret = '', previous_secret = null, previous_secret_until = null, unsettled = true
    where tenant_id = ${tenant_id} and merchant_id = ${merchant_id} and id = ${id} and deleted_at is null`
}
