import { lockPaymentIntent } from '../../db/payments/paymentIntents.ts'
import { findPaymentAttempt } from '../../db/payments/paymentAttempts.ts'
import type { PaymentAttemptRow } from '../../db/payments/paymentAttempts.ts'
import { findPublicCheckout } from '../../db/payments/publicCheckouts.ts'
import type { PublicCheckoutRow } from '../../db/payments/publicCheckouts.ts'
import { isAttemptPastDeadline, isPastDeadline } from '../../domain/paymentIntentView.ts'
import { confirmCash } from '../../jobs/confirmCash.ts'
import { expireIntent } from '../../jobs/expireIntents.ts'
import { moveInSandbox } from '../../jobs/sandboxMove.ts'
import type { SandboxMoves } from '../../providers/paymentProvider.ts'
import type { PaymentsApp } from './handler.ts'

/** What a payer or provider does in the sandbox; `late` pays once the time is over, `abandon` is the Cancel of a card challenge. */
export type CheckoutMove = 'complete' | 'decline' | 'expire' | 'late' | 'abandon'

/**
 * The sandbox of the hosted page: moves the attempt that a page shows, through the simulator and its signed callback.
 * It takes what the page's visitor has, shortcode and attempt, and no credential; there is none in production.
 */
export interface CheckoutSandbox {
  /** The test codes of a card challenge. */
  codes: { approve: string, decline: string }
  /** `unreported`: the provider says nothing, for now or for good. `refused`: there is nothing to move so. */
  move(shortcode: string, attemptId: string, move: CheckoutMove): Promise<'applied' | 'unreported' | 'refused'>
}

const moves: Record<Exclude<CheckoutMove, 'late'>, (sandbox: SandboxMoves, reference: string) => ReturnType<SandboxMoves['complete']>> = {
  complete: (sandbox, reference) => sandbox.complete(reference),
  decline: (sandbox, reference) => sandbox.decline(reference, { code: 'PAYMENT_DECLINED', message: 'The payment was declined.' }),
  expire: (sandbox, reference) => sandbox.expire(reference),
  abandon: (sandbox, reference) => sandbox.decline(reference, { code: 'CHALLENGE_ABANDONED', message: 'The payer left the 3-D-Secure challenge.' }),
}

/** Null in production. */
export function checkoutSandbox({ configuration, creation }: PaymentsApp): CheckoutSandbox | null {
  if (configuration.BAYAR_ENV !== 'sandbox') return null
  const { database, runtime } = creation
  return {
    codes: { approve: configuration.SANDBOX_APPROVE_CODE, decline: configuration.SANDBOX_DECLINE_CODE },
    async move(shortcode, attemptId, move) {
      const now = runtime.now()
      const intent = await database.query((sql) => findPublicCheckout(sql, shortcode, attemptId))
      if (intent?.status !== 'open' || isPastDeadline(intent, now)) return 'refused'
      const attempt = await database.query((sql) => findPaymentAttempt(sql, intent.tenant_id, intent.merchant_id, attemptId))
      if (attempt?.status !== 'pending' || isAttemptPastDeadline(attempt, now)) return 'refused'
      if (attempt.provider === null) return move === 'complete' ? takeCash(intent) : 'refused'
      if (attempt.charge_reference === null) return 'refused'
      if (move === 'late') return payLate(intent, attempt)
      const outcome = await moveInSandbox(intent, attempt, moves[move], creation)
      return outcome === 'applied' ? 'applied' : 'unreported'
    },
  }

  /** The payment's time runs out, at the provider and here; then the money comes. */
  async function payLate(intent: PublicCheckoutRow, attempt: PaymentAttemptRow): Promise<'applied' | 'unreported' | 'refused'> {
    const { tenant_id, merchant_id, id } = intent
    const now = runtime.now()
    if (await moveInSandbox(intent, attempt, moves.expire, creation) !== 'applied') return 'unreported'
    const ended = await database.tx(async (sql) => {
      const locked = await lockPaymentIntent(sql, tenant_id, merchant_id, id)
      return locked?.status === 'open' ? expireIntent(sql, locked, creation, now) : locked
    })
    const expired = await database.query((sql) => findPaymentAttempt(sql, tenant_id, merchant_id, attempt.id))
    if (ended?.status !== 'expired' || !expired) return 'refused'
    const outcome = await moveInSandbox(ended, expired, (sandbox, reference) => sandbox.payLate(reference), creation)
    return outcome === 'applied' ? 'applied' : 'unreported'
  }

  async function takeCash({ tenant_id, merchant_id, id }: PublicCheckoutRow): Promise<'applied' | 'refused'> {
    const now = runtime.now()
    return database.tx(async (sql) => {
      const intent = await lockPaymentIntent(sql, tenant_id, merchant_id, id)
      if (intent?.status !== 'open' || isPastDeadline(intent, now)) return 'refused'
      await confirmCash(sql, intent, intent.amount_idr, creation, now)
      return 'applied'
    })
  }
}
