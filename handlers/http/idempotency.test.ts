import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { AnyHandler } from './handler.ts'
import { startSynthetic } from '../../contract-tests/harness/syntheticService.ts'

interface Context {
  body: { name: string; fail?: string }
  sql: (template: TemplateStringsArray, ...values: unknown[]) => Promise<{ id: number }[]>
  reply(status: number, body: unknown): never
  fail(code: string, details?: object): never
}

/** Inserts a row and answers it; refuses or breaks after the insert when told. */
const insert = (async ({ body, sql, reply, fail }: Context) => {
  const [row] = await sql`insert into payments.things (name) values (${body.name}) returning id`
  if (body.fail === 'refuse') fail('invalid_state')
  if (body.fail === 'break') throw new Error('broken after the insert')
  return reply(200, { id: row?.id, name: body.name })
}) as unknown as AnyHandler

const { ask, apiKey, bff, database, session, site, world } = await startSynthetic({
  handlers: { createThing: insert, placeThing: insert },
})
const scopes = ['payments.refund.create']
const merchant = { tenantId: randomUUID(), merchantId: randomUUID() }
const as = apiKey(scopes, merchant)

const create = (key: string | undefined, body: object | string, credential = as) =>
  ask('/v1/createThing', {
    method: 'POST',
    as: credential,
    body: typeof body === 'string' ? body : JSON.stringify(body),
    headers: { ...(key !== undefined && { 'Idempotency-Key': key }) },
  })
const rows = async (name: string) =>
  (await database.query((sql) => sql`select 1 from payments.things where name = ${name}`)).length

describe('one transaction', () => {
  test('a repeat answers the first answer, marked, and does nothing', async () => {
    const first = await create('a', { name: 'a' })
    const second = await create('a', { name: 'a' })
    expect(first.status).toBe(200)
    expect(first.headers['idempotency-replayed']).toBeUndefined()
    expect(second).toMatchObject({ status: 200, text: first.text })
    expect(second.headers['idempotency-replayed']).toBe('true')
    expect(await rows('a')).toBe(1)
  })

  test('20 twins at once do it once and answer alike', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => create('twins', { name: 'twins' })))
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
    expect(answers[0]?.status).toBe(200)
    expect(answers.filter(({ headers }) => headers['idempotency-replayed'] === 'true')).toHaveLength(19)
    expect(await rows('twins')).toBe(1)
  })

  test('another body under the same key is 409, the same JSON written otherwise is not', async () => {
    await create('b', '{"name":"b","tags":{"x":1,"y":[1,2]}}')
    expect(await create('b', { name: 'other' })).toMatchObject({
      status: 409,
      body: { error: 'idempotency_key_reused' },
    })
    expect(
      (await create('b', '{ "tags": {"y": [1, 2.0], "x": 1e0},\n "name": "\\u0062" }')).headers['idempotency-replayed'],
    ).toBe('true')
    expect((await create('b', '{"name":"b","tags":{"x":1,"y":[2,1]}}')).status).toBe(409)
    expect(await rows('b')).toBe(1)
  })

  test('a refusal and a failure undo the work and forget the key', async () => {
    for (const [fail, status] of [
      ['refuse', 409],
      ['break', 500],
    ] as const) {
      expect((await create(`c-${fail}`, { name: `c-${fail}`, fail })).status).toBe(status)
      expect(await rows(`c-${fail}`)).toBe(0)
      expect((await create(`c-${fail}`, { name: `c-${fail}-again` })).status).toBe(200)
    }
  })

  test('20 twins of which the first fail: exactly one does the work', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => create('d', index < 3 ? { name: 'd', fail: 'break' } : { name: 'd' })),
    )
    expect(await rows('d')).toBe(1)
    expect(answers.every(({ status }) => [200, 409, 500].includes(status))).toBe(true)
  })

  test('the same key of another merchant and of another tenant is another key', async () => {
    await create('e', { name: 'e' })
    for (const other of [{ tenantId: merchant.tenantId }, {}]) {
      const answer = await create('e', { name: 'e' }, apiKey(scopes, other))
      expect(answer.headers['idempotency-replayed']).toBeUndefined()
      expect(answer.status).toBe(200)
    }
    expect(await rows('e')).toBe(3)
  })

  test('another key of the same merchant replays too', async () => {
    await create('f', { name: 'f' })
    expect((await create('f', { name: 'f' }, apiKey(scopes, merchant))).headers['idempotency-replayed']).toBe('true')
  })

  test('once the answer has been forgotten the key is refused, and nothing is done twice', async () => {
    await create('old', { name: 'old' })
    await database.query((sql) => sql`update payments.idempotency_keys set reply = null where key = 'old'`)
    expect(await create('old', { name: 'old' })).toMatchObject({ status: 409, body: { error: 'idempotency_key_reused' } })
    expect(await rows('old')).toBe(1)
  })

  test('without a key every request counts', async () => {
    await create(undefined, { name: 'g' })
    await create(undefined, { name: 'g' })
    expect(await rows('g')).toBe(2)
  })

  test('a credential that is refused gets no replay', async () => {
    await create('h', { name: 'h' })
    expect((await create('h', { name: 'h' }, 'nonsense')).status).toBe(401)
    expect((await create('h', { name: 'h' }, apiKey([], merchant))).status).toBe(403)
  })

  test('a key is 1 to 255 visible ASCII characters, once', async () => {
    expect((await create('k'.repeat(255), { name: 'k' })).status).toBe(200)
    for (const key of ['', 'k'.repeat(256), 'with space', 'käse', 'tab\there']) {
      const answer = await ask('/v1/createThing', {
        method: 'POST',
        as,
        body: '{"name":"bad-key"}',
        headers: { 'Idempotency-Key': Buffer.from(key).toString('latin1') },
      })
      expect(answer, JSON.stringify(key)).toMatchObject({
        status: 400,
        body: {
          error: 'validation_failed',
          fields: { 'Idempotency-Key': 'must be 1 to 255 visible ASCII characters' },
        },
      })
    }
    const twice = await ask('/v1/createThing', {
      method: 'POST',
      as,
      body: '{"name":"bad-key"}',
      headers: { 'Idempotency-Key': ['one', 'two'] },
    })
    expect(twice.status).toBe(400)
    expect(await rows('bad-key')).toBe(0)
  })

  test('an operation without x-idempotency does not look at the header', async () => {
    expect((await ask('/v1/closedThing', { headers: { 'Idempotency-Key': 'with space' } })).status).toBe(200)
  })
})

describe('replay comes before feature, open shop and captcha', () => {
  const place = (key: string, name = key, solution?: string) =>
    ask('/v1/placeThing', {
      method: 'POST',
      as: bff,
      body: JSON.stringify({ name }),
      headers: {
        Host: site.host,
        'X-Buyer-Session': session,
        'Idempotency-Key': key,
        ...(solution !== undefined && { 'X-Marketplace-Captcha-Token': solution }),
      },
    })

  test('what was done is answered again whatever has been closed since', async () => {
    world.solutions.add('solved')
    const first = await place('order', 'order', 'solved')
    expect(first.status).toBe(200)
    world.features.delete('promos')
    world.isOpen = false
    const again = await place('order')
    expect(again).toMatchObject({ status: 200, text: first.text })
    expect(again.headers['idempotency-replayed']).toBe('true')
    expect((await place('order', 'another')).status).toBe(409)
    expect(await place('new')).toMatchObject({ status: 404, body: { error: 'feature_disabled' } })
    world.features.add('promos')
    expect(await place('new')).toMatchObject({ status: 409, body: { error: 'storefront_closed' } })
    world.isOpen = true
    expect(await place('new')).toMatchObject({ status: 403, body: { error: 'captcha_required' } })
    expect(await rows('order')).toBe(1)
  })

  test('a replay spends no solution', async () => {
    world.solutions.add('spare')
    expect((await place('order', 'order', 'spare')).status).toBe(200)
    expect(world.solutions.has('spare')).toBe(true)
  })

  test('a switched-off storefront gets no replay', async () => {
    world.sites.delete(site.host)
    expect((await place('order')).status).toBe(404)
    world.sites.set(site.host, site)
  })
})

test('the stored reply is sealed', async () => {
  await create('sealed', { name: 'a-name-that-must-not-be-readable' })
  const [row] = await database.query(
    (sql) => sql<{ reply: Buffer }[]>`select reply from payments.idempotency_keys where key = 'sealed'`,
  )
  expect(row?.reply.includes('a-name-that-must-not-be-readable')).toBe(false)
})
