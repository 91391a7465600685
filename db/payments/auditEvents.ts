import type { Sql } from '../sql.ts'

export interface NewAuditEvent {
  id: string
  tenantId: string
  merchantId: string | null
  /** Kind and id of who did it. */
  actor: string
  /** What was done, such as `payments.api_key.created`. */
  action: string
  /** Kind and id of what it was done to. */
  target: string
  requestId: string
  keyPrefix: string | null
  /** Names of the members that changed, never values (decision 5.6). */
  changedKeys: readonly string[]
  createdAt: Date
}

/** Writes an audit row in the transaction of the change. */
export async function insertAuditEvent(sql: Sql, event: NewAuditEvent): Promise<void> {
  await sql`
    insert into payments.audit_events
      (id, tenant_id, merchant_id, actor, action, target, request_id, key_prefix, changed_keys, created_at)
    values (${event.id}, ${event.tenantId}, ${event.merchantId}, ${event.actor}, ${event.action}, ${event.target},
      ${event.requestId}, ${event.keyPrefix}, ${event.changedKeys as string[]}, ${event.createdAt})`
}
