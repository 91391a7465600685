import type { CallbackOutcome } from '../db/payments/providerCallbacks.ts'
import type { PaymentAttemptRow } from '../db/payments/paymentAttempts.ts'
import type { ProviderOperationRow } from '../db/payments/providerOperations.ts'
import type { Sql } from '../db/sql.ts'
import type { Charge, ChargeCallback, ChargePayment } from '../providers/paymentProvider.ts'
import { applyCharge, dueOf, misfitOfCharge, openMismatch } from './applyCharge.ts'
import type { AppliedCharge } from './applyCharge.ts'
import type { EventSettings } from './paymentEvents.ts'
import { lockIntentOf, readAttemptOf, sentReference } from './providerCharges.ts'

/** What became of a callback, as it is kept beside it. */
export interface CallbackVerdict {
  outcome: Exclude<CallbackOutcome, 'received'>
  detail: string | null
}

/**
 * Applies what a callback and the provider's answer to our own question agree on, in the caller's transaction. The
 * answer's figures are what is recorded, and all else that it shows as well; of a payment that the callback tells of and
 * the answer does not show, nothing moves (`unconfirmed`). A callback that does not fit the attempt moves nothing of the
 * payment it tells of and opens a case (`mismatched`): only what the provider shows when it is asked again later does.
 */
export async function applyCallback(
  sql: Sql, operation: ProviderOperationRow, callback: ChargeCallback, charge: Charge, settings: EventSettings, now: Date,
): Promise<CallbackVerdict> {
  const intent = await lockIntentOf(sql, operation)
  const attempt = await readAttemptOf(sql, operation)
  const reference = paymentOf(callback)
  const claimed = charge.payments.find((payment) => payment.reference === reference)
  const others = charge.payments.filter((payment) => payment !== claimed)
  const misfit = misfitOfCharge(charge, operation, attempt) ?? misfitOf(callback, charge, claimed, operation, dueOf(intent, attempt))
  if (misfit === null) {
    const applied = await applyCharge(sql, operation, { ...charge, payments: claimed ? [claimed, ...others] : others }, settings, now)
    return verdictOf(callback, charge, claimed, attempt, applied)
  }
  if (tellsOfMoney(callback)) {
    const money = { reference, amountIdr: callback.amountIdr }
    await openMismatch(sql, operation, money, dueOf(intent, attempt), misfit, settings, now, callback.currency)
  }
  await applyCharge(sql, operation, { ...charge, payments: others }, settings, now)
  return { outcome: 'mismatched', detail: misfit }
}

/** Whether a callback tells of money that came or went: then somebody must know when it cannot be believed. */
export function tellsOfMoney({ status }: ChargeCallback): boolean {
  return status === 'paid' || status === 'reversed'
}

/** The reference of the payment that a callback tells of. */
export function paymentOf({ paymentReference, reference }: ChargeCallback): string {
  return paymentReference ?? reference
}

/** Why a callback does not fit the attempt, in plain words; null when it fits. */
function misfitOf(
  callback: ChargeCallback, charge: Charge, claimed: ChargePayment | undefined, operation: ProviderOperationRow, due: number | null,
): string | null {
  const { amountIdr, currency, merchantReference, reference } = callback
  if (reference !== charge.reference) return `The callback names the charge ${reference}; this attempt's is ${charge.reference}.`
  if (merchantReference !== null && merchantReference !== sentReference(operation)) {
    return `The callback names the reference ${merchantReference}, which is not the payment's.`
  }
  if (!tellsOfMoney(callback)) return null
  if (currency !== 'IDR') return `The callback tells of ${amountIdr} in ${currency}; only IDR is taken.`
  if (due !== null && amountIdr !== due) return `The callback tells of ${amountIdr} rupiah where ${due} are due.`
  if (claimed && amountIdr !== claimed.amountIdr) return `The callback tells of ${amountIdr} rupiah; asked, the provider says ${claimed.amountIdr}.`
  return null
}

function verdictOf(
  callback: ChargeCallback, charge: Charge, claimed: ChargePayment | undefined, attempt: PaymentAttemptRow, applied: AppliedCharge,
): CallbackVerdict {
  const unconfirmed: CallbackVerdict = { outcome: 'unconfirmed', detail: `it says ${callback.status}; asked, the provider says ${charge.status}` }
  if (tellsOfMoney(callback)) {
    const outcome = claimed && applied.outcomes.get(claimed.reference)
    if (!outcome || (callback.status === 'reversed' && !claimed.reversed)) return unconfirmed
    return { outcome, detail: claimed.reversed && callback.status === 'paid' ? 'taken back since' : `status ${callback.status}` }
  }
  if (charge.status === callback.status && applied.ended) return { outcome: applied.ended, detail: `status ${callback.status}` }
  // A declined payment leaves a standing charge as it was; another end, or money, has overtaken the callback.
  if (charge.status !== 'pending' || attempt.standing) return { ...unconfirmed, outcome: 'ignored' }
  return unconfirmed
}
