import { insertAuditEvent } from '../../db/identity/auditEvents.ts'
import type { EndedSessionRow } from '../../db/identity/sessions.ts'
import { newId } from '../../db/ids.ts'
import type { Sql } from '../../db/sql.ts'
import type { LogInRequest } from './logInSession.ts'

/** Why a session ended before its time. */
export type SessionEnd = 'session.logged_out' | 'session.token_reused' | 'session.account_closed'

/** Writes to the audit log that a session ended. Only who logged out is known to be the user. */
export async function writeSessionEnd(sql: Sql, { now, requestId, runtime }: LogInRequest, session: EndedSessionRow, action: SessionEnd): Promise<void> {
  const user = `user:${session.user_id}`
  await insertAuditEvent(sql, {
    id: newId(runtime), tenantId: session.tenant_id, actor: action === 'session.logged_out' ? user : 'anonymous', action,
    target: `session:${session.id}`, requestId,
  }, now)
}
