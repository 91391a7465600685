import { describe, expect, test } from 'vitest'
import { documentJudge } from './harness/documentJudge.ts'
import type { WireAnswer, WireRequest } from './harness/documentJudge.ts'
import { tryRequest } from './harness/fuzz.ts'
import type { PlannedRequest } from './harness/fuzzRequests.ts'

const uuid = '0192f3c4-8b21-7d4f-8e63-2a7c9b51f103'
const error = {
  content: {
    'application/json': {
      schema: {
        type: 'object',
        required: ['error'],
        properties: { error: { type: 'string', enum: ['validation_failed'] } },
      },
    },
  },
}
const judge = documentJudge({
  servers: [{ url: 'https://api.shop.example/v1' }],
  paths: {
    '/things/{id}': {
      post: {
        operationId: 'changeThing',
        parameters: [
          { name: 'id', in: 'path', required: true, schema: { type: 'string', format: 'uuid' } },
          { name: 'limit', in: 'query', schema: { type: 'integer', maximum: 100 } },
          {
            name: 'metadata',
            in: 'query',
            style: 'deepObject',
            schema: { type: 'object', additionalProperties: { type: 'string', maxLength: 3 } },
          },
          { name: 'Idempotency-Key', in: 'header', schema: { type: 'string', minLength: 1, pattern: '^[!-~]+$' } },
        ],
        requestBody: {
          required: true,
          content: {
            'application/json': {
              schema: {
                type: 'object',
                additionalProperties: false,
                required: ['name'],
                properties: {
                  name: { type: 'string', nullable: true, maxLength: 3 },
                  tags: { type: 'object', 'x-key-length': [1, 2], 'x-max-bytes': 20 },
                },
              },
            },
          },
        },
        responses: {
          200: {
            headers: { 'X-Count': { required: true } },
            content: {
              'application/json': {
                schema: {
                  type: 'object',
                  required: ['at'],
                  properties: { at: { type: 'string', format: 'date-time' } },
                },
              },
            },
          },
          204: {},
          400: error,
          500: error,
          503: error,
        },
      },
    },
  },
})
const [operation] = judge.operations
if (!operation) throw new Error('the document has one operation')

const good: WireRequest = {
  method: 'POST',
  path: { id: uuid },
  query: '',
  headers: { 'Content-Type': 'application/json' },
  body: '{"name":"abc"}',
}
const refused = (change: Partial<WireRequest>): boolean => judge.refuses(operation, { ...good, ...change }).length > 0

describe('the judge', () => {
  test.each<[string, Partial<WireRequest>]>([
    ['a byte order mark', { body: '\ufeff{"name":"abc"}' }],
    ['null where it is nullable', { body: '{"name":null}' }],
    ['characters beyond the basic plane, each one', { body: '{"name":"😀😀😀"}' }],
    ['a declared query', { query: 'limit=100&metadata[a]=b&metadata%5Bc%5D=d' }],
    [
      'a charset and another case of the media type',
      { headers: { 'Content-Type': 'APPLICATION/JSON; charset="UTF-8"' } },
    ],
    ['blanks around a header', { headers: { ...good.headers, 'Idempotency-Key': ' a ' } }],
  ])('takes %s', (_, change) => expect(refused(change)).toBe(false))

  test.each<[string, Partial<WireRequest>]>([
    ['a path that is none', { path: { id: 'x' } }],
    ['a path that cannot be decoded', { path: { id: '%zz' } }],
    ['a number out of range', { query: 'limit=101' }],
    ['a number in another notation', { query: 'limit=1e1' }],
    ['a parameter twice', { query: 'limit=1&limit=1' }],
    ['an undeclared parameter', { query: 'Limit=1' }],
    ['a member of an object that is too long', { query: 'metadata[a]=four' }],
    ['a member of an object twice', { query: 'metadata[a]=b&metadata[a]=b' }],
    ['an empty header', { headers: { ...good.headers, 'Idempotency-Key': '' } }],
    ['a header beyond its pattern', { headers: { ...good.headers, 'Idempotency-Key': 'a b' } }],
    ['no body', { body: undefined }],
    ['no JSON', { body: '{' }],
    ['another media type', { headers: { 'Content-Type': 'text/plain' } }],
    ['another charset', { headers: { 'Content-Type': 'application/json; charset=utf-16' } }],
    ['a missing member', { body: '{}' }],
    ['an unknown member', { body: '{"name":"a","__proto__":1}' }],
    ['a value that is too long', { body: '{"name":"abcd"}' }],
    ['another type', { body: '{"name":1}' }],
    ['a key that is too long', { body: '{"name":"a","tags":{"abc":1}}' }],
    ['too many bytes', { body: '{"name":"a","tags":{"a":"aaaaaaaaaaaaaaaaaaaa"}}' }],
  ])('refuses %s', (_, change) => expect(refused(change)).toBe(true))
})

const json = { 'content-type': 'application/json', 'x-request-id': uuid, 'x-count': '1' }
const fine: WireAnswer = { status: 200, headers: json, text: '{"at":"2026-11-02T03:04:05Z"}' }
const planned: PlannedRequest = {
  credential: 'good',
  path: good.path,
  query: '',
  headers: good.headers,
  body: good.body,
}

/** What the slice says when this is answered to this request. */
function said(answer: Partial<WireAnswer>, change: Partial<PlannedRequest> = {}): Promise<unknown> {
  const credentials = { good: ['good'], bad: ['forged'], headers: async () => ({}) }
  const send = async () => ({ ...fine, ...answer })
  return tryRequest(
    {
      judge,
      operation: operation as NonNullable<typeof operation>,
      credentials,
      send,
      fill: () => async (text) => text,
    },
    { ...planned, ...change },
  ).then(
    () => 'nothing',
    (thrown: Error) => thrown.message,
  )
}

describe('the slice', () => {
  test('says nothing where all is well, a refusal and an outage that is declared included', async () => {
    expect(await said({})).toBe('nothing')
    for (const status of [400, 503])
      expect(await said({ status, text: '{"error":"validation_failed"}' }, { body: '{}', credential: 'forged' })).toBe(
        'nothing',
      )
    expect(await said({ status: 204, text: '' })).toBe('nothing')
  })

  test.each<[string, Partial<WireAnswer>, Partial<PlannedRequest>]>([
    ['status 418 is not declared', { status: 418 }, {}],
    ['must be equal to one of the allowed values', { status: 400, text: '{"error":"other"}' }, {}],
    ['must match format "date-time"', { text: '{"at":"yesterday"}' }, {}],
    ['header X-Count is missing', { headers: { ...json, 'x-count': undefined } }, {}],
    ['header X-Request-Id is missing', { headers: { ...json, 'x-request-id': undefined } }, {}],
    ['its media type text/html is not declared', { headers: { ...json, 'content-type': 'text/html' } }, {}],
    ['there is a body where none is declared', { status: 204 }, {}],
    ['it is a failure of the service', { status: 500, text: '{"error":"validation_failed"}' }, {}],
    ['it accepted what the document refuses', {}, { body: '{"name":1}' }],
    ['it accepted forged', {}, { credential: 'forged' }],
    ['it accepted a thing of another merchant', {}, { path: { id: '{{other-thing}}' } }],
  ])('finds that %s', async (problem, answer, change) => {
    expect(await said(answer, change)).toContain(problem)
  })
})
