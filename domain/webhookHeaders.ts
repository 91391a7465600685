import { version } from './releases.ts'
import { signWebhook } from './webhookSignature.ts'

/**
 * The headers of one attempt (brief, payments: Events); `deliveryId` is new for every attempt. A previous secret signs the
 * same time and bytes in a header of its own (decision 6.2).
 */
export function webhookHeaders(
  { secret, previousSecret = null, body, kind, deliveryId, at }:
  { secret: string, previousSecret?: string | null, body: string, kind: string, deliveryId: string, at: Date },
): Record<string, string> {
  return {
    'Content-Type': 'application/json',
    'User-Agent': `Bayar-Webhooks/${version}`,
    'X-Service-Signature': signWebhook(secret, body, at),
    ...(previousSecret !== null && { 'X-Service-Signature-Previous': signWebhook(previousSecret, body, at) }),
    'X-Service-Delivery-Id': deliveryId,
    'X-Service-Event-Kind': kind,
  }
}
