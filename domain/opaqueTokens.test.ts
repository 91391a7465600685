import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { digestOfToken, hasDigest, newOpaqueToken } from './opaqueTokens.ts'

const random = { randomBytes: (size: number) => randomBytes(size) }

test('a token is its prefix and 43 characters of base 62, whatever the random bytes', () => {
  expect(newOpaqueToken('mfa', random)).toMatch(/^mfa_[0-9A-Za-z]{43}$/)
  expect(newOpaqueToken('rt', { randomBytes: (size) => Buffer.alloc(size) })).toBe(`rt_${'0'.repeat(43)}`)
  expect(newOpaqueToken('cs', { randomBytes: (size) => Buffer.alloc(size, 255) })).toMatch(/^cs_[0-9A-Za-z]{43}$/)
})

test('all 256 bits count', () => {
  const [low, high] = [Buffer.alloc(32), Buffer.alloc(32)]
  low[31] = 1
  high[0] = 128
  const tokens = [Buffer.alloc(32), low, high].map((bytes) => newOpaqueToken('rt', { randomBytes: () => bytes }))
  expect(new Set(tokens).size).toBe(3)
})

test('a token has its own digest and no other', () => {
  const token = newOpaqueToken('rt', random)
  expect(hasDigest(token, digestOfToken(token))).toBe(true)
  expect(hasDigest(`${token}0`, digestOfToken(token))).toBe(false)
})
