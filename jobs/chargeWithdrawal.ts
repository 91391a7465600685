import { finishWithdrawal, takeDueWithdrawals } from '../db/payments/chargeWithdrawals.ts'
import type { ChargeWithdrawalRow } from '../db/payments/chargeWithdrawals.ts'
import { endPaymentAttempt, findPaymentAttempt } from '../db/payments/paymentAttempts.ts'
import { findProviderOperation } from '../db/payments/providerOperations.ts'
import type { ProviderOperationRow } from '../db/payments/providerOperations.ts'
import { isUnsettled } from '../providers/paymentProvider.ts'
import type { ExpireChargeResult, PaymentProvider } from '../providers/paymentProvider.ts'
import { applyPayments } from './applyCharge.ts'
import type { CreationSettings } from './chargeCreation.ts'
import { chargeOf, endCharge, findUnansweredCharge, lockIntentOf, providerOf } from './providerCharges.ts'

/** Wait before a withdrawal without an answer is tried again, in seconds; four times as long each time. */
const firstRetrySeconds = 30

/** Takes withdrawals of a provider that are due; each is tried again later unless `withdrawCharge` ends it. */
export function dueWithdrawals({ database }: CreationSettings, provider: string, most: number): Promise<ChargeWithdrawalRow[]> {
  return database.query((sql) => takeDueWithdrawals(sql, provider, most, firstRetrySeconds))
}

/**
 * Expires a charge at the provider (decision 3.2). Money that had arrived before is recorded. Without an answer nothing
 * changes and the withdrawal stays due.
 */
export async function withdrawCharge(withdrawal: ChargeWithdrawalRow, settings: CreationSettings): Promise<void> {
  const { tenant_id, merchant_id, attempt_id } = withdrawal
  const { database, providers, runtime } = settings
  const attempt = await database.query((sql) => findPaymentAttempt(sql, tenant_id, merchant_id, attempt_id))
  const key = attempt?.provider_key ?? null
  const operation = key === null ? undefined : await database.query((sql) => findProviderOperation(sql, tenant_id, merchant_id, key))
  if (!attempt || !operation) throw new Error(`payment attempt ${attempt_id} has no operation to withdraw`)
  const ended = await end(providerOf(providers, operation), operation, attempt.charge_reference)
  if (isUnsettled(ended)) return
  const now = runtime.now()
  const conclude = (): Promise<boolean> => database.tx(async (sql) => {
    await lockIntentOf(sql, operation)
    const { more } = ended.outcome === 'ended' ? await applyPayments(sql, operation, ended.charge, settings, now) : { more: false }
    if (more) return false
    await endPaymentAttempt(sql, tenant_id, merchant_id, attempt_id, 'expired', null)
    await finishWithdrawal(sql, withdrawal, now)
    return true
  })
  // More payments than fit into one transaction are recorded in several.
  for (let done = false; !done;) done = await conclude()
}

/** Looked up first where the provider's reference is not known. */
async function end(provider: PaymentProvider, operation: ProviderOperationRow, reference: string | null): Promise<ExpireChargeResult> {
  if (reference !== null) return endCharge(provider, chargeOf(operation, reference))
  const found = await findUnansweredCharge(provider, operation)
  return found.outcome === 'found' ? endCharge(provider, chargeOf(operation, found.charge.reference)) : found
}
