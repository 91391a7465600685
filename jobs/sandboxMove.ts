import { findPaymentAttempt } from '../db/payments/paymentAttempts.ts'
import type { PaymentAttemptRow } from '../db/payments/paymentAttempts.ts'
import { findPaymentIntent } from '../db/payments/paymentIntents.ts'
import type { PaymentIntentRow } from '../db/payments/paymentIntents.ts'
import { isUnsettled } from '../providers/paymentProvider.ts'
import type { SandboxMoveResult, SandboxMoves } from '../providers/paymentProvider.ts'
import type { CreationSettings } from './chargeCreation.ts'

/**
 * How a sandbox move stands: its callback is applied, the provider says nothing about it for now or for good, the charge
 * had ended otherwise before and the provider says nothing about that, or nobody knows yet.
 */
export type SandboxOutcome = 'applied' | 'unreported' | 'overtaken' | 'unknown'

/** Looks come close at first, since a callback is mostly applied within milliseconds of its answer. */
const firstLooksMs = [5, 10, 15, 20, 25, 25] as const
const lookEveryMs = 100
const looksAtMost = 55
/** Each look may itself have to wait for the database. */
const looksForMs = 5000

/**
 * Moves a pending attempt in the payer's stead (decision 3.13): by the provider's simulated payer, and its signed
 * callback. `intent` and `attempt` are as the caller has judged them: whatever has changed since counts as
 * applied. Waits, outside transactions and connection slots, until the callback is applied, at most 5 s.
 */
export async function moveInSandbox(
  intent: PaymentIntentRow, attempt: PaymentAttemptRow, move: (sandbox: SandboxMoves, reference: string) => Promise<SandboxMoveResult>, settings: CreationSettings,
): Promise<SandboxOutcome> {
  const sandbox = attempt.provider === null ? undefined : settings.providers.get(attempt.provider)?.sandbox
  if (!sandbox || attempt.charge_reference === null) throw new Error(`payment attempt ${attempt.id} has no charge that a sandbox could move`)
  const before = progressOf(intent, attempt)
  const moved = await move(sandbox, attempt.charge_reference)
  if (isUnsettled(moved)) return 'unknown'
  if (!moved.reported) return moved.outcome === 'moved' ? 'unreported' : 'overtaken'
  const until = settings.runtime.now().getTime() + looksForMs
  for (let look = 0; look < looksAtMost && settings.runtime.now().getTime() < until; look += 1) {
    if (await presentProgress(attempt, settings) !== before) return 'applied'
    await settings.runtime.sleep(firstLooksMs[look] ?? lookEveryMs)
  }
  return 'unknown'
}

/** Changes with everything that a callback about the attempt can lead to. */
function progressOf(intent: PaymentIntentRow | undefined, attempt: PaymentAttemptRow | undefined): string {
  return [attempt?.status, intent?.status, intent?.uses, intent?.overpaid_idr].join()
}

async function presentProgress({ tenant_id, merchant_id, intent_id, id }: PaymentAttemptRow, { database }: CreationSettings): Promise<string> {
  const attempt = await database.query((sql) => findPaymentAttempt(sql, tenant_id, merchant_id, id))
  const intent = await database.query((sql) => findPaymentIntent(sql, { tenantId: tenant_id, merchantIds: [merchant_id] }, intent_id))
  return progressOf(intent, attempt)
}
