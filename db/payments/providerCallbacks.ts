import type { Sql } from '../sql.ts'

/**
 * What became of a callback. `received`: stored, and not yet processed. `unconfirmed` and `unmatched` are tried again
 * as long as they have a next try: the provider does not say the same when it is asked, or nothing is known of the key.
 */
export type CallbackOutcome = 'received' | 'applied' | 'repeated' | 'ignored' | 'mismatched' | 'unconfirmed' | 'unmatched'

export interface NewProviderCallback {
  id: string
  credentialId: string
  provider: string
  eventId: string
  /** As it came. */
  body: Buffer
  /** Those that its provider names. */
  headers: Record<string, string>
  /** What it says of the charge, and of which payment; null where it cannot be read. */
  status: string | null
  paymentReference: string | null
  outcome: CallbackOutcome
  detail: string | null
  receivedAt: Date
  /** Who processes it first, and until when it is left to them; null when there is nothing to process. */
  lease: { token: string, until: Date } | null
}

/** A callback that somebody holds in order to process it. */
export interface HeldCallback {
  id: string
  provider: string
  body: Buffer
  /** How often it was processed before. */
  tries: number
  lease_token: string
}

/** Keeps a callback as it came. False when the provider's own event id is kept already: then nothing is added. */
export async function insertProviderCallback(sql: Sql, callback: NewProviderCallback): Promise<boolean> {
  const rows = await sql`
    insert into payments.provider_callbacks
      (id, credential_id, provider, event_id, body, headers, status, payment_reference, outcome, detail, received_at, tries, next_try_at, lease_token)
    values (${callback.id}, ${callback.credentialId}, ${callback.provider}, ${callback.eventId}, ${callback.body}, ${sql.json(callback.headers)},
      ${callback.status}, ${callback.paymentReference}, ${callback.outcome}, ${callback.detail}, ${callback.receivedAt}, 0,
      ${callback.lease?.until ?? null}, ${callback.lease?.token ?? null})
    on conflict (credential_id, event_id) do nothing
    returning id`
  return rows.length === 1
}

/**
 * Takes callbacks of a provider whose lease has lapsed or whose next try is due, the longest due first, until
 * `leaseUntil`. Those that another worker is taking are left out.
 */
export async function takeDueCallbacks(
  sql: Sql, provider: string, { now, leaseToken, leaseUntil, most }: { now: Date, leaseToken: string, leaseUntil: Date, most: number },
): Promise<HeldCallback[]> {
  return sql<HeldCallback[]>`
    update payments.provider_callbacks set lease_token = ${leaseToken}, next_try_at = ${leaseUntil}
    where id in (
      select id from payments.provider_callbacks
      where provider = ${provider} and next_try_at <= ${now}
      order by next_try_at
      limit ${most}
      for update skip locked)
    returning id, provider, body, tries, lease_token`
}

/** Locks a callback that is still this holder's to settle. False when another has taken it over, or settled it. */
export async function lockHeldCallback(sql: Sql, { id, lease_token }: HeldCallback): Promise<boolean> {
  const rows = await sql`
    select from payments.provider_callbacks
    where id = ${id} and lease_token = ${lease_token} and next_try_at is not null
    for update`
  return rows.length === 1
}

/** Writes what became of a callback, if it is still this holder's; `nextTryAt` null ends the tries. */
export async function settleCallback(
  sql: Sql, { id, lease_token }: HeldCallback,
  { outcome, detail, intentId }: { outcome: Exclude<CallbackOutcome, 'received'>, detail: string | null, intentId: string | null }, nextTryAt: Date | null,
): Promise<boolean> {
  const rows = await sql`
    update payments.provider_callbacks
    set outcome = ${outcome}, detail = ${detail}, intent_id = ${intentId}, tries = tries + 1, next_try_at = ${nextTryAt}, lease_token = null
    where id = ${id} and lease_token = ${lease_token} and next_try_at is not null
    returning id`
  return rows.length === 1
}

/** Leaves a callback that could not be processed to a later try, its outcome as it was, if it is still this holder's. */
export async function postponeCallback(sql: Sql, { id, lease_token }: HeldCallback, nextTryAt: Date): Promise<void> {
  await sql`
    update payments.provider_callbacks set tries = tries + 1, next_try_at = ${nextTryAt}, lease_token = null
    where id = ${id} and lease_token = ${lease_token} and next_try_at is not null`
}

/** Makes callbacks due at a time for whoever takes them next, those that are still these holders'. */
export async function giveBackCallbacks(sql: Sql, held: readonly HeldCallback[], dueAt: Date): Promise<void> {
  await sql`
    update payments.provider_callbacks set next_try_at = ${dueAt}, lease_token = null
    where id = any(${held.map(({ id }) => id)}) and lease_token = any(${held.map(({ lease_token: token }) => token)}) and next_try_at is not null`
}

/** Providers that have callbacks due, those that this deployment does not know among them. */
export async function listProvidersWithDueCallbacks(sql: Sql, now: Date): Promise<string[]> {
  const rows = await sql<{ provider: string }[]>`
    select distinct provider from payments.provider_callbacks where next_try_at <= ${now}`
  return rows.map(({ provider }) => provider)
}

/** The sealed secret of a provider's credential; the path names both, and the signature under it is the proof. */
export async function findPspCredential(sql: Sql, provider: string, id: string): Promise<{ id: string, secret: Buffer } | undefined> {
  const [row] = await sql<{ id: string, secret: Buffer }[]>`
    select id, secret from payments.psp_credentials where provider = ${provider} and id = ${id}`
  return row
}

/** Stores a credential of the installation. The same id again replaces its secret. */
export async function putPspCredential(sql: Sql, credential: { id: string, provider: string, secret: Buffer }, now: Date): Promise<void> {
  await sql`
    insert into payments.psp_credentials (id, tenant_id, provider, secret, created_at)
    values (${credential.id}, null, ${credential.provider}, ${credential.secret}, ${now})
    on conflict (id) do update set secret = excluded.secret`
}

/** Forgets callbacks, of every tenant, that came before a time and wait for nothing; at most `most`. Returns how many. */
export async function purgeProviderCallbacks(sql: Sql, before: Date, most: number): Promise<number> {
  const rows = await sql`
    delete from payments.provider_callbacks
    where id in (
      select id from payments.provider_callbacks
      where received_at < ${before} and next_try_at is null order by received_at limit ${most} for update skip locked)
    returning id`
  return rows.length
}
