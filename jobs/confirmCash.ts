import { findPendingAttempt } from '../db/payments/attemptMoves.ts'
import { findPaymentAttempt, insertPaymentAttempt } from '../db/payments/paymentAttempts.ts'
import type { PaymentAttemptRow } from '../db/payments/paymentAttempts.ts'
import { countPayment } from '../db/payments/paymentIntents.ts'
import type { PaymentIntentRow } from '../db/payments/paymentIntents.ts'
import { newId } from '../db/ids.ts'
import type { Sql } from '../db/sql.ts'
import type { ChannelCode } from '../domain/channels.ts'
import { recordPayment } from './applyPayment.ts'
import type { CreationSettings } from './chargeCreation.ts'
import { newAttempt } from './chargeRequest.ts'
import { endAttemptsNow } from './endAttempts.ts'
import { writePaymentCompleted } from './paymentEvents.ts'

const cash: ChannelCode = 'cash'

/** Whether an intent may be paid in cash. */
export function takesCash({ allowed_channels, channel }: Pick<PaymentIntentRow, 'allowed_channels' | 'channel'>): boolean {
  return (channel === null ? allowed_channels : [channel]).some((code) => code === cash)
}

/**
 * Records cash that was taken for an open, locked intent that takes it (decisions 3.4 and 3.14), in the caller's
 * transaction. The cash attempt is made where the payer had not chosen it. Answers the intent right after the payment.
 */
export async function confirmCash(
  sql: Sql, intent: PaymentIntentRow, amountIdr: number, settings: CreationSettings, now: Date,
): Promise<PaymentIntentRow> {
  const attempt = await cashAttempt(sql, intent, settings, now)
  const paid = await countPayment(sql, intent, attempt.id, amountIdr, now, false, now)
  if (!paid) throw new Error(`payment intent ${intent.id} ended although it is locked`)
  const recorded = await recordPayment(sql, attempt, { reference: null, amountIdr, completedAt: now }, settings, now)
  if (paid.status === 'paid') await endAttemptsNow(sql, paid, settings)
  await writePaymentCompleted(sql, paid, recorded, {}, settings, now)
  return paid
}

async function cashAttempt(sql: Sql, intent: PaymentIntentRow, settings: CreationSettings, now: Date): Promise<PaymentAttemptRow> {
  const pending = await findPendingAttempt(sql, intent, cash)
  if (pending) return pending
  const attemptId = newId(settings.runtime)
  await insertPaymentAttempt(sql, newAttempt(intent, { attemptId, operationId: null, provider: null, channel: cash, now }, settings))
  const made = await findPaymentAttempt(sql, intent.tenant_id, intent.merchant_id, attemptId)
  if (!made) throw new Error(`payment attempt ${attemptId} is not there`)
  return made
}
