import { describe, expect, test } from 'vitest'
import { systemRuntime } from '../domain/runtime.ts'
import { idPattern, newId, newShortcode, shortcodePattern } from './ids.ts'

const at = (milliseconds: number): Parameters<typeof newId>[0] => ({
  now: () => new Date(milliseconds),
  randomBytes: systemRuntime.randomBytes,
})

describe('ids', () => {
  test('an id is a version 7 UUID that carries the time of the runtime', () => {
    const id = newId(at(1_790_000_000_123))
    expect(id).toMatch(idPattern)
    expect(id[14]).toBe('7')
    expect(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)).toBe(1_790_000_000_123)
  })

  test('ids of later milliseconds sort behind earlier ones', () => {
    const ids = Array.from({ length: 100 }, (_, step) => newId(at(1_790_000_000_000 + step)))
    expect(ids.toSorted()).toEqual(ids)
  })

  test('ids of one millisecond differ', () => {
    const runtime = at(1_790_000_000_000)
    expect(new Set(Array.from({ length: 10_000 }, () => newId(runtime))).size).toBe(10_000)
  })

  test('the same time and bytes give the same id', () => {
    const runtime = { now: () => new Date(5), randomBytes: (size: number) => Buffer.alloc(size, 7) }
    expect(newId(runtime)).toBe(newId(runtime))
  })

  test('a shortcode is ten characters nobody takes for others, and uses all of them', () => {
    const codes = Array.from({ length: 2000 }, () => newShortcode(systemRuntime))
    for (const code of codes) expect(code).toMatch(shortcodePattern)
    expect([...new Set(codes.join(''))].toSorted().join('')).toBe('0123456789abcdefghjkmnpqrstvwxyz')
    expect(new Set(codes).size).toBe(codes.length)
  })
})
