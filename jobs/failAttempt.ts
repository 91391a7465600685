import { endPaymentAttempt, findPaymentAttempt } from '../db/payments/paymentAttempts.ts'
import type { PaymentAttemptRow } from '../db/payments/paymentAttempts.ts'
import { endPaymentIntent, lockPaymentIntent } from '../db/payments/paymentIntents.ts'
import type { PaymentIntentRow } from '../db/payments/paymentIntents.ts'
import type { ProviderOperationRow } from '../db/payments/providerOperations.ts'
import type { Sql } from '../db/sql.ts'
import { channelOf, isChannelCode } from '../domain/channels.ts'
import { isPastDeadline } from '../domain/paymentIntentView.ts'
import type { AppliedOutcome } from './applyPayment.ts'
import { revealIntent } from './applyPayment.ts'
import { writePaymentFailed } from './paymentEvents.ts'
import type { EventSettings } from './paymentEvents.ts'

/**
 * Applies a provider's word that an attempt was declined (decision 3.8), in the caller's transaction: the attempt fails
 * and payment.failed tells it. The intent stays open while another channel or a retry remains; with a card or
 * pay-later as its one channel, and at a point of sale, it fails. A hidden intent becomes visible first.
 */
export async function failAttempt(
  sql: Sql, operation: ProviderOperationRow, code: string, settings: EventSettings, now: Date,
): Promise<AppliedOutcome> {
  const { tenant_id, merchant_id, intent_id, attempt_id } = operation
  const locked = await lockPaymentIntent(sql, tenant_id, merchant_id, intent_id)
  const attempt = await findPaymentAttempt(sql, tenant_id, merchant_id, attempt_id)
  if (!locked || !attempt) throw new Error(`provider operation ${operation.id} has no intent or attempt`)
  // A standing attempt outlives a payment that was declined.
  if (attempt.standing) return 'ignored'
  const failed = await endPaymentAttempt(sql, tenant_id, merchant_id, attempt_id, 'failed', code)
  if (!failed) return 'repeated'
  const shown = locked.visible ? locked : await revealIntent(sql, locked, attempt, settings, now)
  const ended = shown.status === 'open' && !isPastDeadline(shown, now) && endsByDecline(shown, failed)
    ? await endPaymentIntent(sql, tenant_id, merchant_id, intent_id, 'failed', now) : undefined
  await writePaymentFailed(sql, ended ?? shown, failed, settings, now)
  return 'applied'
}

/** Whether nothing remains to be tried: the one channel of a single-use intent is a card or pay-later, or has no page to choose it on again. */
function endsByDecline({ allowed_channels, channel, max_uses }: PaymentIntentRow, attempt: PaymentAttemptRow): boolean {
  if (max_uses !== 1 || (channel === null && allowed_channels.length > 1)) return false
  if (channel !== null) return true
  return isChannelCode(attempt.channel) && ['card', 'paylater'].includes(channelOf(attempt.channel).kind)
}
