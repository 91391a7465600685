import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { ask, speak } from './harness/ask.ts'
import { startPayments } from './harness/payments.ts'

const { given, url, database, logged } = await startPayments()
const merchant = await given.merchant()
const as = await given.apiKey(merchant)
const body = JSON.stringify({ amount_idr: 150_000, allowed_channels: ['qris', 'cash'] })
const intents = async () => (await database.query((sql) => sql`select 1 from payments.payment_intents`)).length
const lines = (...text: string[]) => `${text.join('\r\n')}\r\n\r\n`
const post = (...headers: string[]) =>
  lines(
    'POST /v1/payments/intents HTTP/1.1',
    'Host: localhost',
    `Authorization: Bearer ${as}`,
    'Content-Type: application/json',
    ...headers,
  )

describe('X-Request-Id', () => {
  test('is echoed when it is well-formed, in the body too', async () => {
    for (const id of ['a', 'order-1042', '~!@#$%^&*()', 'x'.repeat(128)]) {
      const answer = await ask(url, '/v1/nowhere', { headers: { 'X-Request-Id': id } })
      expect(answer.headers['x-request-id']).toBe(id)
      expect(answer.body.request_id).toBe(id)
    }
  })

  test('is replaced when it is not', async () => {
    for (const id of ['', 'with space', 'x'.repeat(129), 'käse', ['one', 'two']]) {
      const given = typeof id === 'string' ? Buffer.from(id).toString('latin1') : id
      const {
        headers,
        body: { request_id },
      } = await ask(url, '/v1/nowhere', { headers: { 'X-Request-Id': given } })
      expect(request_id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
      expect(headers['x-request-id']).toBe(request_id)
    }
  })
})

describe('paths', () => {
  test('an unknown path is 404 with the error body', async () => {
    for (const path of [
      '/nothing',
      '/v1',
      '/v1/',
      '/v2/health',
      '/v1/payment',
      '/favicon.ico',
      '/v1/health/x',
      '/v1/../v1/health',
      '/v1/health%00',
      '/%',
      '/v1/health.json',
    ]) {
      const answer = await ask(url, path)
      expect(answer, path).toMatchObject({ status: 404, body: { error: 'not_found', message: 'Not found.' } })
    }
  })

  test('what cannot be decoded, or is no id once decoded, is 404 for whoever may ask', async () => {
    const id = randomUUID()
    const wrong = [
      '%zz',
      '%',
      '%E0%A4%A',
      '%2F',
      `${id}%2F`,
      `${id}%00`,
      '..%2F..%2Fhealth',
      id.toUpperCase(),
      `urn:uuid:${id}`,
      `{${id}}`,
      id.replaceAll('-', ''),
      `${id} `.replace(' ', '%20'),
      "1'or'1'='1",
      '%F0%9F%98%80',
    ]
    for (const name of wrong) {
      expect(await ask(url, `/v1/payments/intents/${name}`, { as }), name).toMatchObject({
        status: 404,
        body: { error: 'not_found' },
      })
    }
    expect((await ask(url, `/v1/payments/intents/${id}`, { as })).text.replace(/"request_id":"[^"]*"/, '')).toBe(
      (await ask(url, '/v1/payments/intents/%zz', { as })).text.replace(/"request_id":"[^"]*"/, ''),
    )
  })

  test('percent-encoding of a plain character is the character', async () => {
    const created = await ask(url, '/v1/payments/intents', { method: 'POST', as, body })
    const id = String(created.body.id)
    const encoded = `%${id.charCodeAt(0).toString(16)}${id.slice(1)}`
    expect((await ask(url, `/v1/payments/intents/${encoded}`, { as })).body.id).toBe(id)
  })

  test('a request target with scheme and host is its path', async () => {
    expect(
      await speak(
        url,
        lines('GET http://api.bayar.example/v1/health HTTP/1.1', 'Host: other.example', 'Connection: close'),
      ),
    ).toMatch(/^HTTP\/1\.1 200 /)
  })
})

describe('connections', () => {
  test('two requests pipelined on one connection are answered in order', async () => {
    const text = await speak(
      url,
      lines('GET /v1/health HTTP/1.1', 'Host: a', 'X-Request-Id: first')
        + lines('GET /v1/nowhere HTTP/1.1', 'Host: a', 'X-Request-Id: second', 'Connection: close'),
    )
    expect([...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => status)).toEqual(['200', '404'])
    expect(text.indexOf('X-Request-Id: first')).toBeLessThan(text.indexOf('X-Request-Id: second'))
  })

  test('a refused request with a body leaves the connection in step', async () => {
    const text = await speak(
      url,
      post(`Content-Length: ${body.length}`).replace(`Bearer ${as}`, 'Bearer nonsense')
        + body
        + lines('GET /v1/health HTTP/1.1', 'Host: a', 'Connection: close'),
    )
    expect([...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => status)).toEqual(['401', '200'])
  })

  test('a body on a GET is passed over', async () => {
    const text = await speak(
      url,
      `${lines('GET /v1/health HTTP/1.1', 'Host: a', 'Content-Length: 5')}{"a":`
        + lines('GET /v1/nowhere HTTP/1.1', 'Host: a', 'Connection: close'),
    )
    expect([...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => status)).toEqual(['200', '404'])
  })

  test('Expect: 100-continue is answered before the body, and the body then read', async () => {
    const text = await speak(
      url,
      post(`Content-Length: ${body.length}`, 'Expect: 100-continue', 'Connection: close') + body,
    )
    expect(text).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 201 Created\r\n/)
  })

  test('an upload far over the limit hears 413 and not a reset', async () => {
    const answer = await ask(url, '/v1/payments/intents', { method: 'POST', as, body: 'x'.repeat(20_000_000) })
    expect(answer).toMatchObject({ status: 413, body: { error: 'payload_too_large' } })
  })

  test("a body that ends early writes nothing and is nobody's failure", async () => {
    const before = await intents()
    const text = await speak(url, post('Content-Length: 5000') + body, { endAfter: true })
    expect(text).not.toMatch(/^HTTP\/1\.1 (2|5)/)
    const chunked = await speak(url, `${post('Transfer-Encoding: chunked')}5\r\n{"amo`, { endAfter: true })
    expect(chunked).not.toMatch(/^HTTP\/1\.1 (2|5)/)
    expect(await intents()).toBe(before)
    expect(logged.join('')).not.toContain('"failed"')
  })

  test('what is no HTTP is refused by the connection ending', async () => {
    for (const text of [
      'nonsense\r\n\r\n',
      lines('GET /v1/health HTTP/1.1'),
      lines('GET /v1/health HTTP/1.1', 'Host: a', 'Content-Length: 1', 'Transfer-Encoding: chunked'),
      lines('GET /v1/health HTTP/1.1', 'Host: a', `X-Long: ${'x'.repeat(20_000)}`),
      lines('POST /v1/payments/intents HTTP/1.1', 'Host: a', 'Content-Length: -1'),
    ]) {
      expect(await speak(url, text), text.slice(0, 40)).toMatch(/^HTTP\/1\.1 (400|431) /)
    }
    expect((await ask(url, '/v1/health')).status).toBe(200)
  })
})

describe('Authorization', () => {
  test('the scheme is read in any case, one space and one credential', async () => {
    const get = (authorization: string) => ask(url, '/v1/me', { headers: { Authorization: authorization } })
    expect((await get(`bearer ${as}`)).status).toBe(200)
    for (const wrong of [
      as,
      `Bearer  ${as}`,
      `Bearer ${as} x`,
      `Basic ${as}`,
      `Bearer`,
      'Bearer ',
      `Bearer "${as}"`,
      `Bearer ${as},Bearer ${as}`,
      `Bearer\t${as}`,
    ]) {
      const { status, body: refused, headers } = await get(wrong)
      expect({ status, error: refused.error }, wrong).toEqual({ status: 401, error: 'unauthenticated' })
      expect(headers['www-authenticate']).toBe('Bearer')
    }
  })

  test('no credential is taken from anywhere else', async () => {
    for (const path of [`/v1/me?access_token=${as}`, `/v1/me?api_key=${as}`])
      expect((await ask(url, path)).status).toBe(401)
    for (const headers of [{ 'X-Api-Key': as }, { Cookie: `session=${as}` }, { 'Proxy-Authorization': `Bearer ${as}` }])
      expect((await ask(url, '/v1/me', { headers })).status).toBe(401)
  })
})

test('no answer, header or log line repeats a credential', async () => {
  await ask(url, '/v1/me?x=1', { as })
  await ask(url, '/v1/payments/intents', { method: 'POST', as, body: '{' })
  expect(logged.join('')).not.toContain(as)
})
