import { expect, test } from 'vitest'
import { fingerprint } from './fingerprint.ts'

const of = (body: unknown, path = '/v1/x', operation = 'createX') => fingerprint(operation, path, body).toString('hex')

test('the order of members, at any depth, makes no difference', () => {
  expect(of({ a: 1, b: { c: 2, d: [{ e: 3, f: 4 }] } })).toBe(of({ b: { d: [{ f: 4, e: 3 }], c: 2 }, a: 1 }))
})

test.each<[unknown, unknown]>([
  [{ a: 1 }, { a: 2 }], [{ a: 1 }, { a: '1' }], [{ a: null }, {}], [[1, 2], [2, 1]], [{ a: [] }, { a: {} }], [{ 'a,b': 1 }, { a: 1, b: 1 }],
  [{ a: 'b' }, { 'a":"b': undefined }], [true, 'true'], [undefined, null],
])('%j is another request than %j', (first, second) => {
  expect(of(first)).not.toBe(of(second))
})

test('operation and path belong to it', () => {
  expect(new Set([of({}), of({}, '/v1/y'), of({}, '/v1/x', 'createY')]).size).toBe(3)
})
