import { createHmac, timingSafeEqual } from 'node:crypto'

/** One step of the check, in words, with what was found. `passed` is null for a step that only looks. */
export interface SignatureStep {
  name: string
  found: string
  passed: boolean | null
}

export interface SignatureCheck {
  genuine: boolean
  steps: readonly SignatureStep[]
}

const longestAgeSeconds = 300

/**
 * What a receiver does by the brief (payments: Events), and by nothing of ours: splits X-Service-Signature on the comma
 * into t and v1, refuses one that is more than 300 s off, computes the hex HMAC-SHA256 of `<t>.` and the raw body, and compares in constant time.
 */
export function checkSignature(header: string | undefined, body: Buffer, secret: string, now: Date): SignatureCheck {
  const parts = new Map((header ?? '').split(',').map((part): [string, string] => {
    const at = part.indexOf('=')
    return [part.slice(0, Math.max(at, 0)).trim(), part.slice(at + 1).trim()]
  }))
  const [t = '', v1 = ''] = [parts.get('t'), parts.get('v1')]
  const hasTime = /^\d{1,12}$/.test(t)
  const age = hasTime ? Math.floor(now.getTime() / 1000) - Number(t) : null
  const computed = hasTime ? createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex') : null
  const isRecent = age !== null && Math.abs(age) <= longestAgeSeconds
  const isDigest = /^[0-9a-f]{64}$/.test(v1)
  const isEqual = computed !== null && isDigest && timingSafeEqual(Buffer.from(v1), Buffer.from(computed))
  return {
    genuine: isRecent && isEqual,
    steps: [
      { name: 'X-Service-Signature', found: header ?? 'missing', passed: header !== undefined },
      { name: 't', found: t === '' ? 'missing' : t, passed: hasTime },
      { name: 'age', found: age === null ? 'unknown' : `${age} s, at most ${longestAgeSeconds} s either way`, passed: isRecent },
      { name: 'v1', found: v1 === '' ? 'missing' : v1, passed: isDigest },
      { name: 'computed', found: computed ?? 'nothing without t', passed: null },
      { name: 'v1 is what was computed', found: isEqual ? 'yes' : 'no', passed: isEqual },
    ],
  }
}
