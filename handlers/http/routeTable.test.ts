import { describe, expect, test } from 'vitest'
import { routeTable } from './routeTable.ts'

const paths = ['/v1/things', '/v1/things/{id}', '/v1/things/summary', '/v1/things/{id}/lines/{lineId}', '/v1/things/summary/lines', '/v1/things/{id}.csv', '/v1/.well-known/a+b']
const find = routeTable(paths.map((path) => [path, path] as const))

describe('a path', () => {
  test('is found with the decoded values of its templates', () => {
    expect(find('/v1/things/x%2Fy%20z/lines/7')).toEqual({ target: '/v1/things/{id}/lines/{lineId}', params: { id: 'x/y z', lineId: '7' } })
  })

  test('with a literal goes before one with a template, which is gone back to where the literal leads nowhere', () => {
    expect(find('/v1/things/summary')?.target).toBe('/v1/things/summary')
    expect(find('/v1/things/summary/lines/7')).toEqual({ target: '/v1/things/{id}/lines/{lineId}', params: { id: 'summary', lineId: '7' } })
  })

  test('is matched whole, by case, with every slash and no empty value', () => {
    for (const path of ['/v1/things/', '/v1/Things', '//v1/things', '/v1//things', '/v1/things/7/', '/v1/things//lines/7', '/v1', '/', '']) {
      expect(find(path), path).toBeNull()
    }
  })

  test('that is not UTF-8 in percent encoding is unknown', () => {
    expect(find('/v1/things/%zz')).toBeNull()
    expect(find('/v1/things/%ff')).toBeNull()
  })

  test('is no regular expression', () => {
    expect(find('/v1/.well-known/a+b')?.target).toBe('/v1/.well-known/a+b')
    expect(find('/v1/xwell-known/aab')).toBeNull()
  })

  test('with a template inside a segment is told from the template alone', () => {
    expect(find('/v1/things/7')).toEqual({ target: '/v1/things/{id}', params: { id: '7' } })
  })
})

test('two paths that match the same requests are refused', () => {
  expect(() => routeTable([['/a/{id}', 1], ['/a/{other}', 2]])).toThrow('/a/{other} matches the same requests as another path')
})
