import { findMismatchedPayments } from '../db/payments/cases.ts'
import { findRecordedPayments } from '../db/payments/paymentAttempts.ts'
import type { PaymentAttemptRow } from '../db/payments/paymentAttempts.ts'
import type { PaymentIntentRow } from '../db/payments/paymentIntents.ts'
import type { ProviderOperationRow } from '../db/payments/providerOperations.ts'
import type { Sql } from '../db/sql.ts'
import { takesAnyAmount } from '../domain/channels.ts'
import type { Charge, ChargePayment } from '../providers/paymentProvider.ts'
import { applyPayment } from './applyPayment.ts'
import type { AppliedOutcome } from './applyPayment.ts'
import { expireAttempt } from './expireAttempt.ts'
import { failAttempt } from './failAttempt.ts'
import { openCase } from './openCase.ts'
import type { EventSettings } from './paymentEvents.ts'
import { lockIntentOf, readAttemptOf } from './providerCharges.ts'
import { reversePayment } from './reversePayment.ts'

/** What became of the payments that a provider shows beside a charge. */
export interface AppliedPayments {
  /** By the provider's reference. */
  outcomes: ReadonlyMap<string, AppliedOutcome>
  /** Whether some were left for another transaction. */
  more: boolean
}

export interface AppliedCharge extends AppliedPayments {
  /** What became of its end; null where it has not failed or expired. */
  ended: AppliedOutcome | null
}

/** As many new payments as fit into one transaction with room to spare. */
const mostPayments = 50

/**
 * Applies what a provider says of a charge when it is asked, in the caller's transaction: every payment, counted once by
 * its reference, whatever was taken back, and the end of a charge that failed or expired. Of a charge that is not the
 * operation's own, in its currency and under its reference, nothing is applied, and its money is shown to somebody.
 */
export async function applyCharge(
  sql: Sql, operation: ProviderOperationRow, charge: Charge, settings: EventSettings, now: Date,
): Promise<AppliedCharge> {
  const intent = await lockIntentOf(sql, operation)
  const attempt = await readAttemptOf(sql, operation)
  const misfit = misfitOfCharge(charge, operation, attempt)
  if (misfit !== null) {
    await showMisfit(sql, operation, charge, dueOf(intent, attempt), misfit, settings, now)
    return { outcomes: new Map(), ended: null, more: false }
  }
  const payments = await applyPayments(sql, operation, charge, settings, now)
  return { ...payments, ended: await applyEnd(sql, operation, charge, settings, now) }
}

/**
 * Records every payment that the provider tells of beside a charge, and takes back what it took back. Money of a wrong
 * amount or in another currency changes nothing and opens a case.
 */
export async function applyPayments(
  sql: Sql, operation: ProviderOperationRow, charge: Pick<Charge, 'currency' | 'payments'>, settings: EventSettings, now: Date,
): Promise<AppliedPayments> {
  const { payments } = charge
  if (payments.length === 0) return { outcomes: new Map(), more: false }
  const intent = await lockIntentOf(sql, operation)
  const foreign = misfitOfCurrency(charge)
  if (foreign !== null) {
    await showMisfit(sql, operation, charge, dueOf(intent, await readAttemptOf(sql, operation)), foreign, settings, now)
    return { outcomes: new Map(), more: false }
  }
  const { tenant_id, merchant_id, provider } = operation
  const recorded = await findRecordedPayments(sql, tenant_id, merchant_id, provider, payments.map(({ reference }) => reference))
  const outcomes = new Map<string, AppliedOutcome>(payments.map(({ reference }) => [reference, 'repeated']))
  const news = payments.filter(({ reference, reversed }) => {
    const known = recorded.get(reference)
    return known === undefined || (known === 'succeeded' && reversed)
  })
  const due = dueOf(intent, await readAttemptOf(sql, operation))
  const { right = [], wrong = [] } = Object.groupBy(news, ({ amountIdr, reversed }) => reversed || due === null || amountIdr === due ? 'right' : 'wrong')
  for (const payment of right.slice(0, mostPayments)) outcomes.set(payment.reference, await applyOne(sql, operation, payment, settings, now))
  for (const { reference } of right.slice(mostPayments)) outcomes.delete(reference)
  for (const { reference } of wrong) outcomes.set(reference, 'mismatched')
  const leftOver = await showWrongAmounts(sql, operation, wrong, due, settings, now)
  return { outcomes, more: leftOver || right.length > mostPayments }
}

function applyOne(
  sql: Sql, operation: ProviderOperationRow, payment: ChargePayment, settings: EventSettings, now: Date,
): Promise<AppliedOutcome> {
  return payment.reversed ? reversePayment(sql, operation, payment, settings, now) : applyPayment(sql, operation, payment, settings, now)
}

/** Opens a case for each payment of a wrong amount that has none. True when some are left for another transaction. */
async function showWrongAmounts(
  sql: Sql, operation: ProviderOperationRow, wrong: readonly ChargePayment[], due: number | null, settings: EventSettings, now: Date,
): Promise<boolean> {
  if (wrong.length === 0) return false
  const { tenant_id, merchant_id, provider } = operation
  const known = await findMismatchedPayments(sql, tenant_id, merchant_id, provider, wrong.map(({ reference }) => reference))
  const unknown = wrong.filter(({ reference }) => !known.has(reference))
  for (const payment of unknown.slice(0, mostPayments)) {
    const detail = `The provider reports a payment of ${payment.amountIdr} rupiah where ${String(due)} are due.`
    await openMismatch(sql, operation, payment, due, detail, settings, now)
  }
  return unknown.length > mostPayments
}

async function applyEnd(
  sql: Sql, operation: ProviderOperationRow, { status, decline }: Charge, settings: EventSettings, now: Date,
): Promise<AppliedOutcome | null> {
  if (status === 'failed') return failAttempt(sql, operation, decline?.code ?? 'declined', settings, now)
  if (status === 'expired') return expireAttempt(sql, operation, settings, now)
  return null
}

/** Why a charge is not the operation's own, in plain words; null when it is. */
export function misfitOfCharge(
  { currency, key, reference }: Charge, operation: ProviderOperationRow, { charge_reference }: PaymentAttemptRow,
): string | null {
  if (key !== operation.id) return `The provider answers with a charge of another key, ${key}.`
  if (charge_reference !== null && reference !== charge_reference) {
    return `The provider answers with the charge ${reference}; this attempt's is ${charge_reference}.`
  }
  return misfitOfCurrency({ currency })
}

function misfitOfCurrency({ currency }: Pick<Charge, 'currency'>): string | null {
  return currency === 'IDR' ? null : `The provider's charge is in ${currency}; only IDR is taken.`
}

/** Opens a case for each payment on a charge that is not the operation's own. */
async function showMisfit(
  sql: Sql, operation: ProviderOperationRow, { currency, payments }: Pick<Charge, 'currency' | 'payments'>, due: number | null, misfit: string,
  settings: EventSettings, now: Date,
): Promise<void> {
  for (const payment of payments.slice(0, mostPayments)) {
    await openMismatch(sql, operation, payment, due, `${misfit} Nothing of it is recorded.`, settings, now, currency)
  }
}

/**
 * What a payment must be of, in whole rupiah; null where any amount is taken (decision 3.5). By the intent: an attempt
 * has the amount of whatever was recorded in it.
 */
export function dueOf({ amount_idr, max_uses }: PaymentIntentRow, { channel }: PaymentAttemptRow): number | null {
  return takesAnyAmount(channel, max_uses) ? null : amount_idr
}

/** Shows money that does not fit to somebody, once for each payment. */
export async function openMismatch(
  sql: Sql, operation: ProviderOperationRow, { reference, amountIdr }: Pick<ChargePayment, 'reference' | 'amountIdr'>, expectedIdr: number | null,
  detail: string, settings: EventSettings, now: Date, currency = 'IDR',
): Promise<void> {
  await openCase(sql, { kind: 'payment_mismatch', operation, reference, expectedIdr, receivedIdr: amountIdr, currency, detail }, settings, now)
}
