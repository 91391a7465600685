import { createDecipheriv, randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { sealingKeys } from './sealing.ts'

const secretKey = randomBytes(32)
const setting = `k1:${secretKey.toString('base64')}`
const keys = sealingKeys(setting)
const plain = Buffer.from('whsec_example')

describe('a sealed value', () => {
  test('opens under the same key and identity', () => {
    expect(keys.open(keys.seal(plain, 'table:row:1', randomBytes(12)), 'table:row:1')).toEqual(plain)
  })

  test('is AES-256-GCM as the standard library reads it: key id, nonce, tag, text, with the identity as associated data', () => {
    const sealed = keys.seal(plain, 'row', randomBytes(12))
    const rest = sealed.subarray(1 + (sealed[0] ?? 0))
    const decipher = createDecipheriv('aes-256-gcm', secretKey, rest.subarray(0, 12)).setAAD(Buffer.from('row')).setAuthTag(rest.subarray(12, 28))
    expect(Buffer.concat([decipher.update(rest.subarray(28)), decipher.final()])).toEqual(plain)
  })

  test('does not open in another row', () => {
    expect(() => keys.open(keys.seal(plain, 'table:row:1', randomBytes(12)), 'table:row:2')).toThrow()
  })

  test('does not open with a bit changed anywhere behind the key id', () => {
    const sealed = keys.seal(plain, 'row', randomBytes(12))
    for (let at = 3; at < sealed.length; at += 1) {
      const changed = Buffer.from(sealed)
      changed[at] = (changed[at] ?? 0) ^ 1
      expect(() => keys.open(changed, 'row')).toThrow()
    }
  })

  test('opens after the keys were rotated, and new values are sealed under the first', () => {
    const rotated = sealingKeys(`k2:${randomBytes(32).toString('base64')},${setting}`)
    expect(rotated.open(keys.seal(plain, 'row', randomBytes(12)), 'row')).toEqual(plain)
    expect(() => keys.open(rotated.seal(plain, 'row', randomBytes(12)), 'row')).toThrow('k2')
  })

  test.each(['', 'k1', 'k1:short', `K!:${randomBytes(32).toString('base64')}`, `k1:${randomBytes(31).toString('base64')}`])('the setting %j is refused', (bad) => {
    expect(() => sealingKeys(bad)).toThrow('a sealing key is')
  })
})
