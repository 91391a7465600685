import { describe, expect, test } from 'vitest'
import { startSynthetic } from '../../contract-tests/harness/syntheticService.ts'
import { DatabaseUnavailable } from '../../db/sql.ts'
import { ApiError } from '../../domain/apiError.ts'
import type { AnyHandler } from './handler.ts'

describe('what a handler must not answer', () => {
  const answering = async (
    handler: (context: {
      reply(status: number, body: unknown): unknown
      fail(code: string, details?: object): never
    }) => unknown,
    checkResponses = true,
  ) => {
    const bench = await startSynthetic({
      handlers: { closedThing: (async (context: never) => handler(context)) as AnyHandler },
      checkResponses,
    })
    return { ...(await bench.ask('/v1/closedThing')), reported: bench.reported.map(String) }
  }

  test('an undeclared status, code or shape is a logged 500', async () => {
    const undeclared = [
      await answering(({ reply }) => reply(201, {})),
      await answering(({ fail }) => fail('invalid_state')),
      await answering(({ reply }) => reply(200, [])),
      await answering(({ reply }) => reply(400, { error: 'made_up', message: '', request_id: '' })),
      await answering(({ fail }) => fail('validation_failed', { members: { extra: 1 } })),
    ]
    for (const { status, body, reported } of undeclared) {
      expect({ status, error: body.error }).toEqual({ status: 500, error: 'internal_error' })
      expect(reported).toHaveLength(1)
      expect(reported[0]).toMatch(/^Error: closedThing answered \d+/)
    }
  })

  test('in production the check is off, and a throw is a 500 all the same', async () => {
    expect((await answering(({ reply }) => reply(201, {}), false)).status).toBe(201)
    const thrown = await answering(() => {
      throw new Error('select secret from payments.api_keys')
    }, false)
    expect(thrown.body).toEqual({
      error: 'internal_error',
      message: 'Something went wrong on our side.',
      request_id: expect.any(String),
    })
    expect(thrown.reported).toEqual(['Error: select secret from payments.api_keys'])
  })

  test('a thrown thing that is no Error, and nothing answered at all, are 500', async () => {
    for (const handler of [
      () => Promise.reject('text'),
      () => undefined,
      () => ({ status: 200 }),
      () => ({ status: 200, body: 1n }),
    ]) {
      const { status, body } = await answering(handler)
      expect({ status, error: body.error }, String(handler)).toEqual({ status: 500, error: 'internal_error' })
    }
  })

  test('a header that cannot be sent is a 500, and the connection goes on', async () => {
    const { status } = await answering(() => ({ status: 200, body: {}, headers: { 'X-Broken': 'a\nb' } }))
    expect(status).toBe(500)
  })

  test('a database that is away is 503 with Retry-After, and logged', async () => {
    const { status, headers, reported } = await answering(() => {
      throw new DatabaseUnavailable('connect')
    })
    expect(status).toBe(503)
    expect(headers['retry-after']).toBe('1')
    expect(reported).toHaveLength(1)
  })

  test('a refusal caused by a failure logs that failure; another one logs nothing', async () => {
    expect((await answering(({ fail }) => fail('validation_failed', { fields: {} }))).reported).toEqual([])
    const caused = await answering(() => {
      throw new ApiError('unavailable', {}, new Error('connect ECONNREFUSED'))
    })
    expect(caused.headers['retry-after']).toBe('1')
    expect(caused.reported).toHaveLength(1)
  })
})

test('every answered request is observed once, with its operation, status and code', async () => {
  const bench = await startSynthetic()
  await bench.ask('/v1/closedThing')
  await bench.ask('/v1/userThing')
  await bench.ask('/v1/nowhere')
  await bench.ask('/v1/closedThing', { method: 'DELETE' })
  expect(bench.observed.map(({ operationId, status, code }) => `${operationId} ${status} ${String(code)}`)).toEqual([
    'closedThing 200 undefined',
    'userThing 401 unauthenticated',
    'none 404 not_found',
    'none 405 method_not_allowed',
  ])
})
