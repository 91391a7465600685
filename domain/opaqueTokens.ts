import { createHash, timingSafeEqual } from 'node:crypto'
import { base62 } from './base62.ts'
import type { Runtime } from './runtime.ts'

/** What a token is for, as its prefix tells: the second step of a log-in, a session, the secret of a client. */
export type TokenKind = 'mfa' | 'rt' | 'cs'

const randomLength = 32
// 62^43 is just above 2^256.
const textLength = 43

/** A new token: prefix and 256 random bits in base 62. */
export function newOpaqueToken(kind: TokenKind, { randomBytes }: Pick<Runtime, 'randomBytes'>): string {
  return `${kind}_${base62(BigInt(`0x${randomBytes(randomLength).toString('hex')}`), textLength)}`
}

/** What is stored of a token. 256 random bits need no slow hash. */
export function digestOfToken(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

/** Whether the token has this digest, in a time that tells nothing of it. */
export function hasDigest(token: string, digest: Buffer): boolean {
  return timingSafeEqual(digestOfToken(token), digest)
}
