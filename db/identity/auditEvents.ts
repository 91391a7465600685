import type { Sql } from '../sql.ts'

export interface NewAuditEvent {
  id: string
  /** Null when nobody known did it. */
  tenantId: string | null
  /** `<kind>:<id>`, or `anonymous`. */
  actor: string
  action: string
  /** `<kind>:<id>` of what it was done to. */
  target: string
  requestId: string
}

/** Writes who did what (decision 5.6). No secret and no address goes in. */
export async function insertAuditEvent(sql: Sql, event: NewAuditEvent, now: Date): Promise<void> {
  await sql`
    insert into identity.audit_events (id, tenant_id, actor, action, target, request_id, created_at)
    values (${event.id}, ${event.tenantId}, ${event.actor}, ${event.action}, ${event.target},
      ${event.requestId}, ${now})`
}
