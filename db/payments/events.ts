import type { Sql } from '../sql.ts'

export interface NewEvent {
  id: string
  tenantId: string
  merchantId: string
  kind: string
  intentId: string | null
  /** The JSON that is delivered, byte for byte. */
  body: string
  createdAt: Date
}

/** Writes an event in the transaction of the change that it tells of (decision 6.3). */
export async function insertEvent(sql: Sql, event: NewEvent): Promise<void> {
  await sql`
    insert into payments.events (id, tenant_id, merchant_id, kind, intent_id, body, created_at)
    values (${event.id}, ${event.tenantId}, ${event.merchantId}, ${event.kind}, ${event.intentId}, ${event.body}, ${event.createdAt})`
}
