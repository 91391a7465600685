import { findPaymentAttempt } from '../db/payments/paymentAttempts.ts'
import { lockPaymentIntent } from '../db/payments/paymentIntents.ts'
import type { PaymentIntentRow } from '../db/payments/paymentIntents.ts'
import { findProviderOperation, releaseProviderOperation } from '../db/payments/providerOperations.ts'
import type { ProviderOperationRow } from '../db/payments/providerOperations.ts'
import type { Database, Sql } from '../db/sql.ts'
import type { Charge, ChargeRequest, Decline, PaymentProvider } from '../providers/paymentProvider.ts'
import { applyPayment } from './applyPayment.ts'
import type { EventSettings } from './paymentEvents.ts'

/** What a provider said to a request for a charge. */
export type ChargeAnswer =
  | { outcome: 'charged', charge: Charge }
  | { outcome: 'declined', decline: Decline }
  | { outcome: 'unknown' }

/** Waits of the sweep after a try without an answer, in seconds; the last one repeats (decision 3.3). */
const retrySeconds = [30, 120, 600, 3600] as const

/** The provider of an operation. Throws for one that this deployment does not know. */
export function providerOf(providers: ReadonlyMap<string, PaymentProvider>, { provider }: { provider: string }): PaymentProvider {
  const found = providers.get(provider)
  if (!found) throw new Error(`the provider ${provider} is not configured`)
  return found
}

/**
 * Asks for the charge of an operation (decision 3.3). Only the first holder, `fresh`, need not ask whether the provider
 * knows the key; the request is sent again, the same, only when it does not.
 */
export async function askForCharge(provider: PaymentProvider, operation: ProviderOperationRow, fresh: boolean): Promise<ChargeAnswer> {
  if (!fresh) {
    const found = await provider.findCharge(operation.id)
    if (found.outcome === 'found') return { outcome: 'charged', charge: found.charge }
    if (found.outcome === 'unknown') return { outcome: 'unknown' }
  }
  return provider.createCharge(storedRequest(operation))
}

/** The request as it was stored before the first call: the same key is never sent with another. */
function storedRequest({ request }: ProviderOperationRow): ChargeRequest {
  const stored = request as Omit<ChargeRequest, 'expiresAt'> & { expiresAt: string | null }
  return { ...stored, expiresAt: stored.expiresAt === null ? null : new Date(stored.expiresAt) }
}

/** Gives the lease back after a try without an answer. */
export async function releaseOperation(operation: ProviderOperationRow, database: Database): Promise<void> {
  const seconds = retrySeconds[Math.min(operation.holders, retrySeconds.length) - 1] ?? retrySeconds[0]
  await database.query((sql) => releaseProviderOperation(sql, operation, seconds))
}

/** Records every payment that the provider tells of beside a charge. */
export async function applyPayments(
  sql: Sql, operation: ProviderOperationRow, { payments }: Charge, settings: EventSettings, now: Date,
): Promise<void> {
  for (const payment of payments.filter(({ reversed }) => !reversed)) await applyPayment(sql, operation, payment, settings, now)
}

/** The intent of an operation, locked. */
export async function lockIntentOf(sql: Sql, { tenant_id, merchant_id, intent_id }: ProviderOperationRow): Promise<PaymentIntentRow> {
  const intent = await lockPaymentIntent(sql, tenant_id, merchant_id, intent_id)
  if (!intent) throw new Error(`payment intent ${intent_id} is not there`)
  return intent
}

/** The attempt of an operation, as it now is. */
export async function readAttemptOf(sql: Sql, { tenant_id, merchant_id, attempt_id }: ProviderOperationRow) {
  const attempt = await findPaymentAttempt(sql, tenant_id, merchant_id, attempt_id)
  if (!attempt) throw new Error(`payment attempt ${attempt_id} is not there`)
  return attempt
}

/** Whether anybody has finished the operation. */
export async function isFinished({ tenant_id, merchant_id, id }: ProviderOperationRow, database: Database): Promise<boolean> {
  const row = await database.query((sql) => findProviderOperation(sql, tenant_id, merchant_id, id))
  return row?.recovery_point !== 'started'
}
