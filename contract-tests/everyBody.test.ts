import { describe, expect, test } from 'vitest'
import type { Operation } from '../handlers/http/operation.ts'
import { ask } from './harness/ask.ts'
import type { RawAnswer, RawOptions } from './harness/call.ts'
import { operationIds, sendAccepted, startEveryService } from './harness/everyOperation.ts'

const every = await startEveryService()
const operations = operationIds.map((id) => every.of(id).operation)
const ids = (keep: (operation: Operation) => boolean): string[] => operations.filter(keep).map(({ id }) => id)
const send = (id: string, change: (request: RawOptions) => Partial<RawOptions>) => sendAccepted(every, id, change)
const refusal = ({ status, body }: RawAnswer): string => `${status} ${String(body.error)}`

describe.each(ids(({ body }) => body === 'parsed'))('the body of %s', (id) => {
  const { operation } = every.of(id)
  const [type = ''] = operation.consumes

  test('of another media type, charset or coding, or of none, is 415', async () => {
    const types = [
      'text/plain',
      'application/xml',
      'multipart/form-data; boundary=x',
      `${type}; charset=utf-16`,
      `${type}; charset=iso-8859-1`,
      'nonsense',
    ]
    for (const wrong of types) {
      expect(refusal(await send(id, () => ({ headers: { 'Content-Type': wrong } }))), wrong).toBe(
        '415 unsupported_media_type',
      )
    }
    expect(refusal(await send(id, () => ({ headers: { 'Content-Encoding': 'gzip' } })))).toBe(
      '415 unsupported_media_type',
    )
    const { url } = every.of(id).service
    const { as, params } = await every.accepted(id)
    const path = operation.path.replace(/\{([^}]+)\}/g, (_, name: string) => params?.[name] ?? '')
    const missing = await ask(url, path, {
      method: operation.method.toUpperCase(),
      body: '{}',
      headers: { 'Content-Type': [] },
      ...(as !== undefined && { as }),
    })
    expect(missing).toMatchObject({ status: 415, body: { error: 'unsupported_media_type' } })
  })

  test('with charset utf-8 and other parameters is read', async () => {
    const otherwise = operation.bodyRequired ? '400 validation_failed' : refusal(await send(id, () => ({})))
    expect(otherwise).not.toMatch(/^415/)
    for (const right of [
      `${type}; charset=utf-8`,
      `${type};charset="UTF-8"`,
      `${type}; profile=x`,
      type.toUpperCase(),
    ]) {
      expect(refusal(await send(id, () => ({ headers: { 'Content-Type': right }, body: '' }))), right).toBe(
        otherwise,
      )
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
    const broken = [
      '{',
      '{"a":1,}',
      "{'a':1}",
      '{"a":NaN}',
      '{"a":01}',
      '{} {}',
      'undefined',
      '\u0000',
      '{"a":"\t"}',
      '{"a":.5}',
      '// {}',
      '{"a":"\\x"}',
      '{"a":1e}',
      '[1,]',
    ]
    for (const body of broken)
      expect(refusal(await send(id, () => ({ body, headers: { 'Content-Type': 'application/json' } }))), body).toBe(
        '400 invalid_json',
      )
    const bytes = [
      [0xff, 0xfe, 0x7b, 0x00],
      [0x22, 0xc3, 0x28, 0x22],
      [0x7b, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x7d],
      [0xc0, 0x80],
    ]
    for (const body of bytes) {
      const answer = await send(id, () => ({
        body: new Uint8Array(body),
        headers: { 'Content-Type': 'application/json' },
      }))
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
      expect(
        refusal(await send(id, () => ({ body: nested, headers: { 'Content-Type': 'application/json' } }))),
        body,
      ).toBe('400 validation_failed')
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
