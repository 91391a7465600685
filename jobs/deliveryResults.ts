import type { Sql } from '../db/sql.ts'
import { newId } from '../db/ids.ts'
import type { ClaimedDelivery, DeliveryLane } from '../db/payments/webhookClaims.ts'
import {
  countFailureRuns, endDeliveries, listRecordedSuccesses, lockForVerdict, noteSubscriptionFailure, noteSubscriptionSuccess, recordDeliveryFailures,
  recordDeliverySuccesses, scheduleDeliveries, suspendDeliveries,
} from '../db/payments/webhookDeliveries.ts'
import type { DeadReason } from '../db/payments/webhookDeliveries.ts'
import { disableWebhookSubscription } from '../db/payments/webhookSubscriptions.ts'
import { insertAuditEvent } from '../db/payments/auditEvents.ts'
import type { Runtime } from '../domain/runtime.ts'
import { judgeFailure, requestedDelaySeconds, retryDelaySeconds } from '../domain/webhookRetry.ts'
import type { WebhookAnswer } from '../providers/webhookSender.ts'
import type { DeliveryOutcome, DeliverySettings } from './deliverySettings.ts'
import { enqueueDeliveriesTx } from './deliveryJobs.ts'

/** What an attempt came to, before it is written. */
export interface AnsweredDelivery {
  delivery: ClaimedDelivery
  result: WebhookAnswer
}

type ResultSettings = Pick<DeliverySettings, 'database' | 'boss' | 'runtime'>

/** Records successes, of any subscriptions, that are still this worker's. Answers the outcome of each, in their order. */
export async function recordSuccesses(answers: readonly AnsweredDelivery[], { database }: ResultSettings): Promise<DeliveryOutcome[]> {
  const written = await database.query((sql) => recordDeliverySuccesses(sql, answers))
  const rest = withoutThose(answers, written)
  // This may be the second time, the answer to the first having been lost: its subscriptions are still to be told.
  const recorded = rest.length === 0 ? written : [...written, ...await database.query((sql) => listRecordedSuccesses(sql, rest))]
  const missing = new Set(withoutThose(answers, recorded))
  const toNote = new Set(recorded.filter(({ to_note }) => to_note).map(({ subscription_id }) => subscription_id))
  for (const { delivery } of answers) {
    // Apart from the deliveries, so that no transaction holds both a delivery and its subscription in this order.
    if (toNote.delete(delivery.subscription_id)) await database.query((sql) => noteSubscriptionSuccess(sql, delivery))
  }
  return answers.map((answer) => missing.has(answer) ? 'overtaken' : 'delivered')
}

function withoutThose(answers: readonly AnsweredDelivery[], recorded: readonly { id: string }[]): AnsweredDelivery[] {
  const ids = new Set(recorded.map(({ id }) => id))
  return answers.filter(({ delivery }) => !ids.has(delivery.id))
}

/**
 * Records failures of one subscription that are still this worker's and judges each under the subscription's row lock
 * (decision 6.5). Answers the outcome of each, in their order.
 */
export async function recordFailures(lane: DeliveryLane, answers: readonly AnsweredDelivery[], settings: ResultSettings): Promise<DeliveryOutcome[]> {
  const outcomes = await settings.database.tx((sql) => judge(sql, lane, answers, settings))
  return answers.map(({ delivery }) => outcomes.get(delivery.id) ?? 'overtaken')
}

async function judge(
  sql: Sql, lane: DeliveryLane, answers: readonly AnsweredDelivery[], { boss, runtime }: ResultSettings,
): Promise<Map<string, DeliveryOutcome>> {
  const now = runtime.now()
  let subscription = await lockForVerdict(sql, lane)
  const rounds = await recordDeliveryFailures(sql, answers)
  if (rounds.size === 0) return new Map()
  await noteSubscriptionFailure(sql, lane)
  const runs = await countFailureRuns(sql, lane, [...rounds.keys()])
  const verdicts = { retry: [] as { id: string, seconds: number }[], wait: [] as string[], dead: [] as { id: string, reason: DeadReason }[] }
  let disabledBy: ClaimedDelivery | undefined
  for (const { delivery, result } of answers) {
    const round = rounds.get(delivery.id)
    if (round === undefined) continue
    const verdict = judgeFailure({ subscription, round, run: runs.get(delivery.id) ?? 0 })
    if (verdict.next === 'wait') verdicts.wait.push(delivery.id)
    else if (verdict.next === 'dead') verdicts.dead.push({ id: delivery.id, reason: verdict.reason })
    else verdicts.retry.push({ id: delivery.id, seconds: secondsUntilRetry(round, result, runtime, now) })
    if (verdict.next !== 'dead' || !verdict.disables) continue
    // What is judged after it finds the subscription disabled.
    subscription = 'inactive'
    disabledBy = delivery
  }
  await suspendDeliveries(sql, lane, verdicts.wait)
  await endDeliveries(sql, lane, verdicts.dead)
  if (disabledBy) await disable(sql, disabledBy, runtime, now)
  await enqueueDeliveriesTx(sql, boss, await scheduleDeliveries(sql, lane, verdicts.retry))
  return new Map<string, DeliveryOutcome>([
    ...verdicts.wait.map((id) => [id, 'waiting'] as const), ...verdicts.dead.map(({ id }) => [id, 'dead'] as const),
    ...verdicts.retry.map(({ id }) => [id, 'retrying'] as const),
  ])
}

function secondsUntilRetry(round: number, { status, headers }: WebhookAnswer, runtime: Pick<Runtime, 'randomBytes'>, now: Date): number {
  return Math.max(retryDelaySeconds(round, uniform(runtime)), requestedDelaySeconds(status, headers?.['retry-after'], now))
}

/** A random number in [0, 1) with 48 bits. */
function uniform({ randomBytes }: Pick<Runtime, 'randomBytes'>): number {
  return randomBytes(6).readUIntBE(0, 6) / 2 ** 48
}

async function disable(
  sql: Sql, { tenant_id, merchant_id, subscription_id, attempt_id }: ClaimedDelivery, runtime: ResultSettings['runtime'], now: Date,
): Promise<void> {
  await disableWebhookSubscription(sql, { tenant_id, merchant_id, id: subscription_id }, 'failures', now)
  await insertAuditEvent(sql, {
    id: newId(runtime), tenantId: tenant_id, merchantId: merchant_id, actor: 'worker', action: 'payments.webhook_subscription.disabled',
    target: `webhook_subscription:${subscription_id}`, requestId: attempt_id, keyPrefix: null, changedKeys: ['active'], createdAt: now,
  })
}
