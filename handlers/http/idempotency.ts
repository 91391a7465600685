import type { Sql } from '../../db/sql.ts'
import { fingerprint } from '../../domain/fingerprint.ts'
import { ApiError } from '../../domain/apiError.ts'
import type { Exchange, Reply } from './exchange.ts'

/** Whose key, for which operation, with which request. */
export interface IdempotentRequest {
  tenantId: string
  ownerId: string
  operationId: string
  key: string
  fingerprint: Buffer
}

/** Where a service keeps its idempotency keys. */
export interface IdempotencyStore {
  /** Claims the key in the caller's transaction; a twin is waited for. Answers the twin's stored reply, or null once claimed. */
  claim(sql: Sql, request: IdempotentRequest, now: Date): Promise<{ fingerprint: Buffer, reply: Reply | null } | null>
  /** The stored reply of a finished request, for the look before the guards that a retry could no longer satisfy. */
  find(sql: Sql, request: IdempotentRequest): Promise<{ fingerprint: Buffer, reply: Reply | null } | null>
  store(sql: Sql, request: IdempotentRequest, reply: Reply, now: Date): Promise<void>
}

/** The idempotent request that an exchange is, or undefined when it carries no key. */
export function idempotentRequest(exchange: Exchange): IdempotentRequest | undefined {
  const { idempotencyKey: key, reach, site, operation, request, body } = exchange
  if (key === undefined) return undefined
  const tenantId = reach?.tenantId ?? site?.tenantId
  if (tenantId === undefined) throw new Error(`${operation.id}: an idempotent operation needs a tenant`)
  const ownerId = site?.storeId ?? (reach?.merchantIds?.length === 1 ? reach.merchantIds[0] : undefined) ?? tenantId
  return { tenantId, ownerId, operationId: operation.id, key, fingerprint: fingerprint(operation.id, request.path + within(reach), body) }
}

/**
 * Callers who reach several merchants share their tenant's keys. Who reaches others than the first caller did is another one, and must not
 * be shown what that one was answered.
 */
function within(reach: Exchange['reach']): string {
  const ids = reach?.merchantIds
  return ids === null || ids === undefined || ids.length === 1 ? '' : ` of ${[...ids].sort().join(',')}`
}

/** Refuses the same key with another request (decision 3.10). */
export function assertSameRequest(stored: Buffer, request: IdempotentRequest): void {
  if (!stored.equals(request.fingerprint)) throw new ApiError('idempotency_key_reused')
}

/** A stored answer as it is sent again. */
export function replayOf(reply: Reply): Reply {
  return { ...reply, headers: { ...reply.headers, 'Idempotency-Replayed': 'true' } }
}
