import type { Sql } from '../sql.ts'

export interface ApiKeyRow {
  id: string
  tenant_id: string
  merchant_id: string
  prefix: string
  scopes: string[]
  created_by: string
}

/** The live key with this digest. The digest is the credential itself, so no tenant is known before it. */
export async function findLiveApiKey(sql: Sql, digest: Buffer, now: Date): Promise<ApiKeyRow | undefined> {
  const [row] = await sql<ApiKeyRow[]>`
    select id, tenant_id, merchant_id, prefix, scopes, created_by
    from payments.api_keys
    where key_sha256 = ${digest} and revoked_at is null and (expires_at is null or expires_at > ${now})`
  return row
}

/** Whether the key is live still, for the look inside a writing transaction (decision 5.3). */
export async function isApiKeyLive(sql: Sql, tenantId: string, merchantId: string, id: string, now: Date): Promise<boolean> {
  const rows = await sql`
    select from payments.api_keys
    where tenant_id = ${tenantId} and merchant_id = ${merchantId} and id = ${id}
      and revoked_at is null and (expires_at is null or expires_at > ${now})`
  return rows.length === 1
}

export interface NewApiKey {
  id: string
  tenantId: string
  merchantId: string
  name: string
  prefix: string
  digest: Buffer
  scopes: readonly string[]
  createdBy: string
  createdAt: Date
  expiresAt: Date | null
}

export async function insertApiKey(sql: Sql, key: NewApiKey): Promise<void> {
  await sql`
    insert into payments.api_keys (id, tenant_id, merchant_id, name, prefix, key_sha256, scopes, created_by, created_at, expires_at)
    values (${key.id}, ${key.tenantId}, ${key.merchantId}, ${key.name}, ${key.prefix}, ${key.digest}, ${key.scopes as string[]},
      ${key.createdBy}, ${key.createdAt}, ${key.expiresAt})`
}
