import { describe, expect, test } from 'vitest'
import { ask as askAt } from '../../contract-tests/harness/ask.ts'
import { startSynthetic } from '../../contract-tests/harness/syntheticService.ts'

const { ask } = await startSynthetic()
const list = async (query: string) => ask(`/v1/listThings${query}`)

describe('query parameters', () => {
  test('page and limit have defaults and are moved into their range', async () => {
    const cases: [query: string, page: number, limit: number][] = [
      ['', 1, 20],
      ['?page=0&limit=0', 1, 1],
      ['?page=-5&limit=-5', 1, 1],
      ['?limit=1000', 1, 100],
      ['?page=7&limit=100', 7, 100],
      ['?page=-0', 1, 20],
      ['?page=007', 7, 20],
    ]
    for (const [query, page, limit] of cases)
      expect(await list(query), query).toMatchObject({ status: 200, body: { query: { page, limit } } })
  })

  test('what is no whole number is refused, however it is dressed up', async () => {
    for (const value of [
      '1e2',
      '0x10',
      '1.5',
      'abc',
      '',
      '%20',
      '%201',
      '1_000',
      '9'.repeat(16),
      'Infinity',
      'NaN',
      'null',
      'true',
      '٣',
      '1&page=2',
      '+1',
    ]) {
      expect(await list(`?page=${value.replace('٣', encodeURIComponent)}`), value).toMatchObject({
        status: 400,
        body: { error: 'validation_failed', fields: { page: expect.any(String) } },
      })
    }
  })

  test('page times limit reaches at most 1,000,000', async () => {
    expect((await list('?page=10000&limit=100')).status).toBe(200)
    expect(await list('?page=10001&limit=100')).toMatchObject({
      status: 400,
      body: { fields: { page: 'times limit must be at most 1000000' } },
    })
    expect((await list('?page=999999999999999&limit=1')).status).toBe(400)
  })

  test('one that is not declared is refused and named, whatever it is called', async () => {
    for (const name of [
      'pages',
      'Page',
      '__proto__',
      'constructor',
      'toString',
      'hasOwnProperty',
      'page[]',
      'page.x',
      '%F0%9F%98%80',
    ]) {
      const { status, body } = await list(`?${name}=1`)
      expect(status, name).toBe(400)
      expect(Object.keys(body.fields as object), name).toEqual([decodeURIComponent(name)])
      expect((await list(`?${name}=1&${name}=2`)).status).toBe(400)
    }
  })

  test('a list takes one value and several, and is bounded', async () => {
    expect(await list('?status=a')).toMatchObject({ body: { query: { status: ['a'] } } })
    expect(await list('?status=a&status=b')).toMatchObject({ body: { query: { status: ['a', 'b'] } } })
    expect((await list('?status=a&status=b&status=c&status=d')).status).toBe(400)
  })

  test('x-error names the code of a parameter too', async () => {
    expect(await list('?code=abc')).toMatchObject({
      status: 400,
      body: { error: 'invalid_auth_code', fields: { code: 'must match ^[0-9]+$' } },
    })
    expect((await list('?code=1&code=2')).body.error).toBe('validation_failed')
  })

  test('a header is named as it is declared', async () => {
    expect((await askWith({ 'x-colour': 'vermilion' })).body).toMatchObject({
      fields: { 'X-Colour': 'must be at most 5 characters' },
    })
  })

  test('text that cannot be stored is refused', async () => {
    expect((await list('?status=a%00b')).body).toMatchObject({
      fields: { 'status.0': 'must be text without U+0000 and lone surrogates' },
    })
    expect((await ask('/v1/links/a%00b')).status).toBe(404)
  })

  test('x-ignored-query drops what it names and nothing else', async () => {
    expect(await ask('/v1/ignoredThing?host=x&host=y', { method: 'POST' })).toMatchObject({
      status: 200,
      body: { query: {} },
    })
    expect((await ask('/v1/ignoredThing?host=x&other=y', { method: 'POST' })).status).toBe(400)
  })

  const askWith = (headers: Record<string, string>) => ask('/v1/listThings', { headers })
})

describe('bodies', () => {
  test('x-body ignored takes any bytes of any media type under the limit, and throws them away', async () => {
    for (const [type, body] of [
      ['image/png', Buffer.from([0xff, 0])],
      ['application/json', '{'],
      ['text/plain; charset=utf-16', 'x'],
      ['nonsense', 'x'],
      ['application/json', ''],
    ] as const) {
      expect(await ask('/v1/ignoredThing', { method: 'POST', body, headers: { 'Content-Type': type } })).toMatchObject({
        status: 200,
        body: { body: null, bytes: '' },
      })
    }
    expect(await ask('/v1/ignoredThing', { method: 'POST', body: 'x'.repeat(101) })).toMatchObject({
      status: 413,
      body: { error: 'payload_too_large' },
    })
  })

  test('x-max-body is the limit to the byte', async () => {
    const body = (size: number) => `{"name":"${'x'.repeat(size - 11)}"}`
    expect((await ask('/v1/smallThing', { method: 'POST', body: body(64) })).status).toBe(200)
    expect(await ask('/v1/smallThing', { method: 'POST', body: body(65) })).toMatchObject({
      status: 413,
      body: { message: 'The body is larger than 64 bytes.' },
    })
  })

  test('a form is read where it is declared, a repeated field refused', async () => {
    const post = (body: string, type = 'application/x-www-form-urlencoded') =>
      ask('/v1/clientThing', { method: 'POST', body, headers: { 'Content-Type': type } })
    expect(await post('client_id=a%20b')).toMatchObject({ status: 200, body: { body: { client_id: 'a b' } } })
    expect((await post('client_id=a&client_id=b')).body).toMatchObject({ fields: { client_id: 'must be text' } })
    for (const name of ['other', '__proto__', 'constructor'])
      expect((await post(`client_id=a&${name}=1`)).body, name).toMatchObject({ fields: { [name]: 'is not known' } })
    expect((await post('{"client_id":"a"}', 'application/json')).status).toBe(200)
  })

  test('among alternatives x-error is found in the one that has the member', async () => {
    const answer = await ask('/v1/choiceThing', { method: 'POST', body: '{"card":"12345"}' })
    expect(answer.status).toBe(400)
    expect((answer.body.fields as Record<string, string>).card).toBe('must be at most 4 characters')
  })
})

describe('x-cors', () => {
  const origin = { Origin: 'https://shop.example' }

  test('open: any origin may call it and read the answer, the refusals too, without credentials', async () => {
    for (const [path, asked] of [
      ['/v1/openThing', {}],
      ['/v1/openThing?unknown=1', {}],
      ['/v1/openThing', { method: 'POST', body: '{' }],
    ] as const) {
      const { headers } = await ask(path, { ...asked, headers: origin })
      expect(headers['access-control-allow-origin']).toBe('*')
      expect(headers['access-control-expose-headers']).toContain('X-Request-Id')
      expect(headers['access-control-allow-credentials']).toBeUndefined()
    }
  })

  test('open: a preflight is answered with the open methods', async () => {
    const answer = await ask('/v1/openThing', {
      method: 'OPTIONS',
      headers: { ...origin, 'Access-Control-Request-Method': 'POST' },
    })
    expect(answer).toMatchObject({ status: 204, text: '' })
    expect(answer.headers).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'GET, POST',
      'x-request-id': expect.any(String),
    })
  })

  test('closed: no header allows anything, and a preflight is 405', async () => {
    const answer = await ask('/v1/closedThing', { headers: origin })
    const preflight = await ask('/v1/closedThing', {
      method: 'OPTIONS',
      headers: { ...origin, 'Access-Control-Request-Method': 'GET' },
    })
    for (const { headers } of [answer, preflight])
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([])
    expect(preflight.status).toBe(405)
  })
})

describe('Strict-Transport-Security', () => {
  test('is sent where the service is reached by https, and only there', async () => {
    const secure = await startSynthetic({ httpsOnly: true })
    for (const path of ['/v1/closedThing', '/v1/nowhere']) {
      expect((await askAt(secure.url, path)).headers['strict-transport-security']).toBe(
        'max-age=63072000; includeSubDomains',
      )
      expect((await ask(path)).headers['strict-transport-security']).toBeUndefined()
    }
  })
})
