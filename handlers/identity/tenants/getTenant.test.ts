import { generateKeyPair, SignJWT } from 'jose'
import { beforeAll, describe, expect, test } from 'vitest'
import { putOidcClient } from '../../../db/identity/oidcClients.ts'
import { digestOfToken, newOpaqueToken } from '../../../domain/opaqueTokens.ts'
import type { IdentityBench } from '../identityBench.ts'
import { startIdentity } from '../identityBench.ts'

let bench: IdentityBench
beforeAll(async () => {
  bench = await startIdentity()
})

function ask(as: string | undefined, tenantId: string, caller: Pick<IdentityBench, 'call'> = bench) {
  return caller.call('getTenant', { params: { tenantId }, ...(as !== undefined && { as }) })
}

describe('a service with the permission', () => {
  test('reads a tenant', async () => {
    expect(await ask(await bench.serviceToken('payments'), bench.seeded.tenant_id)).toMatchObject({
      status: 200, body: {
        id: bench.seeded.tenant_id, name: 'Toko Demo', status: 'active', modules: ['payments', 'storefront'],
        branding: { display_name: 'Toko Demo', logo_url: null, accent_hex: '#0F766E' },
      },
    })
  })

  test('is known to a process that did not sign its token, and without a request to the key set', async () => {
    // The runtime of the bench fails every outgoing request.
    expect((await ask(await bench.serviceToken('payments'), bench.seeded.tenant_id, bench.twin)).status).toBe(200)
  })

  test('gets 404 for a tenant that is unknown and for an id that is none', async () => {
    const as = await bench.serviceToken('payments')
    for (const id of [crypto.randomUUID(), 'not-an-id']) {
      expect(await ask(as, id)).toMatchObject({ status: 404, body: { error: 'not_found' } })
    }
  })

  test('sees its own tenant alone, when it is a tenant\'s client', async () => {
    const client_secret = newOpaqueToken('cs', bench.runtime)
    await bench.database.query((sql) => putOidcClient(sql, {
      id: 'of-a-tenant', name: 'Of a tenant', tenant_id: bench.seeded.tenant_id,
      secret_sha256: digestOfToken(client_secret), permissions: ['identity.tenant.read'], environment: 'sandbox',
    }, bench.clock.now()))
    const body = { grant_type: 'client_credentials' as const, client_id: 'of-a-tenant', client_secret }
    const answer = await bench.call('issueServiceToken', { body })
    const as = (answer.body as { access_token: string }).access_token
    expect((await ask(as, bench.seeded.tenant_id)).status).toBe(200)
    expect((await ask(as, bench.seeded.platform_tenant_id)).status).toBe(404)
  })

  test('is refused a query parameter that the document does not know', async () => {
    const as = await bench.serviceToken('payments')
    const answer =
      await bench.send('getTenant', { as, params: { tenantId: bench.seeded.tenant_id }, query: { full: 'yes' } })
    expect(answer).toMatchObject({ status: 400, body: { fields: { full: expect.any(String) } } })
  })
})

describe('is refused', () => {
  test('without a credential, with one that is none, and with an API key', async () => {
    for (const as of [undefined, 'nonsense', 'a.b.c', `sk_test_${'x'.repeat(49)}`]) {
      const answer = await ask(as, bench.seeded.tenant_id)
      expect(answer).toMatchObject({ status: 401, body: { error: 'unauthenticated' } })
      expect(answer.headers.get('www-authenticate')).toBe('Bearer')
    }
  })

  test('a token that has ended', async () => {
    const as = await bench.serviceToken('payments')
    bench.clock.advance(606_000)
    expect((await ask(as, bench.seeded.tenant_id)).status).toBe(401)
  })

  test('a token under a key of somebody else, though it names ours', async () => {
    const token = await bench.serviceToken('payments')
    const { payload, protectedHeader } = await bench.verified(token)
    const { privateKey } = await generateKeyPair('ES256')
    const forged =
      (kid: string) => new SignJWT(payload).setProtectedHeader({ ...protectedHeader, kid }).sign(privateKey)
    for (const kid of [protectedHeader.kid ?? '', crypto.randomUUID()]) {
      expect((await ask(await forged(kid), bench.seeded.tenant_id)).status).toBe(401)
    }
  })

  test('a service without the permission, and a user whatever the role', async () => {
    const admin = bench.person('platform_admin')
    const first = await bench.call('logIn', { body: { email: admin.email, password: admin.password } })
    const { mfa_token } = first.body as { mfa_token: string }
    const second = await bench.call('completeLogIn', { body: { mfa_token, code: admin.code() } })
    const userToken = (second.body as { access_token: string }).access_token
    for (const as of [await bench.serviceToken('storefront-bff'), userToken]) {
      expect(await ask(as, bench.seeded.tenant_id)).toMatchObject({ status: 403, body: { error: 'forbidden' } })
    }
  })
})

test('a caller is limited', async () => {
  const slow = await startIdentity({ RATE_LIMIT_PER_CALLER: '1' })
  const as = await slow.serviceToken('payments')
  const once = async () => (await ask(as, slow.seeded.tenant_id, slow)).status
  expect([await once(), await once(), await once()]).toEqual([200, 200, 429])
})
