import { describe, expect, test } from 'vitest'
import { DatabaseUnavailable } from '../db/sql.ts'
import type { AnyHandler } from '../handlers/http/handler.ts'
import type { Operation } from '../handlers/http/operation.ts'
import { ask } from './harness/ask.ts'
import type { RawAnswer, RawOptions } from './harness/call.ts'
import { asId, operationIds, startEveryService } from './harness/everyOperation.ts'
import type { EveryOperation } from './harness/everyOperation.ts'

const secret = 'sk_live_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLM'
const failing = (async () => {
  throw new Error(`select digest from payments.api_keys where digest = '${secret}'`)
}) as AnyHandler
const unreachable = (async () => {
  throw new DatabaseUnavailable('connect', new Error('connect ECONNREFUSED 127.0.0.1:5432'))
}) as AnyHandler

const every = await startEveryService()
const [limited, broken, cut, away] = [
  await startEveryService({ settings: { RATE_LIMIT_PER_CALLER: '1', RATE_LIMIT_PER_ADDRESS: '1' } }),
  await startEveryService({ handler: failing }),
  await startEveryService({ handler: unreachable }),
  await startEveryService({ databaseAway: true }),
]

const operations = operationIds.map((id) => every.of(id).operation)
const ids = (keep: (operation: Operation) => boolean): string[] => operations.filter(keep).map(({ id }) => id)
const declares = (code: string) => (operation: Operation) => [...operation.responses.values()].some((codes) => codes.has(code))
const isParsed = ({ body }: Operation): boolean => body === 'parsed'

/** Sends the accepted request with `change` made to it. The answer is checked against the document and recorded. */
async function send(id: string, change: (request: RawOptions) => Partial<RawOptions> = () => ({}), at: EveryOperation = every): Promise<RawAnswer> {
  const request = await at.accepted(id)
  const changed = { ...request, ...change(request) }
  return at.of(id).service.send(asId(id), { ...changed, headers: { ...request.headers, ...changed.headers } })
}

const refusal = ({ status, body }: RawAnswer): string => `${status} ${String(body.error)}`

describe.each(operationIds)('%s', (id) => {
  test('an undeclared query parameter is refused and named', async () => {
    const answer = await send(id, () => ({ query: { undeclared: '1', also: ['2', '3'] } }))
    expect(refusal(answer)).toBe('400 validation_failed')
    expect(answer.body.fields).toEqual({ undeclared: 'is not known', also: 'is not known' })
  })

  test('every answer carries the security headers, its request id, and JSON without a charset', async () => {
    const answers = [await send(id, () => ({ query: { undeclared: '1' } })), await send(id, () => ({ headers: { Accept: 'text/html' } }))]
    for (const { headers } of answers) {
      expect(Object.fromEntries(headers)).toMatchObject({
        'content-type': 'application/json', 'cache-control': 'no-store', 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer',
        'content-security-policy': "default-src 'none'; frame-ancestors 'none'", 'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
      })
      expect(headers.get('x-powered-by')).toBeNull()
      expect(headers.get('etag')).toBeNull()
    }
  })

  test('an answer only in a form that is not accepted is 406', async () => {
    for (const accept of ['text/html', 'application/xml, text/*;q=0.5', 'application/json;q=0', 'nonsense']) {
      expect(refusal(await send(id, () => ({ headers: { Accept: accept } }))), accept).toBe('406 not_acceptable')
    }
    for (const accept of ['*/*', 'application/*', 'text/html, application/json;q=0.1']) {
      expect((await send(id, () => ({ headers: { Accept: accept }, query: { undeclared: '1' } }))).status, accept).toBe(400)
    }
  })

  test('an unexpected failure is a 500 that tells nothing, and is in the log without secrets', async () => {
    const answer = await send(id, undefined, broken)
    expect(answer.body).toEqual({ error: 'internal_error', message: 'Something went wrong on our side.', request_id: expect.any(String) })
    expect(answer.status).toBe(500)
    const { logged } = broken.of(id).service
    const line = logged.find((text) => text.includes(String(answer.body.request_id)) && text.includes('"failed"'))
    expect(line).toContain(`"operation":"${id}"`)
    expect(line).toContain('select digest from payments.api_keys')
    expect(logged.join('')).not.toContain(secret)
  })

  test('an unreachable database is 503 with Retry-After', async () => {
    const answer = await send(id, undefined, cut)
    expect(refusal(answer)).toBe('503 unavailable')
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
    expect(answer.text).not.toMatch(/ECONNREFUSED|connect|sql|postgres/i)
  })

  test('the path is one by case and by slash, and knows its methods', async () => {
    const { operation, service } = every.of(id)
    const { params } = await every.accepted(id)
    const path = operation.path.replace(/\{([^}]+)\}/g, (_, name: string) => params?.[name] ?? '')
    for (const wrong of [`${path}/`, path.replace('/v1/', '/V1/'), `/${path}`, path.replace('/v1/', '/v1//'), `${path}%20`, `${path};a=b`]) {
      if (operation.path.endsWith('}') && !wrong.includes('/V1/') && !wrong.includes('//') && !wrong.endsWith('/')) continue
      const { status, body } = await ask(service.url, wrong, { method: operation.method.toUpperCase() })
      expect({ status, error: body.error }, wrong).toEqual({ status: 404, error: 'not_found' })
    }
    for (const method of ['TRACE', 'PATCH', 'OPTIONS', 'DELETE']) {
      const { status, body, headers } = await ask(service.url, path, { method })
      expect({ status, error: body.error }, method).toEqual({ status: 405, error: 'method_not_allowed' })
      expect(String(headers.allow).split(', ')).toContain(operation.method.toUpperCase())
      expect(String(headers.allow).includes('HEAD')).toBe(String(headers.allow).includes('GET'))
    }
  })

  test('no browser of another origin may read it, unless it is declared open', async () => {
    const { operation } = every.of(id)
    const { headers } = await send(id, () => ({ headers: { Origin: 'https://elsewhere.example' }, query: { undeclared: '1' } }))
    expect(headers.get('access-control-allow-origin')).toBe(operation.rules.get('x-cors') === 'open' ? '*' : null)
  })
})

describe.each(ids(isParsed))('the body of %s', (id) => {
  const { operation } = every.of(id)
  const [type = ''] = operation.consumes

  test('of another media type, charset or coding, or of none, is 415', async () => {
    const types = ['text/plain', 'application/xml', 'multipart/form-data; boundary=x', `${type}; charset=utf-16`, `${type}; charset=iso-8859-1`, 'nonsense']
    for (const wrong of types) {
      expect(refusal(await send(id, () => ({ headers: { 'Content-Type': wrong } }))), wrong).toBe('415 unsupported_media_type')
    }
    expect(refusal(await send(id, () => ({ headers: { 'Content-Encoding': 'gzip' } })))).toBe('415 unsupported_media_type')
    const { url } = every.of(id).service
    const { as, params } = await every.accepted(id)
    const path = operation.path.replace(/\{([^}]+)\}/g, (_, name: string) => params?.[name] ?? '')
    const missing = await ask(url, path, { method: operation.method.toUpperCase(), body: '{}', headers: { 'Content-Type': [] }, ...(as !== undefined && { as }) })
    expect(missing).toMatchObject({ status: 415, body: { error: 'unsupported_media_type' } })
  })

  test('with charset utf-8 and other parameters is read', async () => {
    for (const right of [`${type}; charset=utf-8`, `${type};charset="UTF-8"`, `${type}; profile=x`, type.toUpperCase()]) {
      expect(refusal(await send(id, () => ({ headers: { 'Content-Type': right }, body: '' }))), right).toBe(operation.bodyRequired ? '400 validation_failed' : '200 undefined')
    }
  })

  test('over the size limit is 413, told by its length or found on the way', async () => {
    const size = operation.maxBody + 1
    expect(refusal(await send(id, () => ({ body: 'x'.repeat(size) })))).toBe('413 payload_too_large')
    expect(refusal(await send(id, () => ({ body: chunked(size) })))).toBe('413 payload_too_large')
    expect(refusal(await send(id, () => ({ body: chunked(size * 8) })))).toBe('413 payload_too_large')
    expect((await send(id, () => ({ body: ' '.repeat(operation.maxBody) }))).status).toBe(400)
  })

  test('that is no JSON is invalid_json', async () => {
    if (!operation.consumes.includes('application/json')) return
    const broken = ['{', '{"a":1,}', "{'a':1}", '{"a":NaN}', '{"a":01}', '{} {}', 'undefined', '\u0000', '{"a":"\t"}', '{"a":.5}', '// {}', '{"a":"\\x"}', '{"a":1e}', '[1,]']
    for (const body of broken) expect(refusal(await send(id, () => ({ body, headers: { 'Content-Type': 'application/json' } }))), body).toBe('400 invalid_json')
    const bytes = [[0xff, 0xfe, 0x7b, 0x00], [0x22, 0xc3, 0x28, 0x22], [0x7b, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x7d], [0xc0, 0x80]]
    for (const body of bytes) {
      const answer = await send(id, () => ({ body: new Uint8Array(body), headers: { 'Content-Type': 'application/json' } }))
      expect(answer, JSON.stringify(body)).toMatchObject({ status: 400, body: { error: 'invalid_json' } })
    }
  })

  test('that is no object, or nothing at all, is refused as the body', async () => {
    const bodies = ['null', '[]', '[{}]', '"text"', '"{}"', '5', 'true', '1e400', '""', '"\\ud800"']
    for (const body of operation.bodyRequired ? ['', ...bodies] : bodies) {
      const answer = await send(id, () => ({ body, headers: { 'Content-Type': 'application/json' } }))
      expect(refusal(answer), body).toBe('400 validation_failed')
      expect(Object.keys(answer.body.fields as object), body).toEqual(['body'])
    }
  })

  test('nested beyond reason is refused, not recursed into', async () => {
    for (const body of ['[', '{"a":', '{"metadata":{"a":[', '[{"a":']) {
      const depth = Math.floor(100_000 / body.length)
      const close = body.split('').reverse().join('').replaceAll(/[^[{]/g, '').replaceAll('[', ']').replaceAll('{', '}')
      const nested = `${body.repeat(depth)}1${close.repeat(depth)}`
      expect(refusal(await send(id, () => ({ body: nested, headers: { 'Content-Type': 'application/json' } }))), body).toBe('400 validation_failed')
    }
  })

  test('of many unknown members names at most 20 of them', async () => {
    const hostile = JSON.stringify(Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`m${index}`, index])))
    const { status, body } = await send(id, () => ({ body: hostile, headers: { 'Content-Type': 'application/json' } }))
    expect(status).toBe(400)
    expect(Object.keys(body.fields as object).length).toBe(20)
  })

  test('with members called like what every object has is refused by name', async () => {
    for (const name of ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty']) {
      const { body: accepted } = await every.accepted(id)
      const body = String(accepted).replace(/^\{/, `{"${name}":{"admin":true},`)
      const answer = await send(id, () => ({ body, headers: { 'Content-Type': 'application/json' } }))
      expect(answer, name).toMatchObject({ status: 400, body: { error: 'validation_failed' } })
      expect(answer.body.fields, name).toHaveProperty([name], 'is not known')
    }
  })
})

describe.each(ids(({ body }) => body === 'raw' || body === 'ignored'))('the body of %s', (id) => {
  test('over the size limit is 413', async () => {
    const size = every.of(id).operation.maxBody + 1
    expect(refusal(await send(id, () => ({ body: 'x'.repeat(size) })))).toBe('413 payload_too_large')
    expect(refusal(await send(id, () => ({ body: chunked(size) })))).toBe('413 payload_too_large')
  })
})

describe.each(ids(declares('rate_limited')))('%s', (id) => {
  test('is limited: 429 with Retry-After and the state of the bucket', async () => {
    const request = await limited.accepted(id)
    const answers: RawAnswer[] = []
    for (let count = 0; count < 12 && answers.at(-1)?.status !== 429; count += 1) {
      answers.push(await limited.of(id).service.send(asId(id), { ...request, ...(every.of(id).operation.rules.get('x-rate-limit') !== 'client' && { query: { undeclared: '1' } }) }))
    }
    const last = answers.at(-1)
    expect(last && refusal(last)).toBe('429 rate_limited')
    expect(Number(last?.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
    expect(last?.headers.get('ratelimit-remaining')).toBe('0')
    expect(Number(last?.headers.get('ratelimit-limit'))).toBeGreaterThanOrEqual(1)
  })
})

describe('with the database away', () => {
  const needs = ({ transaction, caller, method }: Operation): boolean => transaction !== 'none' || caller.kind !== 'public' || method !== 'get'

  test.each(ids(needs))('%s is 503 with Retry-After, at once', async (id) => {
    const answer = await send(id, undefined, away)
    expect(refusal(answer)).toBe('503 unavailable')
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
    expect(answer.text).not.toMatch(/ECONNREFUSED|postgres|nobody/i)
  })

  test.each(ids((operation) => !needs(operation)))('%s needs none', async (id) => {
    expect((await send(id, undefined, away)).status).toBe(200)
  })
})

describe.each(ids(({ method, caller }) => method === 'get' && caller.kind === 'public'))('%s', (id) => {
  test('HEAD is answered as GET is, without the body', async () => {
    const { operation, service } = every.of(id)
    const [get, head] = [await ask(service.url, operation.path), await ask(service.url, operation.path, { method: 'HEAD' })]
    expect(head).toMatchObject({ status: get.status, text: '' })
    expect(head.headers['content-type']).toBe(get.headers['content-type'])
    expect(head.headers['content-length']).toBe(get.headers['content-length'])
  })
})

function chunked(size: number): ReadableStream<Uint8Array> {
  let left = size
  return new ReadableStream({
    pull(controller) {
      if (left === 0) return controller.close()
      const part = Math.min(left, 16_384)
      left -= part
      controller.enqueue(new Uint8Array(part).fill(0x20))
    },
  })
}
