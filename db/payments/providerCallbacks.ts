import type { Sql } from '../sql.ts'

export type CallbackOutcome = 'applied' | 'repeated' | 'unmatched' | 'mismatched' | 'ignored'

export interface NewProviderCallback {
  id: string
  credentialId: string
  provider: string
  eventId: string
  /** As it came. */
  body: Buffer
  outcome: CallbackOutcome
  detail: string | null
  intentId: string | null
  receivedAt: Date
  /** When it is to be applied anew; null when it is settled. */
  nextTryAt: Date | null
}

/** Keeps a callback as it came. A repeat of the provider's own event id adds nothing. */
export async function insertProviderCallback(sql: Sql, callback: NewProviderCallback): Promise<void> {
  await sql`
    insert into payments.provider_callbacks (id, credential_id, provider, event_id, body, outcome, detail, intent_id, received_at, next_try_at)
    values (${callback.id}, ${callback.credentialId}, ${callback.provider}, ${callback.eventId}, ${callback.body}, ${callback.outcome},
      ${callback.detail}, ${callback.intentId}, ${callback.receivedAt}, ${callback.nextTryAt})
    on conflict (credential_id, event_id) do nothing`
}

export interface DueCallback {
  id: string
  provider: string
  body: Buffer
  tries: number
}

/** Unmatched callbacks that are due for another try, locked; those that another worker is at are left out. */
export async function lockDueCallbacks(sql: Sql, now: Date, most: number): Promise<DueCallback[]> {
  return sql<DueCallback[]>`
    select id, provider, body, tries from payments.provider_callbacks
    where next_try_at <= ${now}
    order by next_try_at
    limit ${most}
    for update skip locked`
}

/** Writes what became of another try; `nextTryAt` null ends the tries. */
export async function settleCallback(
  sql: Sql, id: string, { outcome, detail, intentId }: Pick<NewProviderCallback, 'outcome' | 'detail' | 'intentId'>, nextTryAt: Date | null,
): Promise<void> {
  await sql`
    update payments.provider_callbacks
    set outcome = ${outcome}, detail = ${detail}, intent_id = ${intentId}, tries = tries + 1, next_try_at = ${nextTryAt}
    where id = ${id}`
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
