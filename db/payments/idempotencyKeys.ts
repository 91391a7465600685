import type { Sql } from '../sql.ts'

/** What a key belongs to: decision 3.10. */
export interface IdempotencyScope {
  tenantId: string
  ownerId: string
  operationId: string
  key: string
}

export interface IdempotencyRow {
  fingerprint: Buffer
  provider_operation_id: string | null
  resource_id: string | null
  status: number | null
  reply: Buffer | null
}

/** Claims a key. False when another request holds it; a twin in an open transaction is waited for. */
export async function claimIdempotencyKey(
  sql: Sql, { tenantId, ownerId, operationId, key }: IdempotencyScope, fingerprint: Buffer, now: Date,
  waitsFor: { providerOperationId: string | null, resourceId: string | null } = { providerOperationId: null, resourceId: null },
): Promise<boolean> {
  const rows = await sql`
    insert into payments.idempotency_keys (tenant_id, owner_id, operation_id, key, fingerprint, provider_operation_id, resource_id, created_at)
    values (${tenantId}, ${ownerId}, ${operationId}, ${key}, ${fingerprint}, ${waitsFor.providerOperationId}, ${waitsFor.resourceId}, ${now})
    on conflict (owner_id, operation_id, key) do nothing
    returning key`
  return rows.length === 1
}

export async function findIdempotencyKey(sql: Sql, { tenantId, ownerId, operationId, key }: IdempotencyScope): Promise<IdempotencyRow | undefined> {
  const [row] = await sql<IdempotencyRow[]>`
    select fingerprint, provider_operation_id, resource_id, status, reply
    from payments.idempotency_keys
    where tenant_id = ${tenantId} and owner_id = ${ownerId} and operation_id = ${operationId} and key = ${key}`
  return row
}

/** Stores the reply of a claimed key, sealed. */
export async function storeIdempotentReply(
  sql: Sql, { tenantId, ownerId, operationId, key }: IdempotencyScope, status: number, reply: Buffer, resourceId: string | null, now: Date,
): Promise<void> {
  await sql`
    update payments.idempotency_keys
    set status = ${status}, reply = ${reply}, resource_id = coalesce(${resourceId}, resource_id), replied_at = ${now}
    where tenant_id = ${tenantId} and owner_id = ${ownerId} and operation_id = ${operationId} and key = ${key} and status is null`
}

/** Forgets stored replies older than `before`; the key stays for ever (decision 3.10). Refusals are small and stay. Returns how many. */
export async function purgeIdempotentReplies(sql: Sql, before: Date, most: number): Promise<number> {
  const rows = await sql`
    update payments.idempotency_keys set reply = null
    where (owner_id, operation_id, key) in (
      select owner_id, operation_id, key from payments.idempotency_keys
      where replied_at < ${before} and reply is not null and status < 300
      limit ${most})
    returning key`
  return rows.length
}
