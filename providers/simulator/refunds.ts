import { createHash } from 'node:crypto'
import { channelOf } from '../../domain/channels.ts'
import { refundReasons } from '../../domain/refundReasons.ts'
import { isObject } from '../readJson.ts'
import { plainBehaviour, takeBehaviour, underBehaviour } from './behaviours.ts'
import type { Behaviour } from './behaviours.ts'
import { refundCallbackBody, sendNotice } from './callbacks.ts'
import type { CallbackReport } from './callbacks.ts'
import { callbackAddress, integer, invalid, optionalText, readKey, text } from './chargeRequest.ts'
import { Refusal } from './exchange.ts'
import type { Served } from './exchange.ts'
import type { StoredCharge, StoredPayment, StoredRefund } from './ledger.ts'
import { magicOf } from './magicAmounts.ts'
import type { RefundOutcome } from './magicAmounts.ts'
import type { Shop } from './shop.ts'
import { plainly } from './telling.ts'
import type { Telling } from './telling.ts'
import { refundReferenceOf } from './typedFields.ts'

type Asked = Pick<StoredRefund, 'key' | 'charge_key' | 'payment_reference' | 'amount_idr' | 'reason' | 'note' | 'destination' | 'callback_url'>
type Words = NonNullable<StoredRefund['decline']>

const DAY_MS = 86_400_000
const declined: Words = { code: 'REFUND_DECLINED', message: 'The refund was declined.' }
const failed: Words = { code: 'REFUND_FAILED', message: 'The receiving account could not be credited.' }

/** What a move of a refund led to. */
export interface MovedRefund {
  readonly refund: StoredRefund
  readonly callbacks: readonly CallbackReport[]
}

/**
 * POST /refunds. The same key gives the same refund again, declined ones too; another request under it is refused
 * (409). What is given back, or on its way, never exceeds the payment: judged and written in one turn of the loop.
 */
export async function createRefund(shop: Shop, body: unknown): Promise<Served> {
  const asked = readAsked(body)
  const fingerprint = createHash('sha256').update(JSON.stringify(asked)).digest('hex')
  const known = shop.ledger.refundByKey(asked.key)
  if (known !== undefined) {
    if (known.fingerprint === fingerprint) return answerOf(known, 200)
    throw new Refusal(409, 'key_reused', 'another refund was made under this key')
  }
  const charge = shop.ledger.byKey(asked.charge_key)
  const about = { on: 'refund' as const, key: asked.key, merchantReference: charge?.merchant_reference ?? null, channel: charge?.channel ?? null }
  const outcome = magicOf(asked.amount_idr)?.refund ?? null
  const behaviour = takeBehaviour(shop.queue, about) ?? (outcome === 'time-out' ? plainBehaviour('time-out', { after: true }) : null)
  return underBehaviour(behaviour, shop.runtime.sleep, () => make(shop, { ...asked, fingerprint }, charge, behaviour, outcome))
}

/** Ends a pending refund, and says so. */
export async function endRefund(shop: Shop, refund: StoredRefund, words: Words | null, telling: Telling = plainly): Promise<MovedRefund> {
  if (refund.status !== 'pending') throw new Refusal(409, 'invalid_state', `the refund is ${refund.status}`)
  return tellOfRefund(shop, ended(shop, refund, words), telling)
}

/** Ends the refunds that end by themselves, `waitMs` after they were accepted. */
export function endDueRefunds(shop: Shop, waitMs: number): Promise<MovedRefund[]> {
  const by = shop.runtime.now().getTime() - waitMs
  const due = shop.ledger.allRefunds().filter(({ status, ends_as: end, created_at: at }) => status === 'pending' && end !== null && Date.parse(at) <= by)
  return Promise.all(due.map((refund) => endRefund(shop, refund, refund.ends_as === 'failed' ? failed : null)))
}

/** A notice about the refund as it now is, but for what the telling says. */
export async function tellOfRefund(shop: Shop, refund: StoredRefund, telling: Telling): Promise<MovedRefund> {
  const saved = shop.ledger.saveRefund({ ...refund, notices: refund.notices + 1 })
  const merchantReference = shop.ledger.byKey(saved.charge_key)?.merchant_reference ?? null
  const notice = { about: { key: saved.key, reference: saved.reference, merchantReference }, url: saved.callback_url, body: refundCallbackBody(saved) }
  return { refund: saved, callbacks: await sendNotice(shop.callbacks, notice, telling) }
}

/** The refund as the API tells it. */
export function refundView({ fingerprint: _, notices: __, callback_url: ___, ends_as: ____, ...view }: StoredRefund): Record<string, unknown> {
  return { ...view, currency: 'IDR' }
}

function make(
  shop: Shop, asked: Asked & Pick<StoredRefund, 'fingerprint'>, charge: StoredCharge | undefined, behaviour: Behaviour | null, outcome: RefundOutcome | null,
): Served {
  const { ledger, runtime } = shop
  const words = wordsAgainst(shop, asked, charge, behaviour, outcome)
  const refund: StoredRefund = {
    ...asked, reference: refundReferenceOf(asked.key), created_at: runtime.now().toISOString(), status: 'pending', completed_at: null, decline: null,
    ends_as: null, notices: 0,
  }
  if (words !== null) return answerOf(ended(shop, refund, words), 422)
  if (behaviour?.kind === 'pending') return answerOf(ledger.saveRefund(refund), 201)
  switch (outcome) {
    case 'unreported': {
      const pending = answerOf(refund, 201)
      ended(shop, refund, null)
      return pending
    }
    case 'fails':
    case 'succeeds':
      return answerOf(ledger.saveRefund({ ...refund, ends_as: outcome === 'fails' ? 'failed' : 'succeeded' }), 201)
    default: {
      const succeeded = ended(shop, refund, null)
      // As it then is: a tester may have told of it meanwhile.
      return { ...answerOf(succeeded, 201), after: () => tellOfRefund(shop, ledger.refundByKey(succeeded.key) ?? succeeded, plainly) }
    }
  }
}

/** Why the refund is refused; null when it is not. */
function wordsAgainst(shop: Shop, asked: Asked, charge: StoredCharge | undefined, behaviour: Behaviour | null, outcome: RefundOutcome | null): Words | null {
  if (behaviour?.kind === 'decline') return { code: behaviour.code ?? declined.code, message: behaviour.message ?? declined.message }
  const payment = charge?.payments.find(({ reference }) => reference === asked.payment_reference)
  if (charge === undefined || payment === undefined) return { code: 'PAYMENT_NOT_FOUND', message: 'There is no such payment.' }
  const channel = channelOf(charge.channel)
  if (channel.refund === 'manual') return { code: 'REFUND_NOT_SUPPORTED', message: 'The channel gives no money back.' }
  if (payment.reversed) return { code: 'PAYMENT_REVERSED', message: 'The payment was taken back already.' }
  if (isTooLate(payment, channel.refund_window_days, shop.runtime.now())) {
    return { code: 'REFUND_WINDOW_CLOSED', message: `The channel gives money back for ${channel.refund_window_days} days.` }
  }
  if ((channel.kind === 'va' || channel.kind === 'otc') && asked.destination === null) {
    return { code: 'DESTINATION_REQUIRED', message: 'The channel needs an account to give the money back to.' }
  }
  if (asked.amount_idr > remaining(shop, charge, payment)) {
    return { code: 'REFUND_EXCEEDS_PAYMENT', message: 'More would be given back than was paid.' }
  }
  return outcome === 'decline' ? declined : null
}

function remaining(shop: Shop, charge: StoredCharge, payment: StoredPayment): number {
  const live = shop.ledger.refundsOf(charge.key).filter(({ payment_reference: of, status }) => of === payment.reference && status !== 'failed')
  return payment.amount_idr - live.reduce((sum, refund) => sum + refund.amount_idr, 0)
}

function isTooLate(payment: StoredPayment, windowDays: number | null, now: Date): boolean {
  return windowDays !== null && now.getTime() > Date.parse(payment.completed_at) + windowDays * DAY_MS
}

function ended(shop: Shop, refund: StoredRefund, words: Words | null): StoredRefund {
  const completedAt = words === null ? shop.runtime.now().toISOString() : null
  return shop.ledger.saveRefund({ ...refund, status: words === null ? 'succeeded' : 'failed', completed_at: completedAt, decline: words })
}

function answerOf(refund: StoredRefund, status: number): { status: number; json: unknown } {
  return refund.decline === null ? { status, json: refundView(refund) } : { status: 422, json: refund.decline }
}

function readAsked(body: unknown): Asked {
  if (!isObject(body)) throw invalid('the body must be a JSON object')
  if (body.currency !== 'IDR') throw invalid('currency must be IDR')
  const { reason, destination = null } = body
  if (typeof reason !== 'string' || !refundReasons.some((known) => known === reason)) throw invalid(`reason must be one of ${refundReasons.join(', ')}`)
  if (destination !== null && !isObject(destination)) throw invalid('destination must be an object or null')
  return {
    key: readKey(body),
    charge_key: text(body, 'charge_key', 100),
    payment_reference: text(body, 'payment_reference', 100),
    amount_idr: integer(body, 'amount_idr', [1, 999_999_999_999], 0),
    reason,
    note: optionalText(body, 'note', 1000),
    destination: destination === null ? null : {
      bank_code: text(destination, 'bank_code', 50),
      account_number: text(destination, 'account_number', 50),
      account_name: text(destination, 'account_name', 255),
    },
    callback_url: callbackAddress(body),
  }
}
