import { randomBytes } from 'node:crypto'
import { crc32 } from 'crc'
import { describe, expect, test } from 'vitest'
import { apiKeyEnvironment, digestOfApiKey, formatApiKey, isWellFormedApiKey, prefixOfApiKey } from './apiKeys.ts'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

describe('an API key', () => {
  test('is prefix, 43 characters of base62 and 6 of checksum', () => {
    expect(formatApiKey('sandbox', randomBytes(32))).toMatch(/^sk_test_[0-9A-Za-z]{49}$/)
    expect(formatApiKey('production', randomBytes(32))).toMatch(/^sk_live_[0-9A-Za-z]{49}$/)
  })

  test('holds the CRC32 that another implementation computes', () => {
    const key = formatApiKey('sandbox', randomBytes(32))
    const value = [...key.slice(-6)].reduce((sum, digit) => sum * 62 + alphabet.indexOf(digit), 0)
    expect(value).toBe(crc32(key.slice(0, -6)) >>> 0)
  })

  test('holds its 32 random bytes, the smallest and the largest too', () => {
    for (const secret of [Buffer.alloc(32), Buffer.alloc(32, 255), randomBytes(32)]) {
      const key = formatApiKey('sandbox', secret)
      const value = [...key.slice(8, -6)].reduce((sum, digit) => sum * 62n + BigInt(alphabet.indexOf(digit)), 0n)
      expect(value.toString(16).padStart(64, '0')).toBe(secret.toString('hex'))
      expect(isWellFormedApiKey(key)).toBe(true)
    }
  })

  test('with any one character changed is not well formed', () => {
    const key = formatApiKey('sandbox', randomBytes(32))
    for (let at = 8; at < key.length; at += 1) {
      const other = key[at] === 'a' ? 'b' : 'a'
      expect(isWellFormedApiKey(key.slice(0, at) + other + key.slice(at + 1))).toBe(false)
    }
  })

  test.each(['', 'sk_test_', 'sk_test_abc', 'pk_test_abc', 'SK_TEST_abc', 'sk_live_\0'])('%j is not well formed', (text) => {
    expect(isWellFormedApiKey(text)).toBe(false)
  })

  test('names its environment by the prefix alone', () => {
    expect([apiKeyEnvironment('sk_test_x'), apiKeyEnvironment('sk_live_'), apiKeyEnvironment('sk_other'), apiKeyEnvironment('')])
      .toEqual(['sandbox', 'production', null, null])
  })

  test('shows its first 12 characters, and its digest has 32 bytes', () => {
    const key = formatApiKey('sandbox', randomBytes(32))
    expect(prefixOfApiKey(key)).toBe(key.slice(0, 12))
    expect(digestOfApiKey(key)).toHaveLength(32)
  })
})
