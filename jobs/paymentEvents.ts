import { insertEvent } from '../db/payments/events.ts'
import type { PaymentAttemptRow } from '../db/payments/paymentAttempts.ts'
import type { PaymentIntentRow } from '../db/payments/paymentIntents.ts'
import { newId } from '../db/ids.ts'
import type { Sql } from '../db/sql.ts'
import { eventBody } from '../domain/events.ts'
import { paymentAttemptView, paymentIntentView } from '../domain/paymentIntentView.ts'
import type { PaymentIntentView, ViewSettings } from '../domain/paymentIntentView.ts'
import type { Runtime } from '../domain/runtime.ts'
import type { EventKind } from '../domain/webhookEvents.ts'
import type { Boss } from './boss.ts'
import { enqueueDeliveriesTx } from './deliveryJobs.ts'

/** What writing an event needs to know of the deployment. */
export interface EventSettings {
  views: ViewSettings
  runtime: Pick<Runtime, 'now' | 'randomBytes'>
  /** Where the deliveries' jobs go. */
  boss: Boss
}

type IntentEvent = 'payment_intent.created' | 'payment_intent.expired'

/** Writes an event about an intent, in the transaction of the change. Answers the view that stands in it. */
export async function writeIntentEvent(
  sql: Sql, kind: IntentEvent, intent: PaymentIntentRow, fields: Readonly<Record<string, string>> | null, settings: EventSettings, now: Date,
): Promise<PaymentIntentView> {
  const view = paymentIntentView(intent, fields, settings.views, now)
  await writeIntentViewEvent(sql, kind, intent, view, settings, now)
  return view
}

/** The same with a view that was made already. Its first statement is sent at once, before those of whatever is called next. */
export function writeIntentViewEvent(
  sql: Sql, kind: IntentEvent, intent: PaymentIntentRow, view: PaymentIntentView, settings: EventSettings, now: Date,
): Promise<void> {
  return write(sql, kind, intent, { intent: view }, settings, now)
}

/** Writes payment.completed: the payment, and the intent right after it. */
export async function writePaymentCompleted(
  sql: Sql, intent: PaymentIntentRow, attempt: PaymentAttemptRow, fields: Readonly<Record<string, string>>, settings: EventSettings, now: Date,
): Promise<void> {
  const view = paymentIntentView(intent, fields, settings.views, now)
  await write(sql, 'payment.completed', intent, { intent: view, attempt: paymentAttemptView(attempt) }, settings, now)
}

/** Writes payment.failed: the attempt that was declined, and the intent right after it. */
export async function writePaymentFailed(
  sql: Sql, intent: PaymentIntentRow, attempt: PaymentAttemptRow, settings: EventSettings, now: Date,
): Promise<void> {
  // What an open intent shows of a failed attempt is no way to pay it.
  const view = paymentIntentView(intent, intent.status === 'open' ? {} : attempt.fields, settings.views, now)
  await write(sql, 'payment.failed', intent, { intent: view, attempt: paymentAttemptView(attempt) }, settings, now)
}

/** An event of any kind, before it has an id. */
export interface EventDraft {
  kind: EventKind
  tenantId: string
  merchantId: string
  intentId: string | null
  /** A snapshot; it is never rendered anew (decision 6.1). */
  data: object
}

/**
 * Writes an event, its deliveries and a job for each, all in the transaction of the change (decision 6.3). Without a
 * subscription to its kind there is no job. Throws DatabaseUnavailable when there is one and the queue is away.
 */
export async function writeEvent(
  sql: Sql, { kind, tenantId, merchantId, intentId, data }: EventDraft, { boss, runtime, views }: EventSettings, now: Date,
): Promise<void> {
  const id = newId(runtime)
  const body = eventBody({ id, kind, createdAt: now, environment: views.environment, merchantId, data })
  const deliveries = await insertEvent(sql, { id, tenantId, merchantId, kind, intentId, body, createdAt: now }, newId(runtime))
  await enqueueDeliveriesTx(sql, boss, deliveries)
}

function write(sql: Sql, kind: EventKind, intent: PaymentIntentRow, data: object, settings: EventSettings, now: Date): Promise<void> {
  return writeEvent(sql, { kind, tenantId: intent.tenant_id, merchantId: intent.merchant_id, intentId: intent.id, data }, settings, now)
}
