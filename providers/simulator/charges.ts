import { ttlSeconds } from '../../domain/channels.ts'
import type { ChargeStatus } from '../paymentProvider.ts'
import { callbackBody, sendNotice } from './callbacks.ts'
import type { CallbackReport, Notice } from './callbacks.ts'
import { fingerprintOf } from './chargeRequest.ts'
import type { AcceptedRequest } from './chargeRequest.ts'
import { Refusal } from './exchange.ts'
import type { StoredCharge, StoredPayment } from './ledger.ts'
import { magicOf } from './magicAmounts.ts'
import type { Shop } from './shop.ts'
import { plainly } from './telling.ts'
import type { Telling } from './telling.ts'
import { referenceOf, typedFields } from './typedFields.ts'

/** What a move of a charge led to: the charge as it now is, and the fate of each callback (none: nothing is told). */
export interface Moved {
  readonly charge: StoredCharge
  readonly callbacks: readonly CallbackReport[]
}

export interface PaymentDetails {
  readonly amountIdr: number | null
  readonly completedAt: Date | null
  /** The money comes although the charge has ended. */
  readonly force: boolean
}

/** Makes and keeps the charge. Throws a Refusal (400) where it can't be made. */
export function makeCharge(shop: Shop, request: AcceptedRequest, mute: boolean): StoredCharge {
  const now = shop.runtime.now()
  const expiresAt = request.expiresAt ?? ownLimit(request, now)
  if (expiresAt <= now) throw new Refusal(400, 'expiry_past', 'expires_at is past')
  const reference = referenceOf(request.key)
  const fields = typedFields({
    request,
    reference,
    expiresAt,
    publicUrl: shop.publicUrl,
    taken: (number) => shop.ledger.isTaken(request.channel, number),
  })
  return shop.ledger.save({
    reference,
    key: request.key,
    fingerprint: fingerprintOf(request),
    channel: request.channel,
    amount_idr: request.amountIdr,
    multi_use: request.multiUse,
    merchant_reference: request.merchantReference,
    merchant_name: request.merchant.name,
    description: request.description,
    callback_url: request.callbackUrl,
    return_url: request.returnUrl,
    created_at: now.toISOString(),
    expires_at: expiresAt.toISOString(),
    status: 'pending',
    decline: null,
    fields,
    payments: [],
    completion: magicOf(request.amountIdr)?.completion ?? null,
    mute,
    notices: 0,
  })
}

/** The charge's state now: one that is pending past its end has expired. */
export function statusOf(charge: StoredCharge, now: Date): ChargeStatus {
  return charge.status === 'pending' && Date.parse(charge.expires_at) <= now.getTime() ? 'expired' : charge.status
}

/** The charge as the API tells it. */
export function viewOf(shop: Shop, charge: StoredCharge): Record<string, unknown> {
  return {
    reference: charge.reference,
    key: charge.key,
    merchant_reference: charge.merchant_reference,
    channel: charge.channel,
    currency: 'IDR',
    amount_idr: charge.amount_idr,
    multi_use: charge.multi_use,
    status: statusOf(charge, shop.runtime.now()),
    decline: charge.decline,
    created_at: charge.created_at,
    expires_at: charge.expires_at,
    fields: charge.fields,
    payments: charge.payments,
  }
}

/** Money arrives: on a pending charge, or with `force` on any. A multi-use charge stays pending. */
export async function pay(shop: Shop, charge: StoredCharge, details: PaymentDetails, telling: Telling = plainly): Promise<Moved> {
  const now = shop.runtime.now()
  if (!details.force) requirePending(charge, now)
  const payment: StoredPayment = {
    reference: `${charge.reference}-P${charge.payments.length + 1}`,
    amount_idr: details.amountIdr ?? charge.amount_idr,
    completed_at: (details.completedAt ?? now).toISOString(),
    reversed: false,
  }
  const status = charge.multi_use ? charge.status : 'paid'
  return tell(shop, { ...charge, status, payments: [...charge.payments, payment] }, 'paid', payment, telling)
}

/** The payer's bank or the provider says no: a pending single-use charge fails. */
export async function decline(
  shop: Shop, charge: StoredCharge, refusal: { readonly code: string; readonly message: string }, telling: Telling = plainly,
): Promise<Moved> {
  requirePending(charge, shop.runtime.now())
  if (charge.multi_use) throw wrongState('a multi-use charge outlives a declined payment', false)
  return tell(shop, { ...charge, status: 'failed', decline: refusal }, 'failed', null, telling)
}

/** The provider takes the last payment back, and says so. A multi-use charge stays pending. */
export async function reverse(shop: Shop, charge: StoredCharge, telling: Telling = plainly): Promise<Moved> {
  const at = charge.payments.findLastIndex(({ reversed }) => !reversed)
  const payment = charge.payments[at]
  if (payment === undefined) throw wrongState('the charge has no payment to take back', false)
  const reversed = { ...payment, reversed: true }
  const status = charge.multi_use ? charge.status : 'reversed'
  return tell(shop, { ...charge, status, payments: charge.payments.with(at, reversed) }, 'reversed', reversed, telling)
}

/** The charge as it now is, told again: for whoever missed it the first time. */
export async function tellAgain(shop: Shop, charge: StoredCharge, telling: Telling = plainly): Promise<Moved> {
  if (charge.completion === 'silence') return { charge, callbacks: [] }
  const status = statusOf(charge, shop.runtime.now())
  const payment = status === 'paid' || status === 'reversed' || charge.multi_use ? charge.payments.at(-1) ?? null : null
  return tell(shop, charge, payment !== null && charge.multi_use ? 'paid' : status, payment, telling)
}

/**
 * A notice of the status, be it so or not; the charge stays as it is. Of a payment that was never made it makes one up,
 * which a look-up does not know. Tells of silent charges too.
 */
export async function notify(shop: Shop, charge: StoredCharge, status: ChargeStatus, telling: Telling): Promise<Moved> {
  const madeUp: StoredPayment = {
    reference: `${charge.reference}-P${charge.payments.length + 1}`, amount_idr: charge.amount_idr,
    completed_at: shop.runtime.now().toISOString(), reversed: status === 'reversed',
  }
  const payment = status === 'paid' || status === 'reversed' ? charge.payments.at(-1) ?? madeUp : null
  const about = counted(shop, charge)
  return { charge: about, callbacks: await sendNotice(shop.callbacks, noticeOf(about, status, payment), telling) }
}

/** The provider ends a pending charge of itself, and says so. */
export async function expireAndTell(shop: Shop, charge: StoredCharge, telling: Telling = plainly): Promise<Moved> {
  // Judged by the state it was moved to: of a charge whose time has run out, this is the notice that it has.
  if (charge.status !== 'pending') throw wrongState(`the charge is ${charge.status}`, charge.notices > 0)
  return tell(shop, expired(shop, charge), 'expired', null, telling)
}

/** The merchant's side ends the charge: it expires if it is pending, and is left alone if it is not. No callback. */
export function expire(shop: Shop, charge: StoredCharge): StoredCharge {
  return charge.status === 'pending' ? shop.ledger.save(expired(shop, charge)) : charge
}

async function tell(
  shop: Shop, moved: StoredCharge, status: ChargeStatus, payment: StoredPayment | null, telling: Telling,
): Promise<Moved> {
  if (moved.mute || telling.silent) return { charge: shop.ledger.save(moved), callbacks: [] }
  const charge = counted(shop, moved)
  return { charge, callbacks: await sendNotice(shop.callbacks, noticeOf(charge, status, payment), telling) }
}

function expired(shop: Shop, charge: StoredCharge): StoredCharge {
  return { ...charge, status: 'expired', expired_at: shop.runtime.now().toISOString() }
}

function counted(shop: Shop, charge: StoredCharge): StoredCharge {
  return shop.ledger.save({ ...charge, notices: charge.notices + 1 })
}

function noticeOf(charge: StoredCharge, status: ChargeStatus, payment: StoredPayment | null): Notice {
  const about = { key: charge.key, reference: charge.reference, merchantReference: charge.merchant_reference }
  return { about, url: charge.callback_url, body: callbackBody(charge, status, payment) }
}

function requirePending(charge: StoredCharge, now: Date): void {
  const status = statusOf(charge, now)
  if (status !== 'pending') throw wrongState(`the charge is ${status}`, charge.notices > 0)
}

/** `reported`: how the charge stands was told, or will be once it is no longer held back. */
export function wrongState(message: string, reported: boolean): Refusal {
  return new Refusal(409, 'invalid_state', message, { reported })
}

function ownLimit(request: AcceptedRequest, now: Date): Date {
  const ttl = ttlSeconds(request.channel, request.multiUse ? 0 : 1)
  if (ttl === null) throw new Refusal(400, 'invalid_request', 'the channel has no charge')
  return new Date(now.getTime() + ttl * 1000)
}
