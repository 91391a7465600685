import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { Asked } from '../../contract-tests/harness/ask.ts'
import { startSynthetic } from '../../contract-tests/harness/syntheticService.ts'

const { ask, apiKey, bff, issuer, session, site, world } = await startSynthetic()
const production = await startSynthetic({ environment: 'production' })
const refusal = async (path: string, asked: Asked, at = ask) => {
  const { status, body } = await at(path, asked)
  return `${status} ${String(body.error)}`
}

describe('a request with many faults is refused for the first in the written order', () => {
  const bad = { method: 'POST', body: '{', headers: { Accept: 'text/html', 'Content-Type': 'text/plain' } }

  test('host before environment before credential', async () => {
    expect(await refusal('/v1/placeThing', { ...bad, as: 'nonsense' })).toBe('404 not_found')
    expect(await refusal('/v1/sandboxThing', { ...bad, as: 'nonsense' }, production.ask)).toBe('404 not_found')
  })

  test('credential before anything about the request', async () => {
    for (const path of ['/v1/createThing', '/v1/stepUpThing', '/v1/sandboxThing', '/v1/sandboxThing?unknown=1']) {
      expect(await refusal(path, bad), path).toBe('401 unauthenticated')
      expect(await refusal(path, { ...bad, as: 'nonsense' }), path).toBe('401 unauthenticated')
    }
  })

  test('the other environment before checksum, unknown, revoked and expired', async () => {
    const live = apiKey(['payments.refund.create'], { environment: 'production' })
    expect(await refusal('/v1/createThing', { ...bad, as: live })).toBe('403 env_mismatch')
    expect(await refusal('/v1/createThing', { ...bad, as: `${live}damaged` })).toBe('403 env_mismatch')
    const token = await issuer.token({ environment: 'production', expiresIn: -600, bindings: [] })
    expect(await refusal('/v1/createThing', { ...bad, as: token })).toBe('403 env_mismatch')
    expect(
      await refusal('/v1/createThing', { ...bad, as: await issuer.forgedToken({ environment: 'production' }) }),
    ).toBe('401 unauthenticated')
  })

  test('module before permission', async () => {
    const as = await issuer.token({ bindings: [{ role: 'reviewer', scope: '*' }] })
    const { body } = await ask('/v1/moduleThing', { as })
    expect(body.message).toBe('The module disbursement is not switched on.')
    world.modules.add('disbursement')
    expect((await ask('/v1/moduleThing', { as })).body.message).toBe('The permission payments.webhook.read is missing.')
    world.modules.clear()
  })

  test('permission before step-up before validation', async () => {
    const reviewer = await issuer.token({ bindings: [{ role: 'reviewer', scope: '*' }] })
    const admin = await issuer.token({ bindings: [{ role: 'tenant_admin', scope: '*' }] })
    const steppedUp = await issuer.token({ bindings: [{ role: 'tenant_admin', scope: '*' }], stepUpAge: 1 })
    expect(await refusal('/v1/stepUpThing', { ...bad, as: reviewer })).toBe('403 forbidden')
    expect(await refusal('/v1/stepUpThing', { ...bad, as: admin })).toBe('401 insufficient_user_authentication')
    expect(await refusal('/v1/stepUpThing', { ...bad, as: steppedUp })).toBe('406 not_acceptable')
    expect(await refusal('/v1/stepUpThing', { ...bad, headers: { 'Content-Type': 'text/plain' }, as: steppedUp })).toBe(
      '415 unsupported_media_type',
    )
    expect(await refusal('/v1/stepUpThing', { ...bad, headers: {}, as: steppedUp })).toBe('400 invalid_json')
  })

  test('scope before rate limit before validation', async () => {
    const limited = await startSynthetic({ limits: { perCaller: 1, perAddress: 1 } })
    const as = limited.apiKey(['payments.refund.create'])
    for (let count = 0; count < 2; count += 1) await limited.ask('/v1/createThing', { ...bad, as })
    expect(await refusal('/v1/createThing', { ...bad, as }, limited.ask)).toBe('429 rate_limited')
    expect(await refusal(`/v1/merchants/${randomUUID()}`, { as }, limited.ask)).toBe('403 insufficient_scope')
  })

  test('validation before feature before open shop before captcha', async () => {
    const post = (body: string) =>
      refusal('/v1/placeThing', {
        method: 'POST',
        as: bff,
        body,
        headers: { Host: site.host, 'X-Buyer-Session': session },
      })
    world.features.delete('promos')
    world.isOpen = false
    expect(await post('{}')).toBe('400 validation_failed')
    expect(await post('{"name":"x"}')).toBe('404 feature_disabled')
    world.features.add('promos')
    expect(await post('{"name":"x"}')).toBe('409 storefront_closed')
    world.isOpen = true
    expect(await post('{"name":"x"}')).toBe('403 captcha_required')
  })

  test('a malformed id is not_found even beside an undeclared parameter', async () => {
    const as = apiKey(['payments.refund.read'])
    expect(await refusal('/v1/merchants/not-an-id?unknown=1', { as })).toBe('404 not_found')
  })
})

test('the neutral 404 is byte-identical for every cause, apart from request_id', async () => {
  const answers = await Promise.all([
    ask('/v1/nowhere'),
    ask('/'),
    ask('/v1/links/forged'),
    ask('/v1/bffThing', { headers: { Host: 'unknown.test' } }),
    ask('/v1/merchants/not-an-id', { as: apiKey(['payments.refund.read']) }),
    production.ask('/v1/sandboxThing', { method: 'POST' }),
    ask('/v1/links/%zz'),
    ask('/v1/closedThing/'),
    ask('/V1/closedThing'),
  ])
  const texts = new Set(answers.map(({ text }) => text.replace(/"request_id":"[^"]+"/, '"request_id":""')))
  expect([...texts]).toEqual(['{"error":"not_found","message":"Not found.","request_id":""}'])
  const heads = new Set(
    answers.map(({ status, headers }) =>
      JSON.stringify([
        status,
        Object.entries(headers).filter(
          ([name]) => !['x-request-id', 'date', 'content-length'].includes(name) && !name.startsWith('ratelimit'),
        ),
      ]),
    ),
  )
  expect([...heads]).toHaveLength(1)
})
