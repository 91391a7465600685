import type { Environment } from '../../domain/apiKeys.ts'
import type { Sql } from '../sql.ts'

export interface LogInUserRow {
  id: string
  tenant_id: string
  password_hash: string
  /** The environment used last. */
  environment: Environment
  /** Neither disabled nor of a suspended tenant. */
  live: boolean
  has_totp: boolean
}

/** The account of an address in lower case, live or not: that is told to nobody before the password is judged. */
export async function findLogInUser(sql: Sql, email: string): Promise<LogInUserRow | undefined> {
  const [row] = await sql<LogInUserRow[]>`
    select u.id, u.tenant_id, u.password_hash, u.environment, u.disabled_at is null and t.status = 'active' as live,
      exists (select from identity.totp_devices d where d.user_id = u.id and d.confirmed_at is not null) as has_totp
    from identity.users u join identity.tenants t on t.id = u.tenant_id
    where u.email = ${email}`
  return row
}

export interface TokenSubjectRow {
  id: string
  tenant_id: string
  platform: boolean
  role_bindings: { role: string, scope: string }[]
}

/** A live user with what its tokens say. Locks the row against being disabled before the transaction ends. */
export async function lockTokenSubject(sql: Sql, userId: string): Promise<TokenSubjectRow | undefined> {
  const [row] = await sql<TokenSubjectRow[]>`
    select u.id, u.tenant_id, t.platform,
      coalesce((select jsonb_agg(jsonb_build_object('role', b.role, 'scope', b.scope) order by b.role, b.scope)
        from identity.role_bindings b where b.tenant_id = u.tenant_id and b.user_id = u.id), '[]') as role_bindings
    from identity.users u join identity.tenants t on t.id = u.tenant_id
    where u.id = ${userId} and u.disabled_at is null and t.status = 'active'
    for no key update of u`
  return row
}

/** Remembers the environment that the account used last. */
export async function rememberEnvironment(
  sql: Sql, tenantId: string, id: string, environment: Environment,
): Promise<void> {
  await sql`
    update identity.users set environment = ${environment}
    where tenant_id = ${tenantId} and id = ${id} and environment <> ${environment}`
}

export interface NewUser {
  id: string
  tenantId: string
  /** In lower case. */
  email: string
  passwordHash: string
}

export async function insertUser(sql: Sql, user: NewUser, now: Date): Promise<void> {
  await sql`
    insert into identity.users (id, tenant_id, email, password_hash, created_at)
    values (${user.id}, ${user.tenantId}, ${user.email}, ${user.passwordHash}, ${now})`
}

export async function setPasswordHash(sql: Sql, tenantId: string, id: string, passwordHash: string): Promise<void> {
  await sql`update identity.users set password_hash = ${passwordHash} where tenant_id = ${tenantId} and id = ${id}`
}

/** Ends an account's log-ins. */
export async function disableUser(sql: Sql, tenantId: string, id: string, now: Date): Promise<void> {
  await sql`
    update identity.users set disabled_at = ${now}
    where tenant_id = ${tenantId} and id = ${id} and disabled_at is null`
}
