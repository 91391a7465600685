import { createHash } from 'node:crypto'
import { newWebhookSecret } from '../domain/webhookSecrets.ts'
import { signWebhook } from '../domain/webhookSignature.ts'

/** A request to a receiver, what the receiver knows, and what it has to say. */
export interface WebhookVector {
  name: string
  verdict: 'ok' | 'missing' | 'malformed' | 'stale' | 'mismatch'
  /** Unix seconds at the receiver. */
  now: number
  /** What the receiver accepts. */
  secrets: string[]
  /** X-Service-Signature; null when the header is not there. */
  signature: string | null
  /** X-Service-Signature-Previous, as above. */
  previous: string | null
  body: string
}

const toleranceSeconds = 300
/** Secrets of nobody: anyone can make them from these words. */
const publicSecret = (words: string): string => newWebhookSecret({ randomBytes: () => createHash('sha256').update(words).digest() })
const [current, old, foreign] = ['vectors: current', 'vectors: previous', 'vectors: foreign'].map(publicSecret) as [string, string, string]

const at = new Date('2026-11-02T03:04:05.000Z')
const now = at.getTime() / 1000
const event = {
  id: '0192f3c4-9e11-7a02-b1d5-6f308e21c1b3', event: 'webhook.test', created_at: at.toISOString(), environment: 'sandbox', api_version: 'v1',
  merchant_id: '0192f3c4-7a10-7c3e-9d52-1f6b8a40e001', data: { webhook_id: '0192f3c4-9d02-7b11-a0c4-5e2f7d10b0a1' },
}
const body = JSON.stringify(event)
const signedAt = (secret: string, seconds: number, text = body): string => signWebhook(secret, text, new Date(seconds * 1000))
const right = signedAt(current, now)
const [t = '', v1 = ''] = right.split(',')

const vector = (name: string, verdict: WebhookVector['verdict'], changes: Partial<WebhookVector> = {}): WebhookVector =>
  ({ name, verdict, now, secrets: [current], signature: right, previous: null, body, ...changes })
const withBody = (text: string) => ({ body: text, signature: signedAt(current, now, text) })

/** What every implementation of the verification has to agree on. */
export const webhookVectors: readonly WebhookVector[] = [
  vector('valid', 'ok'),
  vector('valid, text beyond ASCII', 'ok', withBody(JSON.stringify({ ...event, data: { note: 'Kopi ☕ susu — 𝒢 مرحبا' } }))),
  vector('valid, white space around the JSON', 'ok', withBody(`  ${JSON.stringify(event, null, 2)}\r\n`)),
  vector('valid, as old as is allowed', 'ok', { signature: signedAt(current, now - toleranceSeconds) }),
  vector('valid, as far ahead as is allowed', 'ok', { signature: signedAt(current, now + toleranceSeconds) }),
  vector('valid, with a name to come', 'ok', { signature: `${right},v2=abc` }),
  vector('valid, in another order', 'ok', { signature: `${v1},${t}` }),
  vector('altered body', 'mismatch', { body: body.replace('sandbox', 'sandb0x') }),
  vector('altered t', 'mismatch', { signature: `t=${now + 1},${v1}` }),
  vector('altered v1', 'mismatch', { signature: `${t},v1=${v1.slice(3).replace(/.$/, (last) => last === '0' ? '1' : '0')}` }),
  vector('re-serialised JSON', 'mismatch', { body: JSON.stringify(event, null, 1) }),
  vector('another secret', 'mismatch', { signature: signedAt(foreign, now) }),
  vector('stale', 'stale', { signature: signedAt(current, now - toleranceSeconds - 1) }),
  vector('from the future', 'stale', { signature: signedAt(current, now + toleranceSeconds + 1) }),
  vector('no header', 'missing', { signature: null }),
  vector('the previous header alone', 'missing', { signature: null, previous: right }),
  vector('two v1', 'malformed', { signature: `${right},v1=${'0'.repeat(64)}` }),
  vector('the same v1 twice', 'malformed', { signature: `${right},${v1}` }),
  vector('two t', 'malformed', { signature: `${t},${right}` }),
  vector('the header twice, joined', 'malformed', { signature: `${right}, ${right}` }),
  vector('uppercase hex', 'malformed', { signature: `${t},v1=${v1.slice(3).toUpperCase()}` }),
  vector('no v1', 'malformed', { signature: t }),
  vector('no t', 'malformed', { signature: v1 }),
  vector('t is no number', 'malformed', { signature: `t=now,${v1}` }),
  vector('v1 is cut', 'malformed', { signature: right.slice(0, -2) }),
  vector('a blank after the comma', 'malformed', { signature: `${t}, ${v1}` }),
  vector('a name that JavaScript knows', 'ok', { signature: `${right},constructor=1` }),
  vector('rotated, the receiver has the old secret', 'ok', { secrets: [old], previous: signedAt(old, now) }),
  vector('rotated, the receiver has the new secret', 'ok', { previous: signedAt(old, now) }),
  vector('rotated, the receiver has both', 'ok', { secrets: [old, current], previous: signedAt(old, now) }),
  vector('rotated, the receiver has neither', 'mismatch', { secrets: [foreign], previous: signedAt(old, now) }),
  vector('rotated longer ago, the receiver has the old secret', 'mismatch', { secrets: [old] }),
  vector('rotated, the previous header has two v1', 'malformed', { secrets: [old], previous: `${signedAt(old, now)},v1=${'0'.repeat(64)}` }),
  vector('rotated, the previous header is stale', 'stale', { secrets: [old], previous: signedAt(old, now - toleranceSeconds - 1) }),
]

/** The vectors as JSON, for libraries. */
export function vectorsAsJson(): string {
  const about = 'Requests to a receiver of webhooks and the verdict on each. now is in Unix seconds; a header that is null is not there; the body is UTF-8.'
  return `${JSON.stringify({ about, tolerance_seconds: toleranceSeconds, vectors: webhookVectors }, null, 2)}\n`
}

/** The same in lines, for languages that come without JSON: the body in Base64, secrets with blanks between, an absent header empty. */
export function vectorsAsLines(): string {
  const lines = webhookVectors.map(({ name, verdict, now: time, secrets, signature, previous, body: text }) =>
    [name, verdict, time, secrets.join(' '), signature ?? '', previous ?? '', Buffer.from(text).toString('base64')].join('\t'))
  return `${['name', 'verdict', 'now', 'secrets', 'signature', 'previous', 'body'].join('\t')}\n${lines.join('\n')}\n`
}
