import { Secret, TOTP } from 'otpauth'
import type { Runtime } from './runtime.ts'

const digits = 6
const period = 30
/** Codes of the step before and the step after are taken, for clocks that differ (RFC 6238, section 5.2). */
const window = 1
const seedLength = 20

/** A seed of 160 random bits, the length of the hash behind it (RFC 4226, section 4). */
export function newTotpSeed({ randomBytes }: Pick<Runtime, 'randomBytes'>): Buffer {
  return randomBytes(seedLength)
}

/** The step (RFC 6238) of the code; null when it is of none near `now`. The caller judges whether it was used. */
export function totpStep(seed: Buffer, code: string, now: Date): number | null {
  const timestamp = now.getTime()
  const delta = authenticator(seed).validate({ token: code, timestamp, window })
  return delta === null ? null : Math.floor(timestamp / 1000 / period) + delta
}

/** The seed as people and authenticators take it: base 32. */
export function totpSecretText(seed: Buffer): string {
  return secretOf(seed).base32
}

/** The seed of such a text. */
export function totpSeedOf(text: string): Buffer {
  return Buffer.from(Secret.fromBase32(text).bytes)
}

/** What a sealed seed is bound to. */
export function totpSeedIdentity(userId: string): string {
  return `totp_devices:seed:${userId}`
}

function authenticator(seed: Buffer): TOTP {
  return new TOTP({ secret: secretOf(seed), algorithm: 'SHA1', digits, period })
}

function secretOf(seed: Buffer): Secret {
  // Buffers share memory with others: only the seed's own bytes may go in.
  return new Secret({ buffer: new Uint8Array(seed).buffer })
}
