import type { ClaimedDelivery } from '../db/payments/webhookClaims.ts'
import { webhookHeaders } from '../domain/webhookHeaders.ts'
import { openWebhookSecrets } from '../domain/webhookSecrets.ts'
import type { AnsweredDelivery } from './deliveryResults.ts'
import type { DeliveryOutcome, DeliverySettings } from './deliverySettings.ts'

/** Sends a claimed delivery and has the answer recorded; its lease is kept until then. */
export async function makeAttempt(
  claimed: ClaimedDelivery, { heartbeat, runtime, sealing, sender }: Pick<DeliverySettings, 'heartbeat' | 'runtime' | 'sealing' | 'sender'>,
  record: (answer: AnsweredDelivery) => Promise<DeliveryOutcome>,
): Promise<DeliveryOutcome> {
  heartbeat.add(claimed)
  try {
    const { attempt_id: deliveryId, body, kind, url } = claimed
    const at = runtime.now()
    const secrets = openWebhookSecrets(claimed, claimed.subscription_id, sealing, at)
    const result = await sender.send({ url, body, headers: webhookHeaders({ ...secrets, body, kind, deliveryId, at }) })
    return await record({ delivery: claimed, result })
  } finally {
    heartbeat.delete(claimed)
  }
}
