import { addRoleBinding } from '../db/identity/roleBindings.ts'
import { putOidcClient } from '../db/identity/oidcClients.ts'
import { listSigningKeys, retireSigningKey } from '../db/identity/signingKeys.ts'
import { clearPrimaryHost, putTenantHost } from '../db/identity/tenantHosts.ts'
import { addTenant, findPlatformTenant } from '../db/identity/tenants.ts'
import { findTotpSeed, putTotpDevice } from '../db/identity/totpDevices.ts'
import { findLogInUser, insertUser, setPasswordHash } from '../db/identity/users.ts'
import type { LogInUserRow } from '../db/identity/users.ts'
import { newId } from '../db/ids.ts'
import type { Database, Sql } from '../db/sql.ts'
import type { Environment } from '../domain/apiKeys.ts'
import { digestOfToken, newOpaqueToken } from '../domain/opaqueTokens.ts'
import { passwords } from '../domain/passwords.ts'
import type { Passwords } from '../domain/passwords.ts'
import type { Runtime } from '../domain/runtime.ts'
import { sealingNonceBytes } from '../domain/sealing.ts'
import type { SealingKeys } from '../domain/sealing.ts'
import { newTotpSeed, totpSecretText, totpSeedIdentity, totpSeedOf } from '../domain/totp.ts'
import { signingKeyIdentity } from '../handlers/identity/signingKeys.ts'

export interface SeededUser {
  id: string
  email: string
  password: string
  /** Base 32. */
  totp_secret: string
}

export interface SeededClient {
  client_id: string
  client_secret: string
}

const userNames = ['owner', 'second_approver', 'platform_admin', 'reviewer'] as const
export type SeededUserName = typeof userNames[number]
const clientNames = ['payments', 'storefront', 'storefront-bff'] as const
export type SeededClientName = typeof clientNames[number]

/** What the seeding made or found; plain data, to be kept and handed back as `known`. */
export interface SeededIdentity {
  tenant_id: string
  platform_tenant_id: string
  users: Record<SeededUserName, SeededUser>
  clients: Record<SeededClientName, SeededClient>
}

export interface IdentitySeed {
  runtime: Pick<Runtime, 'now' | 'randomBytes'>
  sealing: SealingKeys
  /** Merchant whose owner the user `owner` is. */
  merchantId: string
  /** Hostnames of the demo tenant, the primary one first. */
  hosts: readonly string[]
  /** Environment of the clients. */
  environment: Environment
  /** What an earlier run returned; null makes everything up. */
  known: SeededIdentity | null
}

const permissionsOf: Record<SeededClientName, string[]> = {
  payments: ['identity.tenant.read'],
  storefront: ['identity.host.read', 'identity.tenant.read'],
  // It is known by its subject and needs no permission (decision 5.4).
  'storefront-bff': [],
}

interface Account {
  user: SeededUser
  present: LogInUserRow | undefined
  /** Null when the password is the present one. */
  passwordHash: string | null
}

/**
 * Brings the identity database to the demo data: platform and demo tenant, four users with TOTP, three clients. Ids
 * in the database outrank those in `known`; passwords, TOTP seeds and client secrets in `known` outrank the database,
 * so that what the caller keeps always works; what neither has is made up. One transaction, after the passwords are
 * hashed.
 */
export async function seedIdentity(database: Database, seed: IdentitySeed): Promise<SeededIdentity> {
  const { known, runtime } = seed
  const now = runtime.now()
  const present: (LogInUserRow | undefined)[] = []
  for (const name of userNames) present.push(await database.query((sql) => findLogInUser(sql, emailOf(name))))
  const platform = await database.query(findPlatformTenant)
  const hashing = passwords(runtime)
  const accounts = await Promise.all(userNames.map((name, at) => accountOf(name, present[at], seed, hashing)))
  const seeded: SeededIdentity = {
    tenant_id: present[0]?.tenant_id ?? known?.tenant_id ?? newId(runtime),
    platform_tenant_id: platform?.id ?? known?.platform_tenant_id ?? newId(runtime),
    users: byName(userNames, (_name, at) => (accounts[at] as Account).user),
    clients: byName(clientNames, (name) => known?.clients[name] ??
      { client_id: name, client_secret: newOpaqueToken('cs', runtime) }),
  }
  await database.tx(async (sql) => {
    await addTenants(sql, seeded, seed, now)
    for (const account of accounts) await putAccount(sql, account, seeded, seed, now)
    await bindRoles(sql, seeded, seed, now)
    await putClients(sql, seeded, seed, now)
    await retireLostKey(sql, seed, now)
  })
  return seeded
}

function emailOf(name: SeededUserName): string {
  return `${name.replaceAll('_', '-')}@demo.example`
}

function byName<Name extends string, Value>(
  names: readonly Name[], value: (name: Name, at: number) => Value,
): Record<Name, Value> {
  return Object.fromEntries(names.map((name, at) => [name, value(name, at)])) as Record<Name, Value>
}

async function accountOf(
  name: SeededUserName, present: LogInUserRow | undefined, { known, runtime }: IdentitySeed, hashing: Passwords,
): Promise<Account> {
  const earlier = known?.users[name]
  const user: SeededUser = {
    id: present?.id ?? earlier?.id ?? newId(runtime),
    email: emailOf(name),
    password: earlier?.password ?? runtime.randomBytes(18).toString('base64url'),
    totp_secret: earlier?.totp_secret ?? totpSecretText(newTotpSeed(runtime)),
  }
  const matches = present && earlier && await hashing.verify(user.password, present.password_hash)
  return { user, present, passwordHash: matches ? null : await hashing.hash(user.password) }
}

async function addTenants(
  sql: Sql, { tenant_id, platform_tenant_id }: SeededIdentity, { hosts }: IdentitySeed, now: Date,
): Promise<void> {
  const looks = { logo_url: null, accent_hex: '#0F766E', status: 'active' as const }
  await addTenant(sql, {
    ...looks, id: platform_tenant_id, name: 'Bayar', display_name: 'Bayar', platform: true, modules: [],
  }, now)
  await addTenant(sql, {
    ...looks, id: tenant_id, name: 'Toko Demo', display_name: 'Toko Demo', platform: false,
    modules: ['payments', 'storefront'],
  }, now)
  await clearPrimaryHost(sql, tenant_id)
  for (const [at, host] of hosts.entries()) {
    const put = await putTenantHost(sql, tenant_id, host.toLowerCase(), at === 0, now)
    if (!put) throw new Error(`the hostname ${host} belongs to another tenant`)
  }
}

async function putAccount(
  sql: Sql, { user, present, passwordHash }: Account, seeded: SeededIdentity, { runtime, sealing }: IdentitySeed,
  now: Date,
): Promise<void> {
  const tenantId = present?.tenant_id ?? tenantOf(user, seeded)
  if (passwordHash !== null) {
    if (present) await setPasswordHash(sql, tenantId, user.id, passwordHash)
    else await insertUser(sql, { id: user.id, tenantId, email: user.email, passwordHash }, now)
  }
  const seed = totpSeedOf(user.totp_secret)
  const sealed = await findTotpSeed(sql, user.id)
  const identity = totpSeedIdentity(user.id)
  // A seed that is right stays, and with it the codes that were used.
  if (sealed && opens(sealing, sealed, identity)?.equals(seed)) return
  await putTotpDevice(sql, user.id, sealing.seal(seed, identity, runtime.randomBytes(sealingNonceBytes)), now)
}

function tenantOf(user: SeededUser, { tenant_id, platform_tenant_id, users }: SeededIdentity): string {
  return user === users.platform_admin || user === users.reviewer ? platform_tenant_id : tenant_id
}

/** What is sealed under a key that is gone is as good as none. */
function opens(sealing: SealingKeys, sealed: Buffer, identity: string): Buffer | undefined {
  try {
    return sealing.open(sealed, identity)
  } catch {
    return undefined
  }
}

async function bindRoles(
  sql: Sql, { tenant_id, platform_tenant_id, users }: SeededIdentity, { merchantId, runtime }: IdentitySeed, now: Date,
): Promise<void> {
  const bindings = [
    { tenantId: tenant_id, userId: users.owner.id, role: 'tenant_admin', scope: '*' },
    { tenantId: tenant_id, userId: users.owner.id, role: 'merchant_owner', scope: `merchant:${merchantId}` },
    { tenantId: tenant_id, userId: users.second_approver.id, role: 'tenant_admin', scope: '*' },
    { tenantId: platform_tenant_id, userId: users.platform_admin.id, role: 'platform_admin', scope: '*' },
    { tenantId: platform_tenant_id, userId: users.reviewer.id, role: 'reviewer', scope: '*' },
  ]
  for (const binding of bindings) await addRoleBinding(sql, { ...binding, id: newId(runtime) }, now)
}

async function putClients(
  sql: Sql, { clients }: SeededIdentity, { environment }: IdentitySeed, now: Date,
): Promise<void> {
  for (const name of clientNames) {
    const { client_id, client_secret } = clients[name]
    await putOidcClient(sql, {
      id: client_id, tenant_id: null, name, secret_sha256: digestOfToken(client_secret), environment,
      permissions: permissionsOf[name],
    }, now)
  }
}

/** Makes way for a new signing key when the present one cannot be opened any more: this run has other sealing keys. */
async function retireLostKey(sql: Sql, { sealing }: IdentitySeed, now: Date): Promise<void> {
  const present = (await listSigningKeys(sql, now)).find(({ retired_at }) => retired_at === null)
  if (present && !opens(sealing, present.private_key, signingKeyIdentity(present.id))) await retireSigningKey(sql, now)
}
