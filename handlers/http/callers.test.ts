import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { TokenClaims } from '../../contract-tests/harness/issuer.ts'
import { bffSubject, providerSignature, startSynthetic } from '../../contract-tests/harness/syntheticService.ts'

const bench = await startSynthetic()
const { ask, apiKey, bff, issuer, session, site } = bench
const tenantId = randomUUID()
const merchantId = randomUUID()

const user = (role: string, scope: string, claims: TokenClaims = {}) =>
  issuer.token({ tenantId, bindings: [{ role, scope }], ...claims })
const service = (permissions: string[], claims: TokenClaims = {}) => issuer.token({ tenantId, permissions, ...claims })
const path = { merchant: `/v1/merchants/${randomUUID()}` }

describe('merchant', () => {
  test('an API key with the scope reaches its own merchant', async () => {
    const as = apiKey(['payments.refund.read'], { tenantId, merchantId })
    expect(await ask(path.merchant, { as })).toMatchObject({
      status: 200,
      body: { reach: { tenantId, merchantIds: [merchantId] } },
    })
  })

  test('an API key without the scope is insufficient_scope, and told which', async () => {
    const answer = await ask(path.merchant, { as: apiKey(['payments.refund.create']) })
    expect(answer).toMatchObject({
      status: 403,
      body: { error: 'insufficient_scope', message: 'The key lacks the scope payments.refund.read.' },
    })
  })

  test('a console token with the permission reaches where its roles are held', async () => {
    expect(await ask(path.merchant, { as: await user('tenant_admin', '*') })).toMatchObject({
      status: 200,
      body: { reach: { tenantId, merchantIds: null } },
    })
    expect(await ask(path.merchant, { as: await user('merchant_owner', `merchant:${merchantId}`) })).toMatchObject({
      status: 200,
      body: { reach: { tenantId, merchantIds: [merchantId] } },
    })
  })

  test('a role held at a store counts for seller operations only', async () => {
    const as = await user('tenant_admin', `pos:${randomUUID()}`)
    for (const place of [path.merchant, '/v1/consoleThing', '/v1/tenantThing'])
      expect((await ask(place, { as })).status, place).toBe(403)
    expect(await ask('/v1/sellerThing', { as })).toMatchObject({ status: 200, body: { reach: { merchantIds: [] } } })
  })

  test('a token without the permission, of an unknown role, of no role and of a service is forbidden', async () => {
    const tokens = [
      await user('reviewer', '*'),
      await user('owner-of-everything', '*'),
      await issuer.token({ tenantId, bindings: [] }),
      await service(['payments.refund.read']),
    ]
    for (const as of tokens)
      expect(await ask(path.merchant, { as })).toMatchObject({ status: 403, body: { error: 'forbidden' } })
  })

  test('a binding at a place that is none grants nothing', async () => {
    for (const scope of ['merchant:', 'merchant:not-an-id', `${merchantId}`, 'merchant:*', ' *', '']) {
      expect((await ask(path.merchant, { as: await user('merchant_owner', scope) })).status, scope).toBe(403)
    }
    const malformed = await issuer.token({
      tenantId,
      bindings: [null, 7, { role: 'tenant_admin' }, { role: {}, scope: '*' }] as never,
    })
    expect((await ask(path.merchant, { as: malformed })).status).toBe(403)
  })
})

describe('console, tenant and admin', () => {
  test('console takes the permission at the tenant or at a merchant', async () => {
    expect((await ask('/v1/consoleThing', { as: await user('tenant_admin', '*') })).status).toBe(200)
    expect(await ask('/v1/consoleThing', { as: await user('merchant_owner', `merchant:${merchantId}`) })).toMatchObject(
      { status: 200, body: { reach: { merchantIds: [merchantId] } } },
    )
    expect((await ask('/v1/consoleThing', { as: await user('reviewer', '*') })).status).toBe(403)
  })

  test('tenant takes the permission at the tenant only', async () => {
    expect((await ask('/v1/tenantThing', { as: await user('tenant_admin', '*') })).status).toBe(200)
    expect(await ask('/v1/tenantThing', { as: await user('merchant_owner', `merchant:${merchantId}`) })).toMatchObject({
      status: 403,
      body: { error: 'forbidden' },
    })
  })

  test('admin takes a user of the platform only', async () => {
    expect((await ask('/v1/adminThing', { as: await user('reviewer', '*', { platform: true }) })).status).toBe(200)
    expect((await ask('/v1/adminThing', { as: await user('reviewer', '*') })).status).toBe(403)
    expect(
      (await ask('/v1/adminThing', { as: await user('tenant_admin', `merchant:${merchantId}`, { platform: true }) }))
        .status,
    ).toBe(403)
  })

  test('none of them takes an API key or a service', async () => {
    for (const id of ['consoleThing', 'tenantThing', 'adminThing', 'sellerThing']) {
      expect(await ask(`/v1/${id}`, { as: apiKey(['payments.refund.read']) }), id).toMatchObject({
        status: 403,
        body: { error: 'forbidden' },
      })
      expect(await ask(`/v1/${id}`, { as: await service(['payments.webhook.read']) }), id).toMatchObject({
        status: 403,
        body: { error: 'forbidden' },
      })
    }
  })
})

describe('user, credential, service and seller', () => {
  test('user takes any signed-in console user, and nobody else', async () => {
    expect(await ask('/v1/userThing', { as: await issuer.token({ tenantId, bindings: [] }) })).toMatchObject({
      status: 200,
      body: { reach: { tenantId } },
    })
    expect(await ask('/v1/userThing', { as: apiKey([]) })).toMatchObject({
      status: 401,
      body: { error: 'unauthenticated' },
    })
    expect((await ask('/v1/userThing', { as: await service([]) })).status).toBe(401)
  })

  test('credential takes a key, a user and a service', async () => {
    expect(await ask('/v1/credentialThing', { as: apiKey([], { tenantId, merchantId }) })).toMatchObject({
      status: 200,
      body: { reach: { merchantIds: [merchantId] } },
    })
    expect((await ask('/v1/credentialThing', { as: await issuer.token({ tenantId, bindings: [] }) })).status).toBe(200)
    expect(await ask('/v1/credentialThing', { as: await service([], { tenantId: null }) })).toMatchObject({
      status: 200,
      body: { reach: null },
    })
    expect((await ask('/v1/credentialThing')).status).toBe(401)
  })

  test('service takes the token of a service with the permission', async () => {
    expect((await ask('/v1/serviceThing', { as: await service(['identity.tenant.read']) })).status).toBe(200)
    expect(await ask('/v1/serviceThing', { as: await service(['identity.host.read']) })).toMatchObject({
      status: 403,
      body: { error: 'forbidden' },
    })
    expect((await ask('/v1/serviceThing', { as: await user('platform_admin', '*', { platform: true }) })).status).toBe(
      403,
    )
  })

  test('seller takes a marketplace permission', async () => {
    expect(
      (await ask('/v1/sellerThing', { as: await user('merchant_support', `merchant:${merchantId}`) })).status,
    ).toBe(200)
    expect((await ask('/v1/sellerThing', { as: await user('reviewer', '*') })).status).toBe(403)
  })
})

describe('public, signed-link and provider', () => {
  test('public takes anyone, and looks at no credential', async () => {
    expect((await ask('/v1/closedThing')).status).toBe(200)
    expect(await ask('/v1/closedThing', { as: 'nonsense' })).toMatchObject({
      status: 200,
      body: { caller: { kind: 'anonymous' } },
    })
  })

  test('a signed link opens, and anything wrong with it is the neutral 404', async () => {
    expect((await ask('/v1/links/signed')).status).toBe(200)
    const wrong = await ask('/v1/links/forged')
    expect(wrong).toMatchObject({ status: 404, body: { error: 'not_found', message: 'Not found.' } })
    expect(withoutId(wrong.text)).toBe(withoutId((await ask('/v1/nowhere')).text))
  })

  test('a provider is proven over the raw body, which the handler then gets', async () => {
    const body = Buffer.from([0xff, 0xfe, 0x00])
    expect(
      await ask('/v1/providers', {
        method: 'POST',
        body,
        headers: { 'Content-Type': 'image/png', 'X-Signature': providerSignature },
      }),
    ).toMatchObject({ status: 200, body: { bytes: body.toString('latin1'), caller: { kind: 'provider' } } })
    expect(await ask('/v1/providers', { method: 'POST', body })).toMatchObject({
      status: 401,
      body: { error: 'unauthenticated' },
    })
  })
})

describe('bff and shopper', () => {
  const host = site.host

  test('the backend is pinned by its subject, whatever its audience and tenant', async () => {
    expect(await ask('/v1/bffThing', { as: bff, headers: { Host: host } })).toMatchObject({
      status: 200,
      body: { site: { storeId: site.storeId } },
    })
    const other = await service(['payments.legal.read'], { subject: 'another-backend' })
    expect(await ask('/v1/bffThing', { as: other, headers: { Host: host } })).toMatchObject({
      status: 403,
      body: { error: 'forbidden' },
    })
    expect(
      (
        await ask('/v1/bffThing', {
          as: await user('tenant_admin', '*', { subject: bffSubject }),
          headers: { Host: host },
        })
      ).status,
    ).toBe(403)
    expect((await ask('/v1/bffThing', { headers: { Host: host } })).status).toBe(401)
  })

  test('the audience of anybody else is looked at, there too', async () => {
    const other = await service([], { subject: 'another-backend', audience: 'storefront' })
    expect((await ask('/v1/bffThing', { as: other, headers: { Host: host } })).status).toBe(401)
  })

  test('the pinned subject has no other audience elsewhere', async () => {
    expect((await ask('/v1/credentialThing', { as: bff })).status).toBe(401)
  })

  test('the store is found by Host, whatever its case, port or trailing dot', async () => {
    for (const form of ['TOKO.shop.test', 'toko.shop.test:8443', 'toko.shop.test.']) {
      expect((await ask('/v1/bffThing', { as: bff, headers: { Host: form } })).status, form).toBe(200)
    }
  })

  test('an unknown host is the neutral 404 before any credential is looked at', async () => {
    const answers = [
      await ask('/v1/bffThing', { headers: { Host: 'other.shop.test' } }),
      await ask('/v1/bffThing', { as: bff, headers: { Host: 'other.shop.test' } }),
      await ask('/v1/shopperThing', { as: 'nonsense', headers: { Host: 'xn--' } }),
      await ask('/v1/nowhere', { headers: { Host: host } }),
    ]
    for (const answer of answers) {
      expect(answer.status).toBe(404)
      expect(withoutId(answer.text)).toBe(withoutId(answers[0]?.text ?? ''))
    }
  })

  test('a shopper also needs a session', async () => {
    const asked = { as: bff, headers: { Host: host, 'X-Buyer-Session': session } }
    expect(await ask('/v1/shopperThing', asked)).toMatchObject({ status: 200, body: { caller: { kind: 'shopper' } } })
    expect(await ask('/v1/shopperThing', { as: bff, headers: { Host: host } })).toMatchObject({
      status: 401,
      body: { error: 'unauthenticated' },
    })
    expect(
      (await ask('/v1/shopperThing', { as: bff, headers: { Host: host, 'X-Buyer-Session': 'unknown' } })).status,
    ).toBe(401)
  })

  test('a session without the backend is worth nothing', async () => {
    expect((await ask('/v1/shopperThing', { headers: { Host: host, 'X-Buyer-Session': session } })).status).toBe(401)
  })
})

function withoutId(text: string): string {
  return text.replace(/"request_id":"[^"]*"/, '"request_id":""')
}
