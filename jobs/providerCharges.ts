import { findPaymentAttempt } from '../db/payments/paymentAttempts.ts'
import { lockPaymentIntent } from '../db/payments/paymentIntents.ts'
import type { PaymentIntentRow } from '../db/payments/paymentIntents.ts'
import { findProviderOperation, releaseProviderOperation } from '../db/payments/providerOperations.ts'
import type { ProviderOperationRow } from '../db/payments/providerOperations.ts'
import type { Database, Sql } from '../db/sql.ts'
import { isUnsettled } from '../providers/paymentProvider.ts'
import type {
  ChargeIdentity, ChargeRequest, CreateChargeResult, ExpireChargeResult, FindChargeResult, KnownCharge, PaymentProvider, Unsettled,
} from '../providers/paymentProvider.ts'

/** Waits of the sweep after a try without an answer, in seconds; the last one repeats (decision 3.3). */
const retrySeconds = [30, 120, 600, 3600] as const

/** The provider of an operation. Throws for one that this deployment does not know. */
export function providerOf(providers: ReadonlyMap<string, PaymentProvider>, { provider }: { provider: string }): PaymentProvider {
  const found = providers.get(provider)
  if (!found) throw new Error(`the provider ${provider} is not configured`)
  return found
}

/** Who is asked for new charges; null when this deployment has nobody. */
export function chargingProvider(
  { provider, providers }: { provider: string | null, providers: ReadonlyMap<string, PaymentProvider> },
): PaymentProvider | null {
  return provider === null ? null : providerOf(providers, { provider })
}

/**
 * Asks for the charge of an operation (decision 3.3). Only the first holder, `fresh`, need not ask whether the provider
 * knows the key; the request is sent again, the same, only when it does not, and when there is time left for it.
 */
export async function askForCharge(
  provider: PaymentProvider, operation: ProviderOperationRow, fresh: boolean, timeLeft: TimeLeft | undefined,
): Promise<CreateChargeResult> {
  const charge = chargeOf(operation, null)
  if (!fresh && findsByKey(provider, charge)) {
    const found = await provider.findCharge(charge, timeLeft?.())
    if (found.outcome === 'found') return { outcome: 'charged', charge: found.charge }
    if (isUnsettled(found)) return found
  }
  const withinMs = timeLeft?.()
  if (withinMs !== undefined && withinMs < leastCallMs) return { outcome: 'unknown', reason: 'no time is left to ask for the charge' }
  return provider.createCharge(storedRequest(operation), withinMs)
}

/** Milliseconds that whoever waits for an answer has left, now. */
export type TimeLeft = () => number

/** What a client waits at most, with room for the last transaction: nothing is open for more than 10 s. */
const answerWithinMs = 9500
/** Nobody is called for less. */
const leastCallMs = 400

/** The time that is left of a request that came at `since`. */
export function timeLeftSince(since: Date, { now }: { now(): Date }): TimeLeft {
  return () => Math.max(0, answerWithinMs - (now().getTime() - since.getTime()))
}

/**
 * The charge of an operation whose creation was not answered. Where the provider finds none by our key, the same
 * creation once more is the only question there is: the key makes it once.
 */
export async function findUnansweredCharge(provider: PaymentProvider, operation: ProviderOperationRow): Promise<FindChargeResult> {
  const charge = chargeOf(operation, null)
  if (findsByKey(provider, charge)) return provider.findCharge(charge)
  const made = await provider.createCharge(storedRequest(operation))
  if (made.outcome === 'charged') return { outcome: 'found', charge: made.charge }
  return isUnsettled(made) ? made : { outcome: 'absent' }
}

/** The charge of an operation, by what is known of it; `reference` is null until its creation was answered. */
export function chargeOf<Reference extends string | null>(
  operation: Pick<ProviderOperationRow, 'id' | 'request'>, reference: Reference,
): ChargeIdentity & { reference: Reference } {
  return { key: operation.id, reference, channel: storedRequest(operation).channel }
}

/** The charge of an operation as it is now. Absent too where it was never answered and cannot be found by our key: this makes none. */
export function findKnownCharge(provider: PaymentProvider, operation: ProviderOperationRow, reference: string | null): Promise<FindChargeResult> {
  const charge = chargeOf(operation, reference)
  return reference !== null || findsByKey(provider, charge) ? provider.findCharge(charge) : Promise.resolve({ outcome: 'absent' })
}

/** Expires the charge where that can be done; where not, it lives until its time is up, and this tells how it is. */
export async function endCharge(provider: PaymentProvider, charge: KnownCharge): Promise<ExpireChargeResult> {
  if (provider.capabilities[charge.channel]?.canExpire !== false) return provider.expireCharge(charge)
  const found = await provider.findCharge(charge)
  return found.outcome === 'found' ? { outcome: 'ended', charge: found.charge } : found
}

function findsByKey({ capabilities }: PaymentProvider, { channel }: ChargeIdentity): boolean {
  return capabilities[channel]?.canFindByKey !== false
}

/** The merchant's reference as the provider was told it; the intent may have lost it since. */
export function sentReference(operation: Pick<ProviderOperationRow, 'request'>): string | null {
  return storedRequest(operation).merchantReference
}

/** The request as it was stored before the first call: the same key is never sent with another. */
function storedRequest({ request }: Pick<ProviderOperationRow, 'request'>): ChargeRequest {
  const stored = request as Omit<ChargeRequest, 'expiresAt'> & { expiresAt: string | null }
  return { ...stored, expiresAt: stored.expiresAt === null ? null : new Date(stored.expiresAt) }
}

/** Gives the lease back after a try that settled nothing. A provider that asks for time gets it, an hour at most. */
export async function releaseOperation(operation: ProviderOperationRow, database: Database, answer: Unsettled): Promise<void> {
  const asked = answer.outcome === 'retryable' ? Math.min(answer.retryAfterSeconds ?? 0, retrySeconds[3]) : 0
  const seconds = Math.max(asked, retrySeconds[Math.min(operation.holders, retrySeconds.length) - 1] ?? retrySeconds[0])
  await database.query((sql) => releaseProviderOperation(sql, operation, seconds))
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
