import { insertEvent } from '../db/payments/events.ts'
import type { PaymentAttemptRow } from '../db/payments/paymentAttempts.ts'
import type { PaymentIntentRow } from '../db/payments/paymentIntents.ts'
import { newId } from '../db/ids.ts'
import type { Sql } from '../db/sql.ts'
import { eventBody } from '../domain/events.ts'
import { paymentAttemptView, paymentIntentView } from '../domain/paymentIntentView.ts'
import type { PaymentIntentView, ViewSettings } from '../domain/paymentIntentView.ts'
import type { Runtime } from '../domain/runtime.ts'

/** What writing an event needs to know of the deployment. */
export interface EventSettings {
  views: ViewSettings
  runtime: Pick<Runtime, 'now' | 'randomBytes'>
}

type IntentEvent = 'payment_intent.created' | 'payment_intent.expired'

/** Writes an event about an intent, in the transaction of the change. Answers the view that stands in it. */
export async function writeIntentEvent(
  sql: Sql, kind: IntentEvent, intent: PaymentIntentRow, fields: Readonly<Record<string, string>> | null, settings: EventSettings, now: Date,
): Promise<PaymentIntentView> {
  const view = paymentIntentView(intent, fields, settings.views, now)
  await write(sql, kind, intent, { intent: view }, settings, now)
  return view
}

/** Writes payment.completed: the payment, and the intent right after it. */
export async function writePaymentCompleted(
  sql: Sql, intent: PaymentIntentRow, attempt: PaymentAttemptRow, fields: Readonly<Record<string, string>>, settings: EventSettings, now: Date,
): Promise<void> {
  const view = paymentIntentView(intent, fields, settings.views, now)
  await write(sql, 'payment.completed', intent, { intent: view, attempt: paymentAttemptView(attempt) }, settings, now)
}

async function write(
  sql: Sql, kind: string, intent: PaymentIntentRow, data: object, { views: { environment }, runtime }: EventSettings, now: Date,
): Promise<void> {
  const id = newId(runtime)
  const body = eventBody({ id, kind, createdAt: now, environment, merchantId: intent.merchant_id, data })
  await insertEvent(sql, { id, tenantId: intent.tenant_id, merchantId: intent.merchant_id, kind, intentId: intent.id, body, createdAt: now })
}
