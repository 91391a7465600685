import { randomBytes, randomUUID } from 'node:crypto'
import { afterAll, beforeEach, describe, expect, inject, test } from 'vitest'
import { disableUser, findLogInUser, setPasswordHash } from '../db/identity/users.ts'
import { findTotpSeed, useTotpStep } from '../db/identity/totpDevices.ts'
import { findOidcClient } from '../db/identity/oidcClients.ts'
import { connect } from '../db/sql.ts'
import type { Database, Row } from '../db/sql.ts'
import { cloneDatabase } from '../db/testDatabase.ts'
import { hasDigest } from '../domain/opaqueTokens.ts'
import { passwords } from '../domain/passwords.ts'
import { systemRuntime } from '../domain/runtime.ts'
import { sealingKeys } from '../domain/sealing.ts'
import { totpSeedIdentity, totpSeedOf } from '../domain/totp.ts'
import { on, signingKeys } from '../handlers/identity/signingKeys.ts'
import { seedIdentity } from './seedIdentity.ts'
import type { IdentitySeed, SeededIdentity } from './seedIdentity.ts'

let database: Database
const ends: (() => Promise<void>)[] = []
const newKeys = () => sealingKeys(`test:${randomBytes(32).toString('base64')}`)

beforeEach(async () => {
  const clone = await cloneDatabase(inject('testServer'), 'template_identity')
  database = connect(clone.url)
  const own = database
  ends.push(() => own.end(100).then(clone.drop))
})
afterAll(() => Promise.all(ends.map((end) => end())))

const seed: Omit<IdentitySeed, 'known'> = {
  runtime: systemRuntime, sealing: newKeys(), merchantId: randomUUID(), environment: 'sandbox',
  hosts: ['Shop.Demo.example', 'www.demo.example'],
}

/** Everything in the tables, by table. */
async function everything(): Promise<Record<string, Row[]>> {
  const tables = ['tenants', 'tenant_hosts', 'users', 'totp_devices', 'role_bindings', 'oidc_clients']
  return database.query(async (sql) => {
    const rows: Record<string, Row[]> = {}
    for (const table of tables) rows[table] = [...await sql.unsafe(`select * from identity.${table} order by 1`)]
    return rows
  })
}

async function assertUsable(seeded: SeededIdentity, { sealing } = seed): Promise<void> {
  const { verify } = passwords(systemRuntime)
  for (const { id, email, password, totp_secret } of Object.values(seeded.users)) {
    const user = await database.query((sql) => findLogInUser(sql, email))
    expect(user).toMatchObject({ id, live: true, has_totp: true })
    expect(await verify(password, user?.password_hash ?? null)).toBe(true)
    const sealed = await database.query((sql) => findTotpSeed(sql, id))
    expect(sealing.open(sealed as Buffer, totpSeedIdentity(id))).toEqual(totpSeedOf(totp_secret))
  }
  for (const { client_id, client_secret } of Object.values(seeded.clients)) {
    const client = await database.query((sql) => findOidcClient(sql, client_id))
    expect(hasDigest(client_secret, client?.secret_sha256 ?? Buffer.alloc(32))).toBe(true)
  }
}

describe('seeding', () => {
  test('an empty database makes tenants, hosts, people and clients that work', async () => {
    const seeded = await seedIdentity(database, { ...seed, known: null })
    await assertUsable(seeded)
    const { tenants, tenant_hosts, users, role_bindings, oidc_clients } = await everything()
    expect(tenants?.map(({ id, platform, modules }) => ({ id, platform, modules }))).toEqual(expect.arrayContaining([
      { id: seeded.platform_tenant_id, platform: true, modules: [] },
      { id: seeded.tenant_id, platform: false, modules: ['payments', 'storefront'] },
    ]))
    expect(tenant_hosts?.map(({ host, is_primary }) => [host, is_primary]))
      .toEqual([['shop.demo.example', true], ['www.demo.example', false]])
    expect(users?.map(({ email }) => String(email).split('@')[1])).toEqual(Array(4).fill('demo.example'))
    expect(role_bindings).toHaveLength(5)
    const common = { environment: 'sandbox', tenant_id: null }
    expect(oidc_clients).toMatchObject([
      { id: 'payments', permissions: ['identity.tenant.read'], ...common },
      { id: 'storefront', permissions: ['identity.host.read', 'identity.tenant.read'], ...common },
      { id: 'storefront-bff', permissions: [], ...common },
    ])
  })

  test('again with what it returned changes nothing', async () => {
    const seeded = await seedIdentity(database, { ...seed, known: null })
    const { owner } = seeded.users
    await database.query((sql) => useTotpStep(sql, owner.id, 60_000_000))
    const before = await everything()
    const kept = JSON.parse(JSON.stringify(seeded)) as SeededIdentity
    expect(await seedIdentity(database, { ...seed, known: kept })).toEqual(seeded)
    expect(await everything()).toEqual(before)
  })

  test('without what it returned keeps the ids and makes new secrets', async () => {
    const first = await seedIdentity(database, { ...seed, known: null })
    const second = await seedIdentity(database, { ...seed, known: null })
    expect([second.tenant_id, second.platform_tenant_id]).toEqual([first.tenant_id, first.platform_tenant_id])
    expect(Object.values(second.users).map(({ id }) => id)).toEqual(Object.values(first.users).map(({ id }) => id))
    expect(second.users.owner.password).not.toBe(first.users.owner.password)
    await assertUsable(second)
  })

  test('a new database with what it returned once gives the same ids and secrets', async () => {
    const earlier = await seedIdentity(database, { ...seed, known: null })
    const clone = await cloneDatabase(inject('testServer'), 'template_identity')
    const other = connect(clone.url)
    ends.push(() => other.end(100).then(clone.drop))
    database = other
    expect(await seedIdentity(other, { ...seed, known: earlier })).toEqual(earlier)
    await assertUsable(earlier)
  })

  test('puts a password back that was changed meanwhile, so that what is kept goes on working', async () => {
    const seeded = await seedIdentity(database, { ...seed, known: null })
    const { owner } = seeded.users
    const changed = await passwords(systemRuntime).hash(randomBytes(9).toString('hex'))
    await database.query((sql) => setPasswordHash(sql, seeded.tenant_id, owner.id, changed))
    await seedIdentity(database, { ...seed, known: seeded })
    await assertUsable(seeded)
  })

  test('under other sealing keys makes way for a signing key that can be opened', async () => {
    const seeded = await seedIdentity(database, { ...seed, known: null })
    const presentUnder = (sealing: IdentitySeed['sealing']) =>
      database.query((sql) => signingKeys(sealing, systemRuntime).present(on(sql)))
    const old = await presentUnder(seed.sealing)
    const sealing = newKeys()
    await expect(presentUnder(sealing)).rejects.toThrow()
    await seedIdentity(database, { ...seed, sealing, known: seeded })
    expect((await presentUnder(sealing)).kid).not.toBe(old.kid)
    await assertUsable(seeded, { ...seed, sealing })
  })

  test('leaves a person disabled who was disabled, and another tenant\'s hostname where it is', async () => {
    const seeded = await seedIdentity(database, { ...seed, known: null })
    const { reviewer } = seeded.users
    await database.query((sql) => disableUser(sql, seeded.platform_tenant_id, reviewer.id, new Date()))
    await database.query((sql) => sql`
      update identity.tenant_hosts set tenant_id = ${seeded.platform_tenant_id} where host = 'www.demo.example'`)
    await expect(seedIdentity(database, { ...seed, known: seeded })).rejects.toThrow('belongs to another tenant')
    await seedIdentity(database, { ...seed, hosts: ['shop.demo.example'], known: seeded })
    expect(await database.query((sql) => findLogInUser(sql, reviewer.email))).toMatchObject({ live: false })
  })
})
