import { version } from './releases.ts'
import { signWebhook } from './webhookSignature.ts'

/** The headers of one attempt (brief, payments: Events); `deliveryId` is new for every attempt. */
export function webhookHeaders(
  { secret, body, kind, deliveryId, at }: { secret: string, body: string, kind: string, deliveryId: string, at: Date },
): Record<string, string> {
  return {
    'Content-Type': 'application/json',
    'User-Agent': `Bayar-Webhooks/${version}`,
    'X-Service-Signature': signWebhook(secret, body, at),
    'X-Service-Delivery-Id': deliveryId,
    'X-Service-Event-Kind': kind,
  }
}
