import { insertAuditEvent } from '../../db/payments/auditEvents.ts'
import { newId } from '../../db/ids.ts'
import type { Sql } from '../../db/sql.ts'
import type { Runtime } from '../../domain/runtime.ts'
import { actorOf } from '../http/caller.ts'
import type { Caller } from '../http/caller.ts'

/** The parts of a handler's context that an audit row is made of. */
interface Audited {
  sql: Sql
  caller: Caller
  requestId: string
  now: Date
  runtime: Pick<Runtime, 'now' | 'randomBytes'>
}

/** Writes the audit row of a sensitive write, in its transaction: who, what, to what, and the names of what changed. */
export async function audit(
  { sql, caller, requestId, now, runtime }: Audited,
  { tenantId, merchantId, action, target, changedKeys }:
  { tenantId: string, merchantId: string | null, action: string, target: string, changedKeys: readonly string[] },
): Promise<void> {
  await insertAuditEvent(sql, {
    id: newId(runtime), tenantId, merchantId, actor: actorOf(caller), action, target, requestId, changedKeys, createdAt: now,
    keyPrefix: caller.kind === 'api_key' ? caller.prefix : null,
  })
}
