import type { Sql } from '../sql.ts'

/** Counts a copy of an attempt's account number. */
export async function countVaCopy(sql: Sql, tenantId: string, merchantId: string, attemptId: string, now: Date): Promise<void> {
  await sql`
    insert into payments.va_copies (attempt_id, tenant_id, merchant_id, copies, last_copied_at)
    values (${attemptId}, ${tenantId}, ${merchantId}, 1, ${now})
    on conflict (attempt_id) do update set copies = va_copies.copies + 1, last_copied_at = excluded.last_copied_at
    where va_copies.tenant_id = excluded.tenant_id and va_copies.merchant_id = excluded.merchant_id`
}
