import { newId } from '../db/ids.ts'
import { claimWebhookDelivery } from '../db/payments/webhookClaims.ts'
import type { ClaimedDelivery } from '../db/payments/webhookClaims.ts'
import { settleInactiveDeliveries } from '../db/payments/webhookSweeps.ts'
import { webhookHeaders } from '../domain/webhookHeaders.ts'
import { openWebhookSecrets } from '../domain/webhookSecrets.ts'
import type { DeliveryJob } from './deliveryJobs.ts'
import { recordFailures, recordSuccesses } from './deliveryResults.ts'
import type { AnsweredDelivery } from './deliveryResults.ts'
import type { DeliveryOutcome, DeliverySettings } from './deliverySettings.ts'

const settledAtATime = 1000

/** Makes one attempt of one delivery, if it is due, free and wanted (decisions 6.3 to 6.8). */
export async function deliverWebhook(job: DeliveryJob, settings: DeliverySettings): Promise<DeliveryOutcome> {
  const { database, runtime } = settings
  const claimed = await database.query((sql) => claimWebhookDelivery(sql, job, newId(runtime)))
  if (!claimed) {
    await database.query((sql) => settleInactiveDeliveries(sql, job, settledAtATime))
    return 'idle'
  }
  return makeAttempt(claimed, settings, async (answer) => {
    const [outcome = 'overtaken'] = await (answer.result.succeeded ? recordSuccesses([answer], settings) : recordFailures(claimed, [answer], settings))
    return outcome
  })
}

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
