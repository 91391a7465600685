import type { Sql } from '../sql.ts'

export interface NewRoleBinding {
  id: string
  tenantId: string
  userId: string
  role: string
  /** `*`, `merchant:<id>` or `pos:<store id>`. */
  scope: string
}

/** Binds a role; one that the user holds there already is left as it is. */
export async function addRoleBinding(sql: Sql, binding: NewRoleBinding, now: Date): Promise<void> {
  await sql`
    insert into identity.role_bindings (id, tenant_id, user_id, role, scope, created_at)
    values (${binding.id}, ${binding.tenantId}, ${binding.userId}, ${binding.role}, ${binding.scope}, ${now})
    on conflict on constraint role_bindings_once do nothing`
}
