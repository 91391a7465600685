import type { Sql } from '../sql.ts'

/** A public key as the key set shows it (RFC 7517). */
export interface PublicKey {
  kty: string
  crv: string
  x: string
  y: string
  kid: string
  use: string
  alg: string
}

export interface SigningKeyRow {
  id: string
  public_jwk: PublicKey
  /** Sealed PKCS #8. */
  private_key: Buffer
  retired_at: Date | null
}

/** The present key first, then those retired after `retiredAfter`, the newest first. */
export async function listSigningKeys(sql: Sql, retiredAfter: Date): Promise<SigningKeyRow[]> {
  return sql<SigningKeyRow[]>`
    select id, public_jwk, private_key, retired_at from identity.signing_keys
    where retired_at is null or retired_at > ${retiredAfter}
    order by retired_at desc nulls first`
}

/** Makes a key the present one, unless there is one: of two processes at a time one makes it. */
export async function insertFirstSigningKey(
  sql: Sql, key: Omit<SigningKeyRow, 'retired_at'>, now: Date,
): Promise<void> {
  await sql`
    insert into identity.signing_keys (id, public_jwk, private_key, created_at)
    values (${key.id}, ${sql.json(key.public_jwk)}, ${key.private_key}, ${now})
    on conflict ((retired_at is null)) where retired_at is null do nothing`
}

/** Retires the present key. The next one that is asked for is new. */
export async function retireSigningKey(sql: Sql, now: Date): Promise<void> {
  await sql`update identity.signing_keys set retired_at = ${now} where retired_at is null`
}
