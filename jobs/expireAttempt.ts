import { hasAttempt } from '../db/payments/attemptMoves.ts'
import { endPaymentAttempt } from '../db/payments/paymentAttempts.ts'
import type { PaymentAttemptRow } from '../db/payments/paymentAttempts.ts'
import { lockPaymentIntent } from '../db/payments/paymentIntents.ts'
import type { PaymentIntentRow } from '../db/payments/paymentIntents.ts'
import type { ProviderOperationRow } from '../db/payments/providerOperations.ts'
import type { Sql } from '../db/sql.ts'
import { isPastDeadline } from '../domain/paymentIntentView.ts'
import type { AppliedOutcome } from './applyPayment.ts'
import { expireIntent } from './expireIntents.ts'
import type { EventSettings } from './paymentEvents.ts'

/**
 * Applies a provider's word that a charge has expired, in the caller's transaction: the attempt expires, and the intent
 * with it when the payer has no other way to pay, or its deadline is past.
 */
export async function expireAttempt(
  sql: Sql, operation: ProviderOperationRow, settings: EventSettings, now: Date,
): Promise<AppliedOutcome> {
  const { tenant_id, merchant_id, intent_id, attempt_id } = operation
  const intent = await lockPaymentIntent(sql, tenant_id, merchant_id, intent_id)
  if (!intent) throw new Error(`provider operation ${operation.id} has no intent`)
  const attempt = await endPaymentAttempt(sql, tenant_id, merchant_id, attempt_id, 'expired', null)
  if (!attempt) return 'repeated'
  // A hidden intent ends by its creation, which asks the provider too.
  if (!intent.visible || intent.status !== 'open') return 'applied'
  if (isPastDeadline(intent, now) || await wasOnlyWay(sql, intent, attempt)) await expireIntent(sql, intent, settings, now)
  return 'applied'
}

async function wasOnlyWay(sql: Sql, intent: PaymentIntentRow, attempt: PaymentAttemptRow): Promise<boolean> {
  if (intent.channel === null && intent.allowed_channels.length > 1) return false
  if (intent.max_uses !== 1 && !attempt.standing) return false
  return !await hasAttempt(sql, intent, 'pending')
}
