import { createHmac } from 'node:crypto'
import { base62 } from './base62.ts'
import type { Runtime } from './runtime.ts'

const secretBytes = 32
// 62^43 is just above 2^256.
const secretLength = 43

/** A new signing secret: `whsec_` and 256 random bits in base 62. */
export function newWebhookSecret({ randomBytes }: Pick<Runtime, 'randomBytes'>): string {
  return `whsec_${base62(BigInt(`0x${randomBytes(secretBytes).toString('hex')}`), secretLength)}`
}

/** What a sealed secret is bound to. */
export function webhookSecretIdentity(subscriptionId: string): string {
  return `webhook_subscriptions:secret:${subscriptionId}`
}

/**
 * The value of X-Service-Signature: `t=<unix seconds>,v1=<hex>`, v1 being the HMAC-SHA256 of `<t>.<body>` (brief,
 * payments: Events). The key is the secret's UTF-8 bytes as shown, `whsec_` included (decision 6.1).
 */
export function signWebhook(secret: string, body: string | Buffer, at: Date): string {
  const t = Math.floor(at.getTime() / 1000)
  return `t=${t},v1=${createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex')}`
}
