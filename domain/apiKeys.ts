import { hash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { base62 } from './base62.ts'

export type Environment = 'sandbox' | 'production'

const secretLength = 43
const checksumLength = 6
const form = /^sk_(test|live)_([0-9A-Za-z]{49})$/
const prefixes: Record<Environment, string> = { sandbox: 'sk_test_', production: 'sk_live_' }

/** Writes a key: prefix, 32 random bytes in base62, checksum of both (decision 5.1). */
export function formatApiKey(environment: Environment, secret: Buffer): string {
  if (secret.length !== 32) throw new RangeError('an API key holds 32 random bytes')
  const body = prefixes[environment] + base62(BigInt(`0x${secret.toString('hex')}`), secretLength)
  return body + checksum(body)
}

/** The environment that a credential's prefix names; null when it is no API key at all. No look-up is needed for it. */
export function apiKeyEnvironment(credential: string): Environment | null {
  if (credential.startsWith(prefixes.sandbox)) return 'sandbox'
  return credential.startsWith(prefixes.production) ? 'production' : null
}

/** Whether the text has the form of a key and its checksum holds, so that a mistyped key costs no look-up. */
export function isWellFormedApiKey(key: string): boolean {
  return form.test(key) && checksum(key.slice(0, -checksumLength)) === key.slice(-checksumLength)
}

/** What is stored of a key. 256 random bits need no slow hash. */
export function digestOfApiKey(key: string): Buffer {
  return hash('sha256', key, 'buffer')
}

/** The part of a key that listings and logs show: its first 12 characters. */
export function prefixOfApiKey(key: string): string {
  return key.slice(0, 12)
}

function checksum(text: string): string {
  return base62(BigInt(crc32(text)), checksumLength)
}
