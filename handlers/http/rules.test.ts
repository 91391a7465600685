import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { ask as askAt } from '../../contract-tests/harness/ask.ts'
import { startSynthetic } from '../../contract-tests/harness/syntheticService.ts'

const bench = await startSynthetic()
const { ask, apiKey, bff, clock, issuer, session, site, world } = bench
const atShop = { as: bff, headers: { Host: site.host } }

describe('x-environment', () => {
  test('the operation exists in its own environment', async () => {
    expect((await ask('/v1/sandboxThing', { method: 'POST', as: apiKey([]), body: '{}' })).status).toBe(200)
  })

  test('elsewhere it is the neutral 404, whatever else is wrong', async () => {
    const production = await startSynthetic({ environment: 'production' })
    const asked = [{ as: production.apiKey([]), body: '{}' }, { body: '{' }, { as: 'nonsense' }]
    for (const entry of asked) {
      expect(await production.ask('/v1/sandboxThing', { method: 'POST', ...entry })).toMatchObject({
        status: 404,
        body: { error: 'not_found', message: 'Not found.' },
      })
    }
  })
})

describe('x-module', () => {
  test('a module that the tenant has switched off is forbidden, and named', async () => {
    const as = await issuer.token({ bindings: [{ role: 'tenant_admin', scope: '*' }] })
    expect(await ask('/v1/moduleThing', { as })).toMatchObject({
      status: 403,
      body: { error: 'forbidden', message: 'The module disbursement is not switched on.' },
    })
    world.modules.add('disbursement')
    expect((await ask('/v1/moduleThing', { as })).status).toBe(200)
    world.modules.clear()
  })
})

describe('x-step-up', () => {
  const post = async (stepUpAge?: number) =>
    ask('/v1/stepUpThing', {
      method: 'POST',
      body: '{"name":"x"}',
      as: await issuer.token({
        bindings: [{ role: 'tenant_admin', scope: '*' }],
        ...(stepUpAge !== undefined && { stepUpAge }),
      }),
    })

  test('a step-up of the last 5 minutes is taken', async () => {
    expect((await post(0)).status).toBe(200)
    expect((await post(299)).status).toBe(200)
  })

  test('none, or an older one, is refused as RFC 9470 says', async () => {
    for (const age of [undefined, 302]) {
      const answer = await post(age)
      expect(answer).toMatchObject({ status: 401, body: { error: 'insufficient_user_authentication' } })
      expect(answer.headers['www-authenticate']).toMatch(
        /^Bearer error="insufficient_user_authentication".*max_age="300"$/,
      )
    }
  })
})

describe('x-feature, x-when-closed and x-captcha', () => {
  test('a feature that is off is 404 feature_disabled', async () => {
    expect((await ask('/v1/featureThing', atShop)).status).toBe(200)
    world.features.delete('reviews')
    expect(await ask('/v1/featureThing', atShop)).toMatchObject({ status: 404, body: { error: 'feature_disabled' } })
    world.features.add('reviews')
  })

  test('every shopper operation needs buyer_accounts, with no key of its own', async () => {
    world.features.delete('buyer_accounts')
    const answer = await ask('/v1/shopperThing', { as: bff, headers: { Host: site.host, 'X-Buyer-Session': session } })
    expect(answer).toMatchObject({ status: 404, body: { error: 'feature_disabled' } })
    expect((await ask('/v1/bffThing', atShop)).status).toBe(200)
    world.features.add('buyer_accounts')
  })

  test('a closed shop is 409 storefront_closed', async () => {
    expect((await ask('/v1/openShopThing', { ...atShop, method: 'POST' })).status).toBe(200)
    world.isOpen = false
    expect(await ask('/v1/openShopThing', { ...atShop, method: 'POST' })).toMatchObject({
      status: 409,
      body: { error: 'storefront_closed' },
    })
    world.isOpen = true
  })

  test('a solved challenge counts once; none, a wrong one and a failing check are captcha_required', async () => {
    world.solutions.add('solved')
    const post = (token?: string) =>
      ask('/v1/captchaThing', {
        as: bff,
        method: 'POST',
        headers: { Host: site.host, ...(token !== undefined && { 'X-Marketplace-Captcha-Token': token }) },
      })
    expect((await post('solved')).status).toBe(200)
    for (const token of ['solved', 'wrong', 'broken', '', undefined]) {
      expect(await post(token), String(token)).toMatchObject({ status: 403, body: { error: 'captcha_required' } })
    }
  })
})

describe('x-rate-limit', () => {
  test('each key has its own bucket: twice the rate at once, then 429, then what has flowed in', async () => {
    const limited = await startSynthetic({ limits: { perCaller: 2, perAddress: 1 } })
    const as = limited.apiKey([])
    const get = () => limited.ask('/v1/credentialThing', { as })
    for (const remaining of ['3', '2', '1', '0']) {
      expect((await get()).headers).toMatchObject({ 'ratelimit-limit': '4', 'ratelimit-remaining': remaining })
    }
    const refused = await get()
    expect(refused).toMatchObject({ status: 429, body: { error: 'rate_limited' } })
    expect(refused.headers).toMatchObject({
      'retry-after': '1',
      'ratelimit-limit': '4',
      'ratelimit-remaining': '0',
      'ratelimit-reset': '2',
    })
    expect((await limited.ask('/v1/credentialThing', { as: limited.apiKey([]) })).status).toBe(200)
    limited.world.time += 500
    expect((await get()).status).toBe(200)
    expect((await get()).status).toBe(429)
    limited.world.time += 60_000
    for (let count = 0; count < 4; count += 1) expect((await get()).status).toBe(200)
    expect((await get()).status).toBe(429)
  })

  test('a refused credential takes nothing from a bucket; a forbidden one neither', async () => {
    const limited = await startSynthetic({ limits: { perCaller: 1, perAddress: 1 } })
    const as = limited.apiKey(['payments.refund.read'])
    for (let count = 0; count < 5; count += 1) {
      expect((await limited.ask('/v1/credentialThing', { as: `${as}x` })).status).toBe(401)
      expect((await limited.ask('/v1/consoleThing', { as })).status).toBe(403)
    }
    expect((await limited.ask('/v1/credentialThing', { as })).headers['ratelimit-remaining']).toBe('1')
  })

  test('an invalid request counts', async () => {
    const limited = await startSynthetic({ limits: { perCaller: 1, perAddress: 1 } })
    const as = limited.apiKey([])
    for (let count = 0; count < 2; count += 1)
      expect((await limited.ask('/v1/credentialThing?unknown=1', { as })).status).toBe(400)
    expect((await limited.ask('/v1/credentialThing', { as })).status).toBe(429)
  })

  test('client: one bucket for each client_id of the body, JSON or form', async () => {
    const limited = await startSynthetic({ limits: { perCaller: 1, perAddress: 1 } })
    const post = (id: string) =>
      limited.ask('/v1/clientThing', {
        method: 'POST',
        body: `client_id=${id}`,
        headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      })
    expect([
      (await post('a')).status,
      (await post('a')).status,
      (await post('a')).status,
      (await post('b')).status,
    ]).toEqual([200, 200, 429, 200])
    expect((await limited.ask('/v1/clientThing', { method: 'POST', body: '{"client_id":"a"}' })).status).toBe(429)
  })

  test('none: no limit and no headers', async () => {
    const limited = await startSynthetic({ limits: { perCaller: 1, perAddress: 1 } })
    for (let count = 0; count < 5; count += 1) {
      const answer = await limited.ask('/v1/closedThing')
      expect(answer.status).toBe(200)
      expect(answer.headers['ratelimit-limit']).toBeUndefined()
    }
  })
})

describe('TRUSTED_PROXIES', () => {
  const addressSeen = async (trustedProxies: readonly string[], forwarded: string | readonly string[]) => {
    const { url } = await startSynthetic({ trustedProxies })
    return (await askAt(url, '/v1/openThing', { headers: { 'X-Forwarded-For': forwarded } })).body.address
  }

  test('without any, X-Forwarded-For is not believed', async () => {
    expect(await addressSeen([], '203.0.113.9')).toBe('127.0.0.1')
  })

  test('a trusted proxy is believed for the address it names last', async () => {
    expect(await addressSeen(['127.0.0.1'], '203.0.113.9')).toBe('203.0.113.9')
    expect(await addressSeen(['127.0.0.1'], '198.51.100.1, 203.0.113.9')).toBe('203.0.113.9')
    expect(await addressSeen(['127.0.0.1'], ['198.51.100.1', '203.0.113.9'])).toBe('203.0.113.9')
  })

  test('a chain of trusted proxies is followed to the first that is not', async () => {
    expect(await addressSeen(['127.0.0.0/8', '203.0.113.0/24'], '198.51.100.1, 192.0.2.7, 203.0.113.9')).toBe(
      '192.0.2.7',
    )
  })

  test('each address has its own bucket, and a made-up header buys no new one', async () => {
    const trusting = await startSynthetic({ limits: { perCaller: 1, perAddress: 1 }, trustedProxies: ['127.0.0.1'] })
    const from = async (address: string, at = trusting) =>
      (await at.ask('/v1/openThing', { headers: { 'X-Forwarded-For': address } })).status
    expect([
      await from('192.0.2.1'),
      await from('192.0.2.1'),
      await from('192.0.2.2'),
      await from('198.51.100.9, 192.0.2.1'),
    ]).toEqual([200, 429, 200, 429])
    const strict = await startSynthetic({ limits: { perCaller: 1, perAddress: 1 } })
    expect([await from('192.0.2.1', strict), await from('192.0.2.2', strict)]).toEqual([200, 429])
  })
})

describe('x-transaction', () => {
  test('read: a write inside it is refused by the database, and is our failure', async () => {
    const reading = await startSynthetic({
      handlers: {
        writeByRead: (async ({ sql }: { sql: (template: TemplateStringsArray) => Promise<unknown> }) => {
          await sql`insert into payments.things (name) values ('x')`
        }) as never,
      },
    })
    expect(await reading.ask('/v1/writeByRead', { method: 'POST' })).toMatchObject({
      status: 500,
      body: { error: 'internal_error' },
    })
    expect(await reading.database.query((sql) => sql`select 1 from payments.things`)).toHaveLength(0)
  })
})

test('revoking is seen by the next request: nothing is remembered of a key', async () => {
  const as = apiKey([])
  expect((await ask('/v1/credentialThing', { as })).status).toBe(200)
  world.keys.clear()
  expect((await ask('/v1/credentialThing', { as })).status).toBe(401)
})

test('a token counts to the end of its time and not beyond', async () => {
  const as = await issuer.token({ tenantId: randomUUID(), bindings: [], expiresIn: 600 })
  clock.advance(599_000)
  expect((await ask('/v1/userThing', { as })).status).toBe(200)
  clock.advance(7_000)
  expect((await ask('/v1/userThing', { as })).status).toBe(401)
})
