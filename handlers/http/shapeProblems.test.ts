import { describe, expect, test } from 'vitest'
import { refusal, withBody } from '../../contract-tests/harness/startRefusal.ts'
import type { SyntheticOperation } from '../../contract-tests/harness/syntheticDocument.ts'

const withQuery = (schema: object) => ({ parameters: [{ name: 'q', in: 'query', schema }] })

describe('parameters, bodies and responses', () => {
  const faults: [why: string, operation: Partial<SyntheticOperation>][] = [
    ['a schema of its request does not compile', withQuery({ type: 'strin' })],
    [
      'a schema of its request does not compile',
      withBody({ type: 'object', properties: { a: { type: 'string', pattern: '(' } } }),
    ],
    [
      'body.a: nothing checks the format rupiah',
      withBody({ type: 'object', properties: { a: { type: 'string', format: 'rupiah' } } }),
    ],
    ['body.a: nothing enforces x-max', withBody({ type: 'object', properties: { a: { type: 'string', 'x-max': 1 } } })],
    [
      'body.a: x-clamp is for query parameters',
      withBody({ type: 'object', properties: { a: { type: 'integer', 'x-clamp': [1, 2] } } }),
    ],
    ['q: x-clamp does not fit this schema', withQuery({ type: 'string', 'x-clamp': [1, 2] })],
    ['q: x-clamp does not fit this schema', withQuery({ type: 'integer', minimum: 1, 'x-clamp': [1, 2] })],
    [
      'body.a: x-max-bytes does not fit this schema',
      withBody({ type: 'object', properties: { a: { type: 'string', 'x-max-bytes': 9 } } }),
    ],
    ['q: x-error names not_a_code, which no response declares', withQuery({ type: 'string', 'x-error': 'not_a_code' })],
    [
      'x-error names invalid_auth_code, which no response declares',
      {
        ...withBody({ type: 'object', 'x-error': { required: 'invalid_auth_code' } }),
        responses: { 200: { description: 'done' } },
      },
    ],
    ['a cookie parameter is not supported', { parameters: [{ name: 'c', in: 'cookie', schema: { type: 'string' } }] }],
    ['the path parameter id is not declared', { path: '/things/{id}' }],
    [
      'the path parameter id is not in the path',
      { parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }] },
    ],
    ['nothing reads a body of application/xml', withBody({ type: 'object' }, 'application/xml')],
    ['declares no success', { responses: { 404: errorResponse('not_found') } }],
    [
      'declares a response whose status is no number',
      { responses: { 200: { description: 'done' }, default: { description: 'else' } } },
    ],
    [
      'declares 404 without its error codes',
      { responses: { 200: { description: 'done' }, 404: { description: 'not there' } } },
    ],
    [
      'the error code nowhere is not in the catalogue',
      { responses: { 200: { description: 'done' }, 404: errorResponse('nowhere') } },
    ],
    [
      'the error code forbidden belongs to 403, not 404',
      { responses: { 200: { description: 'done' }, 404: errorResponse('forbidden') } },
    ],
    [
      'x-errors names invalid_state, which no response declares',
      { 'x-errors': ['invalid_state'], responses: { 200: { description: 'done' } } },
    ],
  ]
  test.each(faults)('%s', async (why, operation) => {
    expect(await refusal(operation)).toContain(why)
  })
})

function errorResponse(code: string): object {
  return {
    description: code,
    content: {
      'application/json': { schema: { type: 'object', properties: { error: { type: 'string', enum: [code] } } } },
    },
  }
}
