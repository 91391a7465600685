import type { Sql } from '../sql.ts'

export interface TenantRow {
  id: string
  name: string
  status: 'active' | 'suspended'
  platform: boolean
  display_name: string
  logo_url: string | null
  accent_hex: string
  modules: string[]
}

export async function findTenant(sql: Sql, id: string): Promise<TenantRow | undefined> {
  const [row] = await sql<TenantRow[]>`
    select id, name, status, platform, display_name, logo_url, accent_hex, modules
    from identity.tenants where id = ${id}`
  return row
}

/** The one tenant that is the platform itself. */
export async function findPlatformTenant(sql: Sql): Promise<{ id: string } | undefined> {
  const [row] = await sql<{ id: string }[]>`select id from identity.tenants where platform`
  return row
}

/** Adds a tenant; one with this id is left as it is. */
export async function addTenant(sql: Sql, tenant: TenantRow, now: Date): Promise<void> {
  await sql`
    insert into identity.tenants (id, name, status, platform, display_name, logo_url, accent_hex, modules, created_at)
    values (${tenant.id}, ${tenant.name}, ${tenant.status}, ${tenant.platform}, ${tenant.display_name},
      ${tenant.logo_url}, ${tenant.accent_hex}, ${tenant.modules}, ${now})
    on conflict (id) do nothing`
}
