import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { startPayments } from '../../../contract-tests/harness/payments.ts'
import { roles } from '../../../generated/roles.ts'

const { call, given, issuer } = await startPayments()
const merchant = await given.merchant()

describe('200', () => {
  test('an API key: its merchant, its scopes sorted, its tenant and branding', async () => {
    const as = await given.apiKey(merchant, { scopes: ['payments.refund.create', 'payments.payment_intent.read'] })
    expect(await call('getMe', { as })).toMatchObject({
      status: 200,
      body: {
        environment: 'sandbox',
        caller: { kind: 'api_key', id: expect.stringMatching(/^[0-9a-f-]{36}$/) },
        tenant: { id: merchant.tenantId, name: 'Toko Contoh' },
        branding: { display_name: 'Toko Contoh', logo_url: null, accent_hex: '#0F766E' },
        modules: ['payments'],
        merchant_ids: [merchant.id],
        permissions: ['payments.payment_intent.read', 'payments.refund.create'],
      },
    })
  })

  test('a key without scopes holds nothing, and may still ask who it is', async () => {
    const as = await given.apiKey(merchant, { scopes: [] })
    expect((await call('getMe', { as })).body).toMatchObject({ permissions: [], merchant_ids: [merchant.id] })
  })

  test('a user: the permissions of all roles, each once, sorted', async () => {
    const subject = randomUUID()
    const as = await issuer.token({
      subject,
      tenantId: merchant.tenantId,
      bindings: [
        { role: 'merchant_support', scope: `merchant:${merchant.id}` },
        { role: 'merchant_owner', scope: `merchant:${merchant.id}` },
        { role: 'a_role_of_tomorrow', scope: '*' },
      ],
    })
    const { body } = await call('getMe', { as })
    expect(body).toMatchObject({ caller: { kind: 'user', id: subject } })
    const expected = [
      ...new Set<string>([...roles.merchant_support.permissions, ...roles.merchant_owner.permissions]),
    ].sort()
    expect('permissions' in body && body.permissions).toEqual(expected)
  })

  test('a user of the whole tenant is bound to no merchant, one of several to those', async () => {
    const other = randomUUID()
    expect((await call('getMe', { as: await given.token(merchant, 'tenant_admin', '*') })).body).toMatchObject({
      merchant_ids: null,
    })
    const as = await issuer.token({
      tenantId: merchant.tenantId,
      bindings: [merchant.id, other, other].map((id) => ({ role: 'merchant_owner', scope: `merchant:${id}` })),
    })
    expect((await call('getMe', { as })).body).toMatchObject({ merchant_ids: [merchant.id, other].sort() })
    const nobody = await issuer.token({ tenantId: merchant.tenantId, bindings: [] })
    expect((await call('getMe', { as: nobody })).body).toMatchObject({ merchant_ids: [], permissions: [] })
  })

  test('a service of the platform belongs to no tenant', async () => {
    const as = await issuer.token({
      subject: 'storefront',
      tenantId: null,
      permissions: ['payments.legal.read', 'payments.legal.read', 'identity.check'],
    })
    expect(await call('getMe', { as })).toMatchObject({
      status: 200,
      body: {
        caller: { kind: 'service', id: 'storefront' },
        tenant: null,
        branding: null,
        modules: [],
        merchant_ids: null,
        permissions: ['identity.check', 'payments.legal.read'],
      },
    })
  })

  test('a tenant that identity does not know has neither name nor branding', async () => {
    const bench = await startPayments({ tenant: () => null })
    const as = await bench.given.apiKey(await bench.given.merchant())
    expect((await bench.call('getMe', { as })).body).toMatchObject({ tenant: null, branding: null, modules: [] })
  })
})

describe('503', () => {
  test('identity cannot be asked, and the reason is in the log', async () => {
    const bench = await startPayments({ tenant: null })
    const as = await bench.given.apiKey(await bench.given.merchant())
    const answer = await bench.call('getMe', { as })
    expect(answer).toMatchObject({
      status: 503,
      body: { error: 'unavailable', message: 'The tenant cannot be looked up at present.' },
    })
    expect(answer.headers.get('retry-after')).toBe('1')
    expect(bench.logged.filter((line) => line.includes('"failed"')).join()).toContain('fetch failed')
  })

  test('what identity has said is kept for 60 seconds while it cannot be asked', async () => {
    let away = false
    const bench = await startPayments({
      tenant: (id) => {
        if (away) throw new TypeError('fetch failed')
        return {
          id,
          name: 'Toko Contoh',
          status: 'active',
          branding: { display_name: 'Toko Contoh', logo_url: null, accent_hex: '#0F766E' },
          modules: [],
        }
      },
    })
    const as = await bench.given.apiKey(await bench.given.merchant())
    expect((await bench.call('getMe', { as })).status).toBe(200)
    away = true
    bench.clock.advance(59_000)
    expect((await bench.call('getMe', { as })).status).toBe(200)
    bench.clock.advance(2_000)
    expect((await bench.call('getMe', { as })).status).toBe(503)
  })
})
