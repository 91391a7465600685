import { beforeAll, describe, expect, test } from 'vitest'
import { putOidcClient } from '../../../db/identity/oidcClients.ts'
import { digestOfToken, newOpaqueToken } from '../../../domain/opaqueTokens.ts'
import type { IdentityBench } from '../identityBench.ts'
import { startIdentity } from '../identityBench.ts'

let bench: IdentityBench
beforeAll(async () => {
  bench = await startIdentity()
})

const grant_type = 'client_credentials' as const

describe('a client', () => {
  test('gets a token with its permissions, without tenant and roles', async () => {
    const answer = await bench.call('issueServiceToken', { body: { grant_type, ...bench.seeded.clients.payments } })
    expect(answer).toMatchObject({ status: 200, body: { token_type: 'Bearer', expires_in: 600 } })
    expect(answer.headers.get('cache-control')).toBe('no-store')
    const now = Math.floor(bench.clock.now().getTime() / 1000)
    const { payload } = await bench.verified((answer.body as { access_token: string }).access_token)
    expect(payload).toEqual({
      iss: bench.issuer, aud: 'bayar', sub: 'payments', client_id: 'payments', env: 'sandbox',
      permissions: ['identity.tenant.read'],
      jti: expect.any(String), iat: now, exp: now + 600,
    })
  })

  test('of a tenant gets a token of that tenant, unless the tenant is suspended', async () => {
    const client_secret = newOpaqueToken('cs', bench.runtime)
    const client = {
      id: 'of-a-tenant', tenant_id: bench.seeded.tenant_id, secret_sha256: digestOfToken(client_secret),
      permissions: [], environment: 'sandbox' as const,
    }
    await bench.database.query((sql) => putOidcClient(sql, { ...client, name: 'Of a tenant' }, bench.clock.now()))
    const body = { grant_type, client_id: client.id, client_secret }
    const answer = await bench.call('issueServiceToken', { body })
    const { payload } = await bench.verified((answer.body as { access_token: string }).access_token)
    expect(payload.tenant_id).toBe(bench.seeded.tenant_id)
    await bench.rows`update identity.tenants set status = 'suspended' where id = ${bench.seeded.tenant_id}`
    expect(await bench.call('issueServiceToken', { body })).toMatchObject({ status: 401 })
    await bench.rows`update identity.tenants set status = 'active' where id = ${bench.seeded.tenant_id}`
  })

  test('may send the grant as a form (RFC 6749)', async () => {
    const { client_id, client_secret } = bench.seeded.clients['storefront-bff']
    const answer =
      await bench.send('issueServiceToken', { body: new URLSearchParams({ grant_type, client_id, client_secret }) })
    expect(answer.status).toBe(200)
    expect((await bench.verified(String(answer.body.access_token))).payload)
      .toMatchObject({ sub: 'storefront-bff', permissions: [] })
  })
})

test('an unknown client and a wrong secret are answered alike', async () => {
  const { client_id, client_secret } = bench.seeded.clients.payments
  const answers = [
    await bench.call('issueServiceToken', { body: { grant_type, client_id, client_secret: `${client_secret}x` } }),
    await bench.call('issueServiceToken', { body: { grant_type, client_id: 'nobody', client_secret } }),
    await bench.call('issueServiceToken', {
      body: { grant_type, client_id: 'nobody', client_secret, environment: 'production' },
    }),
  ].map(({ status, body }) => ({ status, ...body, request_id: null }))
  expect(answers[0]).toMatchObject({ status: 401, error: 'unauthenticated' })
  for (const answer of answers) expect(answer).toEqual(answers[0])
})

test('a client gets no token of another environment than its own', async () => {
  const body = { grant_type, ...bench.seeded.clients.payments }
  expect(await bench.call('issueServiceToken', { body: { ...body, environment: 'sandbox' } }))
    .toMatchObject({ status: 200 })
  expect(await bench.call('issueServiceToken', { body: { ...body, environment: 'production' } })).toMatchObject({
    status: 400, body: { error: 'validation_failed', fields: { environment: expect.any(String) } },
  })
})

test('another grant, a repeated form member and a broken body are refused', async () => {
  const { client_id, client_secret } = bench.seeded.clients.payments
  const form = new URLSearchParams({ grant_type, client_id, client_secret })
  form.append('client_id', 'payments')
  const json = { 'Content-Type': 'application/json' }
  const other = JSON.stringify({ grant_type: 'password', client_id, client_secret })
  expect(await bench.send('issueServiceToken', { headers: json, body: other }))
    .toMatchObject({ status: 400, body: { error: 'validation_failed', fields: { grant_type: expect.any(String) } } })
  expect(await bench.send('issueServiceToken', { body: form }))
    .toMatchObject({ status: 400, body: { fields: { client_id: expect.any(String) } } })
  expect(await bench.send('issueServiceToken', { headers: json, body: '{' }))
    .toMatchObject({ status: 400, body: { error: 'invalid_json' } })
  expect(await bench.send('issueServiceToken', { headers: { 'Content-Type': 'text/plain' }, body: 'x' }))
    .toMatchObject({ status: 415 })
})

test('clients are limited one by one', async () => {
  const slow = await startIdentity({ RATE_LIMIT_PER_CALLER: '1' })
  const ask = async (name: 'payments' | 'storefront') =>
    (await slow.call('issueServiceToken', { body: { grant_type, ...slow.seeded.clients[name] } })).status
  const statuses = [await ask('payments'), await ask('payments'), await ask('payments'), await ask('storefront')]
  expect(statuses).toEqual([200, 200, 429, 200])
})

test('no secret of a client, and no token, is logged', async () => {
  const { client_id, client_secret } = bench.seeded.clients.storefront
  const token = await bench.serviceToken('storefront')
  const refused = JSON.stringify({ grant_type: 'password', client_id, client_secret })
  await bench.send('issueServiceToken', { headers: { 'Content-Type': 'application/json' }, body: refused })
  const lines = bench.logged.join('')
  expect(lines).toContain('issueServiceToken')
  for (const secret of [client_secret, token]) expect(lines).not.toContain(secret)
})
