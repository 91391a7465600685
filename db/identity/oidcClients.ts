import type { Environment } from '../../domain/apiKeys.ts'
import type { Sql } from '../sql.ts'

export interface OidcClientRow {
  id: string
  /** Null for a service of the installation itself. */
  tenant_id: string | null
  secret_sha256: Buffer
  permissions: string[]
  environment: Environment
}

/** A client that may sign in: one of a suspended tenant may not. */
export async function findOidcClient(sql: Sql, id: string): Promise<OidcClientRow | undefined> {
  const [row] = await sql<OidcClientRow[]>`
    select c.id, c.tenant_id, c.secret_sha256, c.permissions, c.environment
    from identity.oidc_clients c left join identity.tenants t on t.id = c.tenant_id
    where c.id = ${id} and (c.tenant_id is null or t.status = 'active')`
  return row
}

/** Writes a client, or brings the one with this id to this state. */
export async function putOidcClient(sql: Sql, client: OidcClientRow & { name: string }, now: Date): Promise<void> {
  await sql`
    insert into identity.oidc_clients (id, tenant_id, name, secret_sha256, permissions, environment, created_at)
    values (${client.id}, ${client.tenant_id}, ${client.name}, ${client.secret_sha256}, ${client.permissions},
      ${client.environment}, ${now})
    on conflict (id) do update set tenant_id = excluded.tenant_id, name = excluded.name,
      secret_sha256 = excluded.secret_sha256, permissions = excluded.permissions, environment = excluded.environment`
}
