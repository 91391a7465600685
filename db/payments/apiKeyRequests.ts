import type { Sql } from '../sql.ts'

export interface ApiKeyRequestRow {
  id: string
  tenant_id: string
  merchant_id: string
  api_key_id: string
  operation_id: string
  status: number
  error: string | null
  address: string
  request_id: string
  requested_at: Date
}

/** Writes a batch of requests in one statement. */
export async function insertApiKeyRequests(sql: Sql, requests: readonly ApiKeyRequestRow[]): Promise<void> {
  await sql`
    insert into payments.api_key_requests
      (id, tenant_id, merchant_id, api_key_id, operation_id, status, error, address, request_id, requested_at)
    select * from jsonb_to_recordset(${sql.json(requests)}) as r
      (id uuid, tenant_id uuid, merchant_id uuid, api_key_id uuid, operation_id text, status int, error text, address text,
       request_id text, requested_at timestamptz)`
}

/** A page of a key's requests since `since`, newest first. */
export async function listApiKeyRequests(
  sql: Sql, { tenantId, merchantId, apiKeyId }: { tenantId: string, merchantId: string, apiKeyId: string }, since: Date,
  { limit, offset }: { limit: number, offset: number },
): Promise<{ rows: ApiKeyRequestRow[], total: number }> {
  const matching = sql`
    tenant_id = ${tenantId} and merchant_id = ${merchantId} and api_key_id = ${apiKeyId} and requested_at >= ${since}`
  const [rows, [count]] = await Promise.all([
    sql<ApiKeyRequestRow[]>`
      select * from payments.api_key_requests where ${matching} order by requested_at desc, id desc limit ${limit} offset ${offset}`,
    sql<{ total: number }[]>`select count(*)::int as total from payments.api_key_requests where ${matching}`,
  ])
  return { rows, total: count?.total ?? 0 }
}

/** Forgets requests older than `before`, at most `most` at a time. Returns how many. */
export async function purgeApiKeyRequests(sql: Sql, before: Date, most: number): Promise<number> {
  const rows = await sql`
    delete from payments.api_key_requests
    where id in (select id from payments.api_key_requests where requested_at < ${before} limit ${most})
    returning id`
  return rows.length
}
