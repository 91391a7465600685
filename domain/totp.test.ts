import { createHmac, randomBytes } from 'node:crypto'
import { TOTP } from 'otpauth'
import { expect, test } from 'vitest'
import { newTotpSeed, totpSecretText, totpSeedOf, totpStep } from './totp.ts'

const seed = newTotpSeed({ randomBytes: (size) => randomBytes(size) })
const at = (seconds: number) => new Date(seconds * 1000)

/** RFC 4226, section 5.3, written out. */
function code(step: number, key: Buffer = seed): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const digest = createHmac('sha1', key).update(counter).digest()
  const offset = (digest[19] ?? 0) & 15
  return String((digest.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, '0')
}

test('the codes are those of RFC 6238, appendix B, cut to six digits', () => {
  const key = Buffer.from('12345678901234567890')
  const vectors = [[59, '287082'], [1111111109, '081804'], [1111111111, '050471'], [20000000000, '353130']] as const
  for (const [seconds, expected] of vectors) {
    expect(totpStep(key, expected, at(seconds))).toBe(Math.floor(seconds / 30))
  }
})

test('a code is taken in its own half minute and its neighbours, and named by its step', () => {
  const step = 60_000_000
  const present = at(step * 30 + 29.999)
  for (const delta of [-1, 0, 1]) expect(totpStep(seed, code(step + delta), present)).toBe(step + delta)
  for (const delta of [-2, 2]) expect(totpStep(seed, code(step + delta), present)).toBeNull()
})

test('a code of another seed, or of another length, is none', () => {
  const step = 60_000_000
  expect(totpStep(randomBytes(20), code(step), at(step * 30))).toBeNull()
  const odd = ['', code(step).slice(1), `${code(step)}0`, 'abcdef']
  for (const each of odd) expect(totpStep(seed, each, at(step * 30))).toBeNull()
})

test('the text of a seed is what an authenticator takes, and reads back', () => {
  const text = totpSecretText(seed)
  expect(text).toMatch(/^[A-Z2-7]{32}$/)
  expect(totpSeedOf(text)).toEqual(seed)
  const shown = new TOTP({ secret: text }).generate({ timestamp: 1_800_000_000_000 })
  expect(totpStep(seed, shown, new Date(1_800_000_000_000))).toBe(60_000_000)
})
