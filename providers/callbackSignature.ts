import { createHmac, timingSafeEqual } from 'node:crypto'
import type { CallbackVerdict } from './paymentProvider.ts'

const WINDOW_SECONDS = 300

/** `t=<unix seconds>,v1=<hex>`: HMAC-SHA256 under the secret's UTF-8 bytes over "<t>.<raw body>". */
export function signCallback(secret: string, rawBody: Uint8Array, now: Date): string {
  const t = Math.floor(now.getTime() / 1000)
  return `t=${t},v1=${digest(secret, String(t), rawBody).toString('hex')}`
}

/** Checks such a signature in constant time; `stale` is a right signature more than 300 s away from `now`. */
export function verifyCallbackSignature(
  secret: string,
  header: string | undefined,
  rawBody: Uint8Array,
  now: Date,
): CallbackVerdict {
  const [, t, v1] = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/.exec(header ?? '') ?? []
  if (t === undefined || v1 === undefined) return { verified: false, reason: 'malformed' }
  if (!timingSafeEqual(digest(secret, t, rawBody), Buffer.from(v1, 'hex'))) {
    return { verified: false, reason: 'mismatch' }
  }
  return Math.abs(now.getTime() / 1000 - Number(t)) > WINDOW_SECONDS
    ? { verified: false, reason: 'stale' }
    : { verified: true }
}

function digest(secret: string, t: string, rawBody: Uint8Array): Buffer {
  return createHmac('sha256', secret).update(`${t}.`).update(rawBody).digest()
}
