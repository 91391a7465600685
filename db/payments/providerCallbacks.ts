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
}

/** Keeps a callback as it came. A repeat of the provider's own event id adds nothing. */
export async function insertProviderCallback(sql: Sql, callback: NewProviderCallback): Promise<void> {
  await sql`
    insert into payments.provider_callbacks (id, credential_id, provider, event_id, body, outcome, detail, intent_id, received_at)
    values (${callback.id}, ${callback.credentialId}, ${callback.provider}, ${callback.eventId}, ${callback.body}, ${callback.outcome},
      ${callback.detail}, ${callback.intentId}, ${callback.receivedAt})
    on conflict (credential_id, event_id) do nothing`
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
