import { createHmac, timingSafeEqual } from 'node:crypto'

/** What a receiver has to say of a request (docs/webhooks.md). `unread`: the body was too long to be taken. */
export type Verdict = 'ok' | 'missing' | 'malformed' | 'stale' | 'mismatch' | 'unread'

/** One step of the check, in words, with what was found. `passed` is null for a step that only looks. */
export interface SignatureStep {
  name: string
  found: string
  passed: boolean | null
}

/** How one of the two headers was read. */
export interface SignatureReading {
  header: string
  verdict: Verdict
  /** The parts between commas as they came, the sign `=` in each. */
  parts: readonly string[]
  /** Unix seconds; null where the header has not exactly one. */
  t: string | null
  v1: string | null
  /** Under the first secret; null without t. */
  computed: string | null
  steps: readonly SignatureStep[]
  /** Why it is wrong, in words; null where it is right. */
  reason: string | null
}

export interface SignatureCheck {
  genuine: boolean
  verdict: Verdict
  current: SignatureReading
  /** Null: X-Service-Signature-Previous did not come. */
  previous: SignatureReading | null
  /** Why it is refused, or what is odd about it; null: nothing. */
  remark: string | null
}

export interface SignedRequest {
  current: string | undefined
  previous: string | undefined
  body: Buffer
}

const longestAgeSeconds = 300

/** Hex HMAC-SHA256 of `<t>.` and the bytes. */
function digest(secret: string, t: string, body: Buffer | string): string {
  return createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex')
}

/**
 * What a receiver does by the brief (payments: Events), and by nothing of ours: takes each signature header apart into
 * t and v1, refuses one that is more than 300 s off, computes the hex HMAC-SHA256 of `<t>.` and the raw body under each secret, and compares in
 * constant time. One header that is right is enough; one that is malformed or stale is refused whatever the other says.
 */
export function checkSignature({ current, previous, body }: SignedRequest, secrets: readonly string[], now: Date): SignatureCheck {
  const read = readHeader(body, secrets, now)
  const readings = { current: read('X-Service-Signature', current), previous: previous === undefined ? null : read('X-Service-Signature-Previous', previous) }
  const verdicts = [readings.current, readings.previous].flatMap((reading) => reading?.verdict ?? [])
  const verdict = (['missing', 'malformed', 'stale', 'ok'] as const).find((one) => verdicts.includes(one)) ?? 'mismatch'
  const guilty = [readings.current, readings.previous].find((reading) => reading?.verdict === verdict)
  const remark = verdict === 'ok' && readings.current.verdict !== 'ok'
    ? 'Only the previous secret fits: the secret was rotated, and for 24 hours the old one signs too. From then on this would be refused.'
    : guilty?.reason ?? null
  return { genuine: verdict === 'ok', verdict, ...readings, remark }
}

/** What there is to say of a body that was not taken to its end: without all bytes nothing can be computed. */
export function uncheckedSignature(value: string | undefined, mostBytes: number): SignatureCheck {
  const remark = `The body is longer than the ${mostBytes} bytes that the inbox takes: its signature was not computed.`
  const current: SignatureReading = {
    header: 'X-Service-Signature', verdict: 'unread', parts: value?.split(',') ?? [], t: null, v1: null, computed: null, steps: [], reason: remark,
  }
  return { genuine: false, verdict: 'unread', current, previous: null, remark }
}

function readHeader(body: Buffer, secrets: readonly string[], now: Date) {
  return (header: string, value: string | undefined): SignatureReading => {
    const parts = value === undefined ? [] : value.split(',')
    const areParts = parts.length > 0 && parts.every((part) => /^[a-z][a-z0-9]*=[^\s=]+$/.test(part))
    const only = (name: string): string => parts.filter((part) => part.startsWith(`${name}=`)).map((part) => part.slice(name.length + 1)).join(',')
    const [t, v1] = [only('t'), only('v1')]
    const hasTime = /^[1-9][0-9]{0,11}$/.test(t)
    const isDigest = /^[0-9a-f]{64}$/.test(v1)
    const age = hasTime ? Math.floor(now.getTime() / 1000) - Number(t) : null
    const isRecent = age !== null && Math.abs(age) <= longestAgeSeconds
    const fitting = hasTime && isDigest ? secrets.find((secret) => timingSafeEqual(Buffer.from(v1), Buffer.from(digest(secret, t, body)))) : undefined
    const computed = hasTime ? digest(fitting ?? secrets[0] ?? '', t, body) : null
    const isEqual = fitting !== undefined
    const verdict: Verdict = value === undefined ? 'missing' : !areParts || !hasTime || !isDigest ? 'malformed'
      : !isRecent ? 'stale' : isEqual ? 'ok' : 'mismatch'
    return {
      header, verdict, parts, t: hasTime ? t : null, v1: v1 === '' ? null : v1, computed,
      reason: reasonOf(verdict, { header, parts, areParts, t, v1, age, body, secret: secrets[0] ?? '' }),
      steps: [
        { name: header, found: value ?? 'missing', passed: areParts },
        { name: 't', found: t === '' ? 'missing' : t, passed: hasTime },
        { name: 'age', found: age === null ? 'unknown' : `${age} s, at most ${longestAgeSeconds} s either way`, passed: isRecent },
        { name: 'v1', found: v1 === '' ? 'missing' : v1, passed: isDigest },
        { name: 'computed', found: computed ?? 'nothing without t', passed: null },
        { name: 'v1 is what was computed', found: isEqual ? 'yes' : 'no', passed: isEqual },
      ],
    }
  }
}

interface Found {
  header: string
  parts: readonly string[]
  areParts: boolean
  t: string
  v1: string
  age: number | null
  body: Buffer
  secret: string
}

function reasonOf(verdict: Verdict, found: Found): string | null {
  const { age, header } = found
  switch (verdict) {
    case 'missing': return `${header} did not come: whoever sends without it has not signed.`
    case 'malformed': return `${header} is not t=<unix seconds>,v1=<64 hex digits>: ${malformation(found)}.`
    case 'stale': return (age ?? 0) > 0
      ? `t lies ${age} s back, more than ${longestAgeSeconds}: an old request sent once more, or one of the two clocks is wrong.`
      : `t lies ${-(age ?? 0)} s ahead, more than ${longestAgeSeconds}: one of the two clocks is wrong.`
    case 'mismatch': return mismatch(found)
    default: return null
  }
}

function malformation({ parts, areParts, t, v1 }: Found): string {
  if (!areParts) return parts.some((part) => /\s/.test(part)) ? 'there is a blank in it' : 'a part of it is not name=value'
  if (t === '' || v1 === '') return `${t === '' ? 't' : 'v1'} is missing`
  if (t.includes(',') || v1.includes(',')) return `${t.includes(',') ? 't' : 'v1'} comes more than once`
  if (!/^[1-9][0-9]{0,11}$/.test(t)) return 't is no whole number of seconds'
  return /^[0-9a-f]{64}$/i.test(v1) ? 'the hex digits of v1 must be lower case' : `v1 has ${v1.length} characters that are not 64 hex digits`
}

/** Tries the mistakes that are made most, so as to name the one that was. */
function mismatch({ t, v1, body, secret }: Found): string {
  const again = writtenAnew(body)
  const mistakes: readonly (readonly [computed: string, words: string])[] = [
    [digest(secret.replace(/^whsec_/, ''), t, body), 'The key was taken without whsec_: it is the whole secret as shown.'],
    [createHmac('sha256', secret).update(body).digest('hex'), 'The body alone was signed: t and a dot belong before it.'],
    [digest(secret, t, body.toString().trim()), 'The body was signed without the white space around it: sign the bytes as they are sent.'],
    ...(again === null ? [] : [[digest(secret, t, again),
      'Other white space was signed: the JSON was parsed and written anew. Sign the bytes as they are sent.'] as const]),
  ]
  return mistakes.find(([computed]) => computed === v1)?.[1]
    ?? 'The key or the bytes differ: it was signed with another secret (rotated, or another subscription\'s), or t or the body was changed on the way.'
}

function writtenAnew(body: Buffer): string | null {
  try {
    return JSON.stringify(JSON.parse(body.toString()))
  } catch {
    return null
  }
}
