import type { Database, Sql } from '../db/sql.ts'
import { newId } from '../db/ids.ts'
import {
  claimWebhookDelivery, countFailureRun, endDelivery, lockForVerdict, noteSubscriptionFailure, recordDeliveryFailure, recordDeliverySuccess,
  scheduleDelivery, suspendDelivery,
} from '../db/payments/webhookDeliveries.ts'
import type { ClaimedDelivery } from '../db/payments/webhookDeliveries.ts'
import { disableWebhookSubscription } from '../db/payments/webhookSubscriptions.ts'
import { settleUnclaimedDelivery } from '../db/payments/webhookSweeps.ts'
import { insertAuditEvent } from '../db/payments/auditEvents.ts'
import type { Runtime } from '../domain/runtime.ts'
import type { SealingKeys } from '../domain/sealing.ts'
import { judgeFailure, requestedDelaySeconds, retryDelaySeconds } from '../domain/webhookRetry.ts'
import { webhookHeaders } from '../domain/webhookHeaders.ts'
import { webhookSecretIdentity } from '../domain/webhookSignature.ts'
import type { WebhookAnswer, WebhookSender } from '../providers/webhookSender.ts'
import type { Boss } from './boss.ts'
import { enqueueDeliveriesTx } from './deliveryJobs.ts'
import type { DeliveryJob } from './deliveryJobs.ts'

/** What delivering webhooks needs. */
export interface DeliverySettings {
  database: Database
  boss: Boss
  sealing: SealingKeys
  sender: WebhookSender
  runtime: Pick<Runtime, 'now' | 'randomBytes'>
  /** Told of attempts while they are at work, for the heartbeat. */
  heartbeat: { add(attemptId: string): void, delete(attemptId: string): void }
}

/**
 * What a job led to. `idle`: it was not due, or is held by another, or its subscription is not active. `overtaken`: the
 * lease lapsed while it was at work, so the result was not written; another attempt is or was made.
 */
export type DeliveryOutcome = 'delivered' | 'retrying' | 'waiting' | 'dead' | 'idle' | 'overtaken'

/** Makes one attempt of a delivery, if it is due, free and wanted (decisions 6.3 to 6.8). */
export async function deliverWebhook(job: DeliveryJob, settings: DeliverySettings): Promise<DeliveryOutcome> {
  const { database, heartbeat, runtime, sealing, sender } = settings
  const claimed = await database.query((sql) => claimWebhookDelivery(sql, job, newId(runtime)))
  if (!claimed) {
    await database.query((sql) => settleUnclaimedDelivery(sql, job))
    return 'idle'
  }
  heartbeat.add(claimed.attempt_id)
  try {
    const { attempt_id: deliveryId, body, kind, url } = claimed
    const secret = sealing.open(claimed.secret, webhookSecretIdentity(claimed.subscription_id)).toString()
    const answer = await sender.send({ url, body, headers: webhookHeaders({ secret, body, kind, deliveryId, at: runtime.now() }) })
    if (!answer.succeeded) return await database.tx((sql) => fail(sql, claimed, answer, settings))
    return await database.query((sql) => recordDeliverySuccess(sql, claimed, answer)) ? 'delivered' : 'overtaken'
  } finally {
    heartbeat.delete(claimed.attempt_id)
  }
}

/** Records and judges a failure under the subscription's row lock (decision 6.5). */
async function fail(sql: Sql, claimed: ClaimedDelivery, answer: WebhookAnswer, settings: DeliverySettings): Promise<DeliveryOutcome> {
  const { runtime } = settings
  const now = runtime.now()
  const subscription = await lockForVerdict(sql, claimed)
  const round = await recordDeliveryFailure(sql, claimed, answer)
  if (round === undefined) return 'overtaken'
  await noteSubscriptionFailure(sql, claimed)
  const verdict = judgeFailure({ subscription, round, run: await countFailureRun(sql, claimed) })
  if (verdict.next === 'wait') {
    await suspendDelivery(sql, claimed)
    return 'waiting'
  }
  if (verdict.next === 'dead') {
    await endDelivery(sql, claimed, verdict.reason)
    if (verdict.disables) await disable(sql, claimed, settings, now)
    return 'dead'
  }
  const asked = requestedDelaySeconds(answer.status, answer.headers?.['retry-after'], now)
  const due = await scheduleDelivery(sql, claimed, Math.max(retryDelaySeconds(round, uniform(runtime)), asked))
  if (due) await enqueueDeliveriesTx(sql, settings.boss, [due])
  return 'retrying'
}

async function disable(sql: Sql, { tenant_id, merchant_id, subscription_id, attempt_id }: ClaimedDelivery, { runtime }: DeliverySettings, now: Date): Promise<void> {
  await disableWebhookSubscription(sql, { tenant_id, merchant_id, id: subscription_id }, 'failures', now)
  await insertAuditEvent(sql, {
    id: newId(runtime), tenantId: tenant_id, merchantId: merchant_id, actor: 'worker', action: 'payments.webhook_subscription.disabled',
    target: `webhook_subscription:${subscription_id}`, requestId: attempt_id, keyPrefix: null, changedKeys: ['active'], createdAt: now,
  })
}

/** A random number in [0, 1) with 48 bits. */
export function uniform({ randomBytes }: Pick<Runtime, 'randomBytes'>): number {
  return randomBytes(6).readUIntBE(0, 6) / 2 ** 48
}
