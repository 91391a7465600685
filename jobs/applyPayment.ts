import {
  completePaymentAttempt, findPaymentAttempt, insertRecordedPayment, isPaymentRecorded,
} from '../db/payments/paymentAttempts.ts'
import type { PaymentAttemptRow } from '../db/payments/paymentAttempts.ts'
import { addOverpayment, countPayment, lockPaymentIntent, revealPaymentIntent } from '../db/payments/paymentIntents.ts'
import type { PaymentIntentRow } from '../db/payments/paymentIntents.ts'
import type { ProviderOperationRow } from '../db/payments/providerOperations.ts'
import { newId } from '../db/ids.ts'
import type { Sql } from '../db/sql.ts'
import { isPastDeadline } from '../domain/paymentIntentView.ts'
import { endAttemptsNow } from './endAttempts.ts'
import { expireIntent } from './expireIntents.ts'
import { writeIntentEvent, writePaymentCompleted } from './paymentEvents.ts'
import type { EventSettings } from './paymentEvents.ts'

/** Money that a provider proves to have taken. */
export interface ProvenPayment {
  /** The provider's reference of this payment. */
  reference: string
  amountIdr: number
  /** The provider's time. */
  completedAt: Date
}

/** What became of a provider's word: it changed something, was known before, or does not fit. */
export type AppliedOutcome = 'applied' | 'repeated' | 'mismatched' | 'ignored'

/**
 * Applies a proof of payment (decisions 3.3, 3.4 and 3.7) in the caller's transaction. A hidden intent becomes visible
 * and its creation is told first; an open one past its deadline expires first; money beyond what the intent takes is
 * overpaid_idr. A wrong amount on a single-use intent changes nothing and is answered `mismatched`.
 */
export async function applyPayment(
  sql: Sql, operation: ProviderOperationRow, payment: ProvenPayment, settings: EventSettings, now: Date,
): Promise<AppliedOutcome> {
  const { tenant_id, merchant_id, intent_id, attempt_id, provider } = operation
  const locked = await lockPaymentIntent(sql, tenant_id, merchant_id, intent_id)
  const attempt = await findPaymentAttempt(sql, tenant_id, merchant_id, attempt_id)
  if (!locked || !attempt) throw new Error(`provider operation ${operation.id} has no intent or attempt`)
  if (await isPaymentRecorded(sql, tenant_id, merchant_id, provider, payment.reference)) return 'repeated'
  if (locked.max_uses === 1 && payment.amountIdr !== attempt.amount_idr) return 'mismatched'
  const shown = locked.visible ? locked : await revealIntent(sql, locked, attempt, settings, now)
  const intent = isPastDeadline(shown, now) ? await expireIntent(sql, shown, settings, now) : shown
  const paid = await countPayment(sql, intent, attempt.id, payment.amountIdr, payment.completedAt, intent.status !== 'open', now)
  const recorded = await recordPayment(sql, attempt, payment, settings, now)
  if (paid?.status === 'paid') await endAttemptsNow(sql, paid, settings)
  if (paid) await writePaymentCompleted(sql, paid, recorded, attempt.fields, settings, now)
  else await addOverpayment(sql, intent, payment.amountIdr)
  return 'applied'
}

/** Shows a hidden, locked intent and tells its creation first. */
export async function revealIntent(
  sql: Sql, { tenant_id, merchant_id, id }: PaymentIntentRow, attempt: PaymentAttemptRow, settings: EventSettings, now: Date,
): Promise<PaymentIntentRow> {
  const intent = await revealPaymentIntent(sql, tenant_id, merchant_id, id)
  if (!intent) throw new Error(`payment intent ${id} was revealed although it is locked`)
  await writeIntentEvent(sql, 'payment_intent.created', intent, attempt.fields, settings, now)
  return intent
}

/** An attempt that has taken a payment, or is made to take several, gets the next one recorded beside it. */
export async function recordPayment(
  sql: Sql, attempt: PaymentAttemptRow, payment: Omit<ProvenPayment, 'reference'> & { reference: string | null },
  { runtime }: Pick<EventSettings, 'runtime'>, now: Date,
): Promise<PaymentAttemptRow> {
  const { amountIdr, reference, completedAt } = payment
  const own = attempt.standing ? undefined : await completePaymentAttempt(sql, attempt, amountIdr, reference, completedAt)
  const row = own ?? await insertRecordedPayment(sql, attempt, { id: newId(runtime), amountIdr, reference, completedAt }, now)
  if (!row) throw new Error(`payment ${String(reference)} could not be recorded`)
  return row
}
