import { findPaidAttempt, hasAttempt, reversePaymentAttempt } from '../db/payments/attemptMoves.ts'
import { reversePaymentIntent } from '../db/payments/intentMoves.ts'
import { findPaymentAttempt } from '../db/payments/paymentAttempts.ts'
import { lockPaymentIntent } from '../db/payments/paymentIntents.ts'
import type { ProviderOperationRow } from '../db/payments/providerOperations.ts'
import type { Sql } from '../db/sql.ts'
import { recordPayment } from './applyPayment.ts'
import type { AppliedOutcome, ProvenPayment } from './applyPayment.ts'
import { openCase } from './openCase.ts'
import type { EventSettings } from './paymentEvents.ts'

/**
 * Applies a provider's word that it took a payment back (decision 3.1), in the caller's transaction: the attempt is
 * reversed, and a paid intent with it once nothing that was paid remains. Sums are kept as they were; no kind of event
 * tells it, but a case does. A payment that was not reported before is recorded as reversed and never counts.
 */
export async function reversePayment(
  sql: Sql, operation: ProviderOperationRow, payment: ProvenPayment, settings: EventSettings, now: Date,
): Promise<AppliedOutcome> {
  const { tenant_id, merchant_id, intent_id, attempt_id, provider } = operation
  const intent = await lockPaymentIntent(sql, tenant_id, merchant_id, intent_id)
  const attempt = await findPaymentAttempt(sql, tenant_id, merchant_id, attempt_id)
  if (!intent || !attempt) throw new Error(`provider operation ${operation.id} has no intent or attempt`)
  const paid = await findPaidAttempt(sql, tenant_id, merchant_id, provider, payment.reference)
  if (paid?.status === 'reversed') return 'repeated'
  const taken = paid ?? await recordPayment(sql, attempt, payment, settings, now)
  await reversePaymentAttempt(sql, taken)
  if (paid && !await hasAttempt(sql, intent, 'succeeded')) await reversePaymentIntent(sql, intent, now)
  await openCase(sql, {
    kind: 'reversal', operation, attemptId: taken.id, reference: payment.reference, expectedIdr: paid?.amount_idr ?? null, receivedIdr: payment.amountIdr,
    detail: `The provider took back a payment over ${taken.channel}${paid ? '' : ' that it had not reported before; it never counted'}.`,
  }, settings, now)
  return 'applied'
}
