import { claimIdempotencyKey, findIdempotencyKey, storeIdempotentReply } from '../db/payments/idempotencyKeys.ts'
import type { IdempotencyRow, IdempotencyScope } from '../db/payments/idempotencyKeys.ts'
import type { Sql } from '../db/sql.ts'
import type { Runtime } from '../domain/runtime.ts'
import { sealingNonceBytes } from '../domain/sealing.ts'
import type { SealingKeys } from '../domain/sealing.ts'

/** An answer as it was first given. */
export interface StoredAnswer {
  status: number
  body: unknown
}

/** What a key already stands for. */
export interface EarlierRequest {
  fingerprint: Buffer
  /** The answer; null while the request is at work, or when the answer is older than 30 days. */
  reply: StoredAnswer | null
  /** Status of the answer, known for ever; null while the request is at work. */
  status: number | null
  providerOperationId: string | null
  resourceId: string | null
}

export interface IdempotentRequestScope extends IdempotencyScope {
  fingerprint: Buffer
}

export interface IdempotentReplies {
  /** Claims the key in the caller's transaction, or tells what it stands for. A twin in an open transaction is waited for. */
  claim(
    sql: Sql, request: IdempotentRequestScope, now: Date, waitsFor?: { providerOperationId: string | null, resourceId: string | null },
  ): Promise<EarlierRequest | null>
  find(sql: Sql, request: IdempotencyScope): Promise<EarlierRequest | null>
  store(sql: Sql, request: IdempotencyScope, reply: StoredAnswer, now: Date, resourceId?: string | null): Promise<void>
}

/** Keys and sealed replies of the payments service (decision 3.10). */
export function idempotentReplies(sealing: SealingKeys, runtime: Pick<Runtime, 'randomBytes'>): IdempotentReplies {
  const identity = ({ ownerId, operationId, key }: IdempotencyScope) => `idempotency:${ownerId}:${operationId}:${key}`
  const read = (row: IdempotencyRow, request: IdempotencyScope): EarlierRequest => ({
    fingerprint: row.fingerprint,
    reply: row.reply && JSON.parse(sealing.open(row.reply, identity(request)).toString()) as StoredAnswer,
    status: row.status,
    providerOperationId: row.provider_operation_id,
    resourceId: row.resource_id,
  })
  const find = async (sql: Sql, request: IdempotencyScope): Promise<EarlierRequest | null> => {
    const row = await findIdempotencyKey(sql, request)
    return row ? read(row, request) : null
  }
  return {
    find,
    async claim(sql, request, now, waitsFor) {
      if (await claimIdempotencyKey(sql, request, request.fingerprint, now, waitsFor)) return null
      const earlier = await find(sql, request)
      if (!earlier) throw new Error('an idempotency key was taken and is not there')
      return earlier
    },
    async store(sql, request, { status, body }, now, resourceId = null) {
      const sealed = sealing.seal(Buffer.from(JSON.stringify({ status, body })), identity(request), runtime.randomBytes(sealingNonceBytes))
      await storeIdempotentReply(sql, request, status, sealed, resourceId, now)
    },
  }
}
