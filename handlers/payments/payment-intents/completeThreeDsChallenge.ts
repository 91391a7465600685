import { findNewestAttempt } from '../../../db/payments/attemptMoves.ts'
import { findIntentForAnyone } from '../../../db/payments/intentMoves.ts'
import { findPaymentAttempt } from '../../../db/payments/paymentAttempts.ts'
import type { PaymentAttemptRow } from '../../../db/payments/paymentAttempts.ts'
import type { Configuration } from '../../../domain/configuration.ts'
import { channelCodes, channelOf } from '../../../domain/channels.ts'
import { isAttemptPastDeadline } from '../../../domain/paymentIntentView.ts'
import { moveInSandbox } from '../../../jobs/sandboxMove.ts'
import type { Handler } from '../handler.ts'
import { assertOpen } from './openIntent.ts'

type Verdict = 'approved' | 'declined'

const challenged = channelCodes.filter((code) => channelOf(code).sandbox === '3ds-callback')
const refusal = { code: 'CHALLENGE_DECLINED', message: 'The 3-D-Secure challenge was declined.' }

export const completeThreeDsChallenge: Handler<'completeThreeDsChallenge'> = async ({ app, db, fail, now, params, query, reply }) => {
  const intent = await db.query((sql) => findIntentForAnyone(sql, params.id)) ?? fail('not_found')
  const verdict = verdictOf(query.auth_code, app.configuration) ?? fail('invalid_auth_code', { fields: { auth_code: 'is not a known code' } })
  const result = (made: Verdict, message: string) => reply(200, { intent_id: intent.id, result: made, message })
  const attempt = await db.query((sql) => findNewestAttempt(sql, intent, challenged))
  if (attempt && madeBy(attempt) === verdict) return result(verdict, messages[verdict])
  assertOpen(intent, now, fail)
  if (attempt?.status !== 'pending' || attempt.charge_reference === null || isAttemptPastDeadline(attempt, now)) {
    return fail('invalid_state', { message: 'The payment intent is open, but its payer is not at a card challenge.' })
  }
  const outcome = await moveInSandbox(intent, attempt, (sandbox, reference) =>
    verdict === 'approved' ? sandbox.complete(reference) : sandbox.decline(reference, refusal), app.creation)
  if (outcome === 'unknown') fail('unavailable', { message: 'The acquirer has not answered.', headers: { 'Retry-After': '2' } })
  if (outcome === 'overtaken') return result(verdict === 'approved' ? 'declined' : 'approved', 'The challenge was answered before; the acquirer reports it later or never.')
  if (outcome === 'unreported') return result(verdict, 'The challenge is answered; the acquirer reports the payment later or never.')
  const moved = await db.query((sql) => findPaymentAttempt(sql, attempt.tenant_id, attempt.merchant_id, attempt.id))
  const made = moved && madeBy(moved)
  if (made === verdict) return result(made, messages[made])
  // An amount with a meaning, after an approval: the issuer says no all the same. Else another code came first.
  if (verdict === 'approved' && made === undefined) return result('declined', 'The challenge was approved, but the payment was not made.')
  return fail('invalid_state', { message: `The challenge was ${String(made ?? moved?.status)} already.` })
}

const messages = {
  approved: 'The challenge was approved and the payment is made.',
  declined: 'The challenge was declined and the payment failed.',
} as const

/** What a code means; no acquirer is connected in production, so none is known there. */
function verdictOf(code: string, { BAYAR_ENV, SANDBOX_APPROVE_CODE, SANDBOX_DECLINE_CODE }: Configuration): Verdict | undefined {
  if (BAYAR_ENV !== 'sandbox') return undefined
  return code === SANDBOX_APPROVE_CODE ? 'approved' : code === SANDBOX_DECLINE_CODE ? 'declined' : undefined
}

/** The verdict that an attempt ended by. */
function madeBy({ status, failure_code }: PaymentAttemptRow): Verdict | undefined {
  if (status === 'succeeded' || status === 'reversed') return 'approved'
  return status === 'failed' && failure_code === refusal.code ? 'declined' : undefined
}
