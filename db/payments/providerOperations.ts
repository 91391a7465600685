import type { Sql } from '../sql.ts'

export type RecoveryPoint = 'started' | 'answered' | 'refused' | 'abandoned'

/** A call to a payment provider. Its id is the key that is sent. */
export interface ProviderOperationRow {
  id: string
  tenant_id: string
  merchant_id: string
  kind: 'create_charge' | 'choose_channel'
  intent_id: string
  attempt_id: string
  provider: string
  /** The request as it will be sent, again and again the same. */
  request: unknown
  recovery_point: RecoveryPoint
  lease_token: string | null
  holders: number
  idempotency_operation: string | null
  idempotency_key: string | null
  request_id: string
  created_at: Date
}

export type NewProviderOperation = Omit<ProviderOperationRow, 'recovery_point' | 'holders' | 'lease_token'> & { lease_token: string, api_key_id: string | null }

/** Seconds that a holder has an operation to itself (decision 3.3). */
export const leaseSeconds = 15

export async function insertProviderOperation(sql: Sql, operation: NewProviderOperation): Promise<void> {
  await sql`
    insert into payments.provider_operations
      (id, tenant_id, merchant_id, kind, intent_id, attempt_id, provider, request, recovery_point, lease_token, lease_until, next_try_at,
       api_key_id, idempotency_operation, idempotency_key, request_id, created_at)
    values (${operation.id}, ${operation.tenant_id}, ${operation.merchant_id}, ${operation.kind}, ${operation.intent_id}, ${operation.attempt_id},
      ${operation.provider}, ${sql.json(operation.request)}, 'started', ${operation.lease_token},
      now() + ${leaseSeconds} * interval '1 second', now() + ${leaseSeconds} * interval '1 second',
      ${operation.api_key_id}, ${operation.idempotency_operation}, ${operation.idempotency_key}, ${operation.request_id}, ${operation.created_at})`
}

export async function findProviderOperation(sql: Sql, tenantId: string, merchantId: string, id: string): Promise<ProviderOperationRow | undefined> {
  const [row] = await sql<ProviderOperationRow[]>`
    select * from payments.provider_operations where tenant_id = ${tenantId} and merchant_id = ${merchantId} and id = ${id}`
  return row
}

/** The operation that a provider echoes by its key. The provider's credential is the proof, so no merchant is known before it. */
export async function findProviderOperationByKey(sql: Sql, provider: string, id: string): Promise<ProviderOperationRow | undefined> {
  const [row] = await sql<ProviderOperationRow[]>`
    select * from payments.provider_operations where provider = ${provider} and id = ${id}`
  return row
}

/** Takes over an unfinished operation whose lease has lapsed. No row while another holds it, or when it is finished. */
export async function takeOverProviderOperation(
  sql: Sql, tenantId: string, merchantId: string, id: string, leaseToken: string,
): Promise<ProviderOperationRow | undefined> {
  const [row] = await sql<ProviderOperationRow[]>`
    update payments.provider_operations
    set lease_token = ${leaseToken}, lease_until = now() + ${leaseSeconds} * interval '1 second', holders = holders + 1
    where tenant_id = ${tenantId} and merchant_id = ${merchantId} and id = ${id} and recovery_point = 'started' and lease_until < now()
    returning *`
  return row
}

/** Gives the lease back, so that a retry can act at once; the sweep waits `retrySeconds`. */
export async function releaseProviderOperation(
  sql: Sql, { tenant_id, merchant_id, id, lease_token }: ProviderOperationRow, retrySeconds: number,
): Promise<void> {
  await sql`
    update payments.provider_operations
    set lease_until = now() - interval '1 millisecond', next_try_at = now() + ${retrySeconds} * interval '1 second'
    where tenant_id = ${tenant_id} and merchant_id = ${merchant_id} and id = ${id} and lease_token = ${lease_token} and recovery_point = 'started'`
}

/** Finishes an operation, if it is still this holder's. False when another has taken it over. */
export async function finishProviderOperation(
  sql: Sql, { tenant_id, merchant_id, id, lease_token }: ProviderOperationRow, recoveryPoint: Exclude<RecoveryPoint, 'started'>, now: Date,
): Promise<boolean> {
  const rows = await sql`
    update payments.provider_operations set recovery_point = ${recoveryPoint}, finished_at = ${now}
    where tenant_id = ${tenant_id} and merchant_id = ${merchant_id} and id = ${id} and lease_token = ${lease_token} and recovery_point = 'started'
    returning id`
  return rows.length === 1
}

export interface DueProviderOperation {
  id: string
  tenant_id: string
  merchant_id: string
  kind: ProviderOperationRow['kind']
}

/** Unfinished operations of a provider that nobody holds and that are due for another try, of every tenant: the sweep's list. */
export async function listDueProviderOperations(sql: Sql, provider: string, most: number): Promise<DueProviderOperation[]> {
  return sql<DueProviderOperation[]>`
    select id, tenant_id, merchant_id, kind from payments.provider_operations
    where recovery_point = 'started' and next_try_at < now() and lease_until < now() and provider = ${provider}
    order by next_try_at
    limit ${most}`
}

/** Providers that have unfinished operations due, those that this deployment does not know among them. */
export async function listProvidersWithDueOperations(sql: Sql): Promise<string[]> {
  const rows = await sql<{ provider: string }[]>`
    select distinct provider from payments.provider_operations
    where recovery_point = 'started' and next_try_at < now() and lease_until < now()`
  return rows.map(({ provider }) => provider)
}
