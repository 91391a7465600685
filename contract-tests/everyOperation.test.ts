import { describe, expect, test } from 'vitest'
import { DatabaseUnavailable } from '../db/sql.ts'
import type { AnyHandler } from '../handlers/http/handler.ts'
import type { Operation } from '../handlers/http/operation.ts'
import { ask } from './harness/ask.ts'
import type { RawAnswer, RawOptions } from './harness/call.ts'
import { asId, operationIds, sendAccepted, startEveryService } from './harness/everyOperation.ts'

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
const declares = (code: string) => (operation: Operation) =>
  [...operation.responses.values()].some((codes) => codes.has(code))

const send = (id: string, change?: (request: RawOptions) => Partial<RawOptions>, at = every) =>
  sendAccepted(at, id, change)
/** Status and code; the status alone where the handler had nothing to refuse and answers nothing. */
const refusal = ({ status, body, text }: RawAnswer): string => text === '' ? String(status) : `${status} ${String(body.error)}`

describe.each(operationIds)('%s', (id) => {
  test('an undeclared query parameter is refused and named', async () => {
    const answer = await send(id, () => ({ query: { undeclared: '1', also: ['2', '3'] } }))
    expect(refusal(answer)).toBe('400 validation_failed')
    expect(answer.body.fields).toEqual({ undeclared: 'is not known', also: 'is not known' })
  })

  test('every answer carries the security headers, its request id, and JSON without a charset', async () => {
    const answers = [
      await send(id, () => ({ query: { undeclared: '1' } })),
      await send(id, () => ({ headers: { Accept: 'text/html' } })),
    ]
    for (const { headers, status } of answers) {
      expect(Object.fromEntries(headers)).toMatchObject({
        ...(status !== 204 && { 'content-type': 'application/json' }),
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
        'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
      })
      expect(headers.get('x-powered-by')).toBeNull()
      expect(headers.get('etag')).toBeNull()
    }
  })

  test('an answer only in a form that is not accepted is 406; where success has no body, any form is accepted', async () => {
    const refused = every.of(id).operation.responses.has(406) ? '406 not_acceptable' : refusal(await send(id))
    for (const accept of ['text/html', 'application/xml, text/*;q=0.5', 'application/json;q=0', 'nonsense']) {
      expect(refusal(await send(id, () => ({ headers: { Accept: accept } }))), accept).toBe(refused)
    }
    for (const accept of ['*/*', 'application/*', 'text/html, application/json;q=0.1']) {
      expect((await send(id, () => ({ headers: { Accept: accept }, query: { undeclared: '1' } }))).status, accept).toBe(
        400,
      )
    }
  })

  test('an unexpected failure is a 500 that tells nothing, and is in the log without secrets', async () => {
    const answer = await send(id, undefined, broken)
    expect(answer.body).toEqual({
      error: 'internal_error',
      message: 'Something went wrong on our side.',
      request_id: expect.any(String),
    })
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
    for (const wrong of [
      `${path}/`,
      path.replace('/v1/', '/V1/'),
      `/${path}`,
      path.replace('/v1/', '/v1//'),
      `${path}%20`,
      `${path};a=b`,
    ]) {
      if (operation.path.endsWith('}') && !wrong.includes('/V1/') && !wrong.includes('//') && !wrong.endsWith('/'))
        continue
      const { status, body } = await ask(service.url, wrong, { method: operation.method.toUpperCase() })
      expect({ status, error: body.error }, wrong).toEqual({ status: 404, error: 'not_found' })
    }
    const known = operations.filter((other) => other.path === operation.path).map(({ method }) => method.toUpperCase())
    for (const method of ['TRACE', 'PATCH', 'OPTIONS', 'DELETE', 'PUT'].filter((each) => !known.includes(each))) {
      const { status, body, headers } = await ask(service.url, path, { method })
      expect({ status, error: body.error }, method).toEqual({ status: 405, error: 'method_not_allowed' })
      expect(String(headers.allow).split(', ').filter((each) => each !== 'HEAD').sort()).toEqual([...known].sort())
      expect(String(headers.allow).includes('HEAD')).toBe(String(headers.allow).includes('GET'))
    }
  })

  test('no browser of another origin may read it, unless it is declared open', async () => {
    const { operation } = every.of(id)
    const { headers } = await send(id, () => ({
      headers: { Origin: 'https://elsewhere.example' },
      query: { undeclared: '1' },
    }))
    expect(headers.get('access-control-allow-origin')).toBe(operation.rules.get('x-cors') === 'open' ? '*' : null)
  })
})

describe.each(ids(declares('rate_limited')))('%s', (id) => {
  test('is limited: 429 with Retry-After and the state of the bucket', async () => {
    const request = await limited.accepted(id)
    const answers: RawAnswer[] = []
    for (let count = 0; count < 12 && answers.at(-1)?.status !== 429; count += 1) {
      answers.push(
        await limited
          .of(id)
          .service.send(asId(id), {
            ...request,
            ...(every.of(id).operation.rules.get('x-rate-limit') !== 'client' && { query: { undeclared: '1' } }),
          }),
      )
    }
    const last = answers.at(-1)
    expect(last && refusal(last)).toBe('429 rate_limited')
    expect(Number(last?.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
    expect(last?.headers.get('ratelimit-remaining')).toBe('0')
    expect(Number(last?.headers.get('ratelimit-limit'))).toBeGreaterThanOrEqual(1)
  })
})

describe('with the database away', () => {
  // A console user's token proves itself, whereas a key is looked up.
  const needs = ({ transaction, caller, method }: Operation): boolean =>
    transaction !== 'none' || !['public', 'console'].includes(caller.kind) || method !== 'get'

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
    const [get, head] = [
      await ask(service.url, operation.path),
      await ask(service.url, operation.path, { method: 'HEAD' }),
    ]
    expect(head).toMatchObject({ status: get.status, text: '' })
    expect(head.headers['content-type']).toBe(get.headers['content-type'])
    expect(head.headers['content-length']).toBe(get.headers['content-length'])
  })
})
