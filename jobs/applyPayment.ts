import {
  completePaymentAttempt, findPaymentAttempt, insertRecordedPayment, isPaymentRecorded,
} from '../db/payments/paymentAttempts.ts'
import type { PaymentAttemptRow } from '../db/payments/paymentAttempts.ts'
import { addOverpayment, countPayment, lockPaymentIntent, revealPaymentIntent } from '../db/payments/paymentIntents.ts'
import type { PaymentIntentRow } from '../db/payments/paymentIntents.ts'
import type { ProviderOperationRow } from '../db/payments/providerOperations.ts'
import { newId } from '../db/ids.ts'
import type { Sql } from '../db/sql.ts'
import { takesAnyAmount } from '../domain/channels.ts'
import { isPastDeadline } from '../domain/paymentIntentView.ts'
import { endAttemptsNow } from './endAttempts.ts'
import { expireIntent } from './expireIntents.ts'
import { openCase } from './openCase.ts'
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
 * overpaid_idr, with a case. A hidden intent whose reference is another's since goes without it, with a case too. A
 * wrong amount, but on a static QR, changes nothing and is answered `mismatched`.
 */
export async function applyPayment(
  sql: Sql, operation: ProviderOperationRow, payment: ProvenPayment, settings: EventSettings, now: Date,
): Promise<AppliedOutcome> {
  const { tenant_id, merchant_id, intent_id, attempt_id, provider } = operation
  const locked = await lockPaymentIntent(sql, tenant_id, merchant_id, intent_id)
  const attempt = await findPaymentAttempt(sql, tenant_id, merchant_id, attempt_id)
  if (!locked || !attempt) throw new Error(`provider operation ${operation.id} has no intent or attempt`)
  if (await isPaymentRecorded(sql, tenant_id, merchant_id, provider, payment.reference)) return 'repeated'
  if (payment.amountIdr !== locked.amount_idr && !takesAnyAmount(attempt.channel, locked.max_uses)) return 'mismatched'
  const shown = locked.visible ? locked : await revealIntent(sql, locked, attempt, settings, now)
  const intent = isPastDeadline(shown, now) ? await expireIntent(sql, shown, settings, now) : shown
  const paid = await countPayment(sql, intent, attempt.id, payment.amountIdr, payment.completedAt, intent.status !== 'open', now)
  const recorded = await recordPayment(sql, attempt, payment, settings, now)
  // It expired while nobody saw it, and takes more than this payment: what it is now has not been told yet.
  if (!locked.visible && locked.status === 'expired' && paid?.status === 'expired') await writeIntentEvent(sql, 'payment_intent.expired', intent, attempt.fields, settings, now)
  if (paid?.status === 'paid') await endAttemptsNow(sql, paid, settings)
  if (paid) await writePaymentCompleted(sql, paid, recorded, attempt.fields, settings, now)
  else await recordOverpayment(sql, operation, intent, recorded, payment, settings, now)
  if (locked.reference_id !== shown.reference_id) await tellLostReference(sql, operation, locked, recorded, payment, settings, now)
  return 'applied'
}

/** Money beyond what a locked intent takes: kept apart from what was paid, and shown to somebody who can give it back. */
async function recordOverpayment(
  sql: Sql, operation: ProviderOperationRow, intent: PaymentIntentRow, recorded: PaymentAttemptRow, { reference, amountIdr }: ProvenPayment,
  settings: EventSettings, now: Date,
): Promise<void> {
  await addOverpayment(sql, intent, amountIdr)
  await openCase(sql, {
    kind: 'overpayment', operation, attemptId: recorded.id, reference, expectedIdr: 0, receivedIdr: amountIdr,
    detail: `The payment intent was ${intent.status} already. ${amountIdr} rupiah more were paid over ${recorded.channel}.`,
  }, settings, now)
}

/** Money for an intent whose reference another has taken since: an order that may be paid twice. */
async function tellLostReference(
  sql: Sql, operation: ProviderOperationRow, { amount_idr, reference_id }: PaymentIntentRow, recorded: PaymentAttemptRow,
  { reference, amountIdr }: ProvenPayment, settings: EventSettings, now: Date,
): Promise<void> {
  await openCase(sql, {
    kind: 'duplicate_reference', operation, attemptId: recorded.id, reference, expectedIdr: amount_idr, receivedIdr: amountIdr,
    detail: `The payment intent was given up before it was paid, and its reference ${String(reference_id)} is another's since. It is shown without it.`,
  }, settings, now)
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
