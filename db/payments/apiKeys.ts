import type { Sql } from '../sql.ts'
import type { Scope } from './paymentIntents.ts'

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

/** A key as its owner sees it. */
export interface ApiKeyRecord {
  id: string
  tenant_id: string
  merchant_id: string
  name: string
  prefix: string
  scopes: string[]
  created_at: Date
  expires_at: Date | null
  revoked_at: Date | null
  last_used_at: Date | null
}

/** Inserts a key unless its prefix is taken in the tenant; then undefined, and another key must be made. */
export async function insertApiKeyWithFreePrefix(sql: Sql, key: NewApiKey): Promise<ApiKeyRecord | undefined> {
  const [row] = await sql<ApiKeyRecord[]>`
    insert into payments.api_keys (id, tenant_id, merchant_id, name, prefix, key_sha256, scopes, created_by, created_at, expires_at)
    values (${key.id}, ${key.tenantId}, ${key.merchantId}, ${key.name}, ${key.prefix}, ${key.digest}, ${key.scopes as string[]},
      ${key.createdBy}, ${key.createdAt}, ${key.expiresAt})
    on conflict (tenant_id, prefix) do nothing
    returning id, tenant_id, merchant_id, name, prefix, scopes, created_at, expires_at, revoked_at, last_used_at`
  return row
}

/** A page of keys within reach, newest first. `search` is text in name or prefix, taken literally. */
export async function listApiKeys(
  sql: Sql, { tenantId, merchantIds }: Scope, { search, limit, offset }: { search: string | null, limit: number, offset: number },
): Promise<{ rows: ApiKeyRecord[], total: number }> {
  const ids = merchantIds as string[] | null
  const like = search === null ? null : `%${search.replace(/[\\%_]/g, '\\$&')}%`
  const matching = sql`
    tenant_id = ${tenantId} and (${ids}::uuid[] is null or merchant_id = any(${ids}::uuid[]))
      and (${like}::text is null or name ilike ${like} or prefix ilike ${like})`
  const [rows, [count]] = await Promise.all([
    sql<ApiKeyRecord[]>`
      select id, tenant_id, merchant_id, name, prefix, scopes, created_at, expires_at, revoked_at, last_used_at
      from payments.api_keys where ${matching}
      order by created_at desc, id desc limit ${limit} offset ${offset}`,
    sql<{ total: number }[]>`select count(*)::int as total from payments.api_keys where ${matching}`,
  ])
  return { rows, total: count?.total ?? 0 }
}

/** A key within reach. */
export async function findApiKey(sql: Sql, { tenantId, merchantIds }: Scope, id: string): Promise<ApiKeyRecord | undefined> {
  const ids = merchantIds as string[] | null
  const [row] = await sql<ApiKeyRecord[]>`
    select id, tenant_id, merchant_id, name, prefix, scopes, created_at, expires_at, revoked_at, last_used_at
    from payments.api_keys
    where tenant_id = ${tenantId} and (${ids}::uuid[] is null or merchant_id = any(${ids}::uuid[])) and id = ${id}`
  return row
}

/** A key within reach, locked for a change. */
export async function lockApiKey(sql: Sql, { tenantId, merchantIds }: Scope, id: string): Promise<(ApiKeyRecord & { created_by: string }) | undefined> {
  const ids = merchantIds as string[] | null
  const [row] = await sql<(ApiKeyRecord & { created_by: string })[]>`
    select id, tenant_id, merchant_id, name, prefix, scopes, created_by, created_at, expires_at, revoked_at, last_used_at
    from payments.api_keys
    where tenant_id = ${tenantId} and (${ids}::uuid[] is null or merchant_id = any(${ids}::uuid[])) and id = ${id}
    for update`
  return row
}

/** Revokes a live key. False when it was revoked before. */
export async function revokeApiKey(sql: Sql, { tenant_id, merchant_id, id }: ApiKeyRecord, now: Date): Promise<boolean> {
  const rows = await sql`
    update payments.api_keys set revoked_at = ${now}
    where tenant_id = ${tenant_id} and merchant_id = ${merchant_id} and id = ${id} and revoked_at is null
    returning id`
  return rows.length === 1
}

/** Lets a key end at `at`, unless it ends sooner already. */
export async function endApiKeyAt(sql: Sql, { tenant_id, merchant_id, id }: ApiKeyRecord, at: Date): Promise<void> {
  await sql`
    update payments.api_keys set expires_at = least(coalesce(expires_at, ${at}), ${at})
    where tenant_id = ${tenant_id} and merchant_id = ${merchant_id} and id = ${id}`
}

/** Notes when keys were last used, to the minute; a key that was used in that minute already is left alone. */
export async function touchApiKeys(sql: Sql, ids: readonly string[], at: Date): Promise<void> {
  await sql`
    update payments.api_keys set last_used_at = date_trunc('minute', ${at}::timestamptz)
    where id = any(${ids as string[]}::uuid[]) and (last_used_at is null or last_used_at < date_trunc('minute', ${at}::timestamptz))`
}
