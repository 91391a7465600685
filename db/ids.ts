import { v7 } from 'uuid'
import type { Runtime } from '../domain/runtime.ts'

/** A UUID in lower case, as `newId` writes it and paths carry it. */
export const idPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

/** A UUID version 7 (RFC 9562, section 5.7): sorts by the runtime's clock, random from the runtime. */
export function newId(runtime: Pick<Runtime, 'now' | 'randomBytes'>): string {
  return v7({ msecs: runtime.now().getTime(), random: runtime.randomBytes(16) })
}

// Digits and letters that cannot be taken for one another: no i, l, o, u.
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

/** A shortcode as `newShortcode` writes it. */
export const shortcodePattern = /^[0-9a-hjkmnp-tv-z]{10}$/

/** Ten characters of lower-case base 32 without i, l, o and u: 50 bits, for codes that people read and type. */
export function newShortcode(runtime: Pick<Runtime, 'randomBytes'>): string {
  // 256 is a multiple of 32, so the low five bits of a byte are evenly spread
  return Array.from(runtime.randomBytes(10), (byte) => alphabet[byte & 31]).join('')
}
