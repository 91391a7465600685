import { attemptOf, endAttempts, expire, isPast, isRecorded, openCase, record, reveal, tell, withAttempt } from './world.ts'
import type { Attempt, Payment, Plan, World } from './world.ts'
import type { ChargeView, Letter } from './network.ts'

// What an intent makes of what its provider tells.

/** What must be paid; null where the payer of a static QR says how much. */
function dueOf({ amount, uses }: Plan, { channel }: Attempt): number | null {
  return channel === 'qris' && uses !== 1 ? null : amount
}

/** Money that the provider proves to have taken over the charge of an attempt. */
export function learnPayment(world: World, plan: Plan, at: number, payment: Payment, now: number): World {
  const attempt = world.attempts[at]
  if (!attempt || isRecorded(world, payment.reference)) return world
  const amount = dueOf(plan, attempt)
  if (amount !== null && payment.amount !== amount) return openCase(world, 'payment_mismatch', payment.reference, amount, payment.amount)
  const shown = reveal(world, plan, now)
  const due = isPast(shown, now) ? expire(shown, now) : shown
  if (due.status === 'paid' || due.status === 'reversed') return overpay(due, at, payment)
  const uses = due.uses + 1
  const isLast = plan.uses !== 0 && uses === plan.uses
  // It expired while nobody saw it, and still is.
  const hasToTell = !world.shown && world.status === 'expired' && !isLast
  const counted: World = {
    ...due, uses, paid: due.paid + payment.amount, late: due.late || due.status !== 'open',
    ...(isLast && { status: 'paid', paidAt: payment.completedAt, current: at }),
  }
  const [recorded, where] = record(hasToTell ? { ...counted, events: tell(due, now, 'payment_intent.expired').events } : counted, at, payment)
  const told = tell(recorded, now, 'payment.completed', recorded.attempts[where])
  const ended = isLast ? endAttempts(told) : told
  return shown.nameless && !world.shown ? openCase(ended, 'duplicate_reference', payment.reference, plan.amount, payment.amount) : ended
}

/** Money beyond what the intent takes: no event, but a case. */
function overpay(world: World, at: number, payment: Payment): World {
  const [recorded] = record({ ...world, overpaid: world.overpaid + payment.amount }, at, payment)
  return openCase(recorded, 'overpayment', payment.reference, 0, payment.amount)
}

/** Money that the provider took back. What was never reported before never counts. */
export function learnReversal(world: World, at: number, payment: Payment): World {
  const paid = world.attempts.findIndex(({ reference, status }) => reference === payment.reference && ['succeeded', 'reversed'].includes(status))
  if (world.attempts[paid]?.status === 'reversed') return world
  const [recorded, where] = paid === -1 ? record(world, at, payment) : [world, paid]
  const taken = withAttempt(recorded, where, { status: 'reversed' })
  const isLast = paid !== -1 && taken.status === 'paid' && !taken.attempts.some(({ status }) => status === 'succeeded')
  const ended: World = isLast ? { ...taken, status: 'reversed' } : taken
  return openCase(ended, 'reversal', payment.reference, world.attempts[paid]?.amount ?? null, payment.amount)
}

/** Every payment that a charge tells of, or those given. */
export function learnPayments(world: World, plan: Plan, charge: ChargeView, now: number, payments = charge.payments): World {
  const at = attemptOf(world, charge.key)
  return payments.reduce((after, { reference, amount_idr: amount, completed_at, reversed }) => {
    const payment = { reference, amount, completedAt: Date.parse(completed_at) }
    return reversed ? learnReversal(after, at, payment) : learnPayment(after, plan, at, payment, now)
  }, world)
}

/** The payer, bank or issuer said no. The intent fails where nothing is left to be tried: at a point of sale there is no page to choose on again. */
export function learnDecline(world: World, plan: Plan, key: string, code: string, now: number): World {
  const at = attemptOf(world, key)
  const attempt = world.attempts[at]
  if (!attempt || attempt.standing || attempt.status !== 'pending') return world
  const failed = reveal(withAttempt(world, at, { status: 'failed', failure: code }), plan, now)
  const isOver = failed.status === 'open' && !isPast(failed, now) && plan.uses === 1 && plan.channels.length === 1
    && (plan.pos || ['card_3ds', 'paylater_a'].includes(attempt.channel))
  const ended: World = isOver ? { ...failed, status: 'failed' } : failed
  return tell(ended, now, 'payment.failed', ended.attempts[at])
}

/** The provider let the charge expire: the intent goes with it when the payer has no other way. */
export function learnExpiry(world: World, plan: Plan, key: string, now: number): World {
  const at = attemptOf(world, key)
  const attempt = world.attempts[at]
  if (attempt?.status !== 'pending') return world
  const ended = withAttempt(world, at, { status: 'expired' })
  if (!ended.shown || ended.status !== 'open') return ended
  const wasOnlyWay = plan.channels.length === 1 && (plan.uses === 1 || attempt.standing) && !ended.attempts.some(({ status }) => status === 'pending')
  return isPast(ended, now) || wasOnlyWay ? expire(ended, now) : ended
}

/** Whatever a charge tells of: its payments, and its end. */
export function learnCharge(world: World, plan: Plan, charge: ChargeView, now: number, payments = charge.payments): World {
  const paid = learnPayments(world, plan, charge, now, payments)
  if (charge.status === 'failed') return learnDecline(paid, plan, charge.key, charge.decline?.code ?? 'declined', now)
  return charge.status === 'expired' ? learnExpiry(paid, plan, charge.key, now) : paid
}

/**
 * What a callback and the charge agree on, and all else that the charge tells of. A callback about money that does not
 * fit moves nothing of that payment, and opens a case.
 */
export function learnCallback(world: World, plan: Plan, letter: Letter, charge: ChargeView, now: number): World {
  const attempt = world.attempts[attemptOf(world, charge.key)]
  if (!attempt) return world
  const { amount, currency, merchantReference, paymentReference, status } = letter
  const claimed = charge.payments.filter(({ reference }) => reference === paymentReference)
  const others = charge.payments.filter(({ reference }) => reference !== paymentReference)
  const due = dueOf(plan, attempt)
  const fits = !['paid', 'reversed'].includes(status)
    || (merchantReference === charge.merchant_reference && currency === 'IDR' && (due === null || amount === due) && claimed.every((payment) => payment.amount_idr === amount))
  if (fits) return learnCharge(world, plan, charge, now, [...claimed, ...others])
  return learnCharge(openCase(world, 'payment_mismatch', String(paymentReference), due, amount), plan, charge, now, others)
}

/** A callback about money that the provider never confirmed ends as a case. */
export function giveUpCallback(world: World, { amount, paymentReference, status }: Letter): World {
  return ['paid', 'reversed'].includes(status) ? openCase(world, 'payment_unconfirmed', String(paymentReference), null, amount) : world
}
