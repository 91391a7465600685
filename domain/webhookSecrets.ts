import { base62 } from './base62.ts'
import type { Runtime } from './runtime.ts'
import { sealingNonceBytes } from './sealing.ts'
import type { SealingKeys } from './sealing.ts'

const secretBytes = 32
// 62^43 is just above 2^256.
const secretLength = 43
const hourMs = 3_600_000

/** How long the secret before a rotation goes on signing beside the new one, in milliseconds (decision 6.2). */
export const previousSecretMs = 24 * hourMs

/** A new signing secret: `whsec_` and 256 random bits in base 62. */
export function newWebhookSecret({ randomBytes }: Pick<Runtime, 'randomBytes'>): string {
  return `whsec_${base62(BigInt(`0x${randomBytes(secretBytes).toString('hex')}`), secretLength)}`
}

/** What a sealed secret is bound to. */
export function webhookSecretIdentity(subscriptionId: string): string {
  return `webhook_subscriptions:secret:${subscriptionId}`
}

/** A secret as its row keeps it. */
export function sealWebhookSecret(secret: string, subscriptionId: string, sealing: SealingKeys, { randomBytes }: Pick<Runtime, 'randomBytes'>): Buffer {
  return sealing.seal(Buffer.from(secret), webhookSecretIdentity(subscriptionId), randomBytes(sealingNonceBytes))
}

/** Sealed secrets of a subscription; `previous_secret` signs until `previous_secret_until`. */
export interface SealedSecrets {
  secret: Buffer
  previous_secret: Buffer | null
  previous_secret_until: Date | null
}

/** The secrets that sign at a time: the current one, and the previous one for 24 hours after a rotation (decision 6.2). */
export function openWebhookSecrets(
  { secret, previous_secret, previous_secret_until }: SealedSecrets, subscriptionId: string, sealing: SealingKeys, at: Date,
): { secret: string, previousSecret: string | null } {
  const open = (sealed: Buffer): string => sealing.open(sealed, webhookSecretIdentity(subscriptionId)).toString()
  const signs = previous_secret !== null && previous_secret_until !== null && at < previous_secret_until
  return { secret: open(secret), previousSecret: signs ? open(previous_secret) : null }
}
