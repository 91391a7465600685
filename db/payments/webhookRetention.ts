import type { Sql } from '../sql.ts'

/**
 * Forgets finished deliveries, of every tenant, that ended before a time, with their attempts; at most `most`, the longest
 * ended first. Notes up to when, so that what is missing since can be told from what was forgotten. Returns how many.
 */
export async function purgeWebhookDeliveries(sql: Sql, before: Date, most: number): Promise<number> {
  const rows = await sql`
    with old as (
      select id, tenant_id, merchant_id from payments.webhook_deliveries
      where ended_at < ${before}
      order by ended_at limit ${most}
      for update skip locked
    ), attempts as (
      delete from payments.webhook_attempts a using old
      where a.tenant_id = old.tenant_id and a.merchant_id = old.merchant_id and a.delivery_id = old.id
    ), noted as (
      insert into payments.webhook_retention (purged_before) select ${before}::timestamptz where exists (select from old)
      on conflict (id) do update set purged_before = greatest(webhook_retention.purged_before, excluded.purged_before)
    )
    delete from payments.webhook_deliveries d using old
    where d.tenant_id = old.tenant_id and d.merchant_id = old.merchant_id and d.id = old.id
    returning d.id`
  return rows.length
}
