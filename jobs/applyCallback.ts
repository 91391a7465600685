import type { CallbackOutcome } from '../db/payments/providerCallbacks.ts'
import { findProviderOperationByKey } from '../db/payments/providerOperations.ts'
import type { ProviderOperationRow } from '../db/payments/providerOperations.ts'
import { idPattern } from '../db/ids.ts'
import type { Sql } from '../db/sql.ts'
import type { Callback } from '../providers/paymentProvider.ts'
import { applyPayment } from './applyPayment.ts'
import type { AppliedOutcome } from './applyPayment.ts'
import { expireAttempt } from './expireAttempt.ts'
import { failAttempt } from './failAttempt.ts'
import type { EventSettings } from './paymentEvents.ts'
import { reversePayment } from './reversePayment.ts'

/** What became of a callback, as it is kept beside it. */
export interface CallbackVerdict {
  outcome: CallbackOutcome
  detail: string | null
  intentId: string | null
}

/** Applies what a verified callback says to the attempt whose key it echoes, in the caller's transaction. */
export async function applyCallback(sql: Sql, provider: string, callback: Callback, settings: EventSettings, now: Date): Promise<CallbackVerdict> {
  const operation = idPattern.test(callback.key) ? await findProviderOperationByKey(sql, provider, callback.key) : undefined
  if (!operation) return { outcome: 'unmatched', detail: null, intentId: null }
  const { intent_id: intentId } = operation
  if (callback.currency !== 'IDR') return { outcome: 'mismatched', detail: `currency ${callback.currency}`, intentId }
  const outcome = await move(sql, operation, callback, settings, now)
  return { outcome, detail: outcome === 'mismatched' ? `amount ${callback.amountIdr}` : `status ${callback.status}`, intentId }
}

function move(sql: Sql, operation: ProviderOperationRow, callback: Callback, settings: EventSettings, now: Date): Promise<AppliedOutcome> {
  const payment = {
    reference: callback.paymentReference ?? callback.reference, amountIdr: callback.amountIdr, completedAt: callback.completedAt ?? now,
  }
  switch (callback.status) {
    case 'paid': return applyPayment(sql, operation, payment, settings, now)
    case 'reversed': return reversePayment(sql, operation, payment, settings, now)
    case 'failed': return failAttempt(sql, operation, callback.decline?.code ?? 'declined', settings, now)
    case 'expired': return expireAttempt(sql, operation, settings, now)
    case 'pending': return Promise.resolve('ignored')
  }
}
