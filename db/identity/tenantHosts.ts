import type { Sql } from '../sql.ts'

/** Gives a hostname to a tenant. One that another tenant has stays with it; false then. */
export async function putTenantHost(
  sql: Sql, tenantId: string, host: string, isPrimary: boolean, now: Date,
): Promise<boolean> {
  const rows = await sql`
    insert into identity.tenant_hosts (host, tenant_id, is_primary, created_at)
    values (${host}, ${tenantId}, ${isPrimary}, ${now})
    on conflict (host) do update set is_primary = excluded.is_primary where tenant_hosts.tenant_id = excluded.tenant_id
    returning host`
  return rows.length === 1
}

/** Leaves a tenant without a primary hostname, so that another can become it. */
export async function clearPrimaryHost(sql: Sql, tenantId: string): Promise<void> {
  await sql`update identity.tenant_hosts set is_primary = false where tenant_id = ${tenantId} and is_primary`
}
