import { ttlSeconds } from '../../domain/channels.ts'
import type { Runtime } from '../../domain/runtime.ts'
import type { ChargeStatus } from '../paymentProvider.ts'
import { callbackBody, sendCallback } from './callbacks.ts'
import type { CallbackReport, CallbackSettings } from './callbacks.ts'
import { fingerprintOf } from './chargeRequest.ts'
import type { AcceptedRequest } from './chargeRequest.ts'
import { Refusal } from './exchange.ts'
import type { Ledger, StoredCharge, StoredPayment } from './ledger.ts'
import { magicOf } from './magicAmounts.ts'
import { referenceOf, typedFields } from './typedFields.ts'

export interface Shop {
  readonly ledger: Ledger
  readonly runtime: Runtime
  /** Null: nothing is told. */
  readonly callbacks: CallbackSettings | null
  readonly publicUrl: string
}

/** What a move of a charge led to: the charge as it now is, and the callback's fate (null: the charge is mute). */
export interface Moved {
  readonly charge: StoredCharge
  readonly callback: CallbackReport | null
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
export async function pay(shop: Shop, charge: StoredCharge, details: PaymentDetails): Promise<Moved> {
  const now = shop.runtime.now()
  if (!details.force) requirePending(charge, now)
  const payment: StoredPayment = {
    reference: `${charge.reference}-P${charge.payments.length + 1}`,
    amount_idr: details.amountIdr ?? charge.amount_idr,
    completed_at: (details.completedAt ?? now).toISOString(),
    reversed: false,
  }
  const status = charge.multi_use ? charge.status : 'paid'
  return tell(shop, { ...charge, status, payments: [...charge.payments, payment] }, 'paid', payment)
}

/** The payer's bank or the provider says no: a pending single-use charge fails. */
export async function decline(
  shop: Shop, charge: StoredCharge, refusal: { readonly code: string; readonly message: string },
): Promise<Moved> {
  requirePending(charge, shop.runtime.now())
  if (charge.multi_use) throw new Refusal(409, 'invalid_state', 'a multi-use charge outlives a declined payment')
  return tell(shop, { ...charge, status: 'failed', decline: refusal }, 'failed', null)
}

/** The provider takes the last payment back, and says so. A multi-use charge stays pending. */
export async function reverse(shop: Shop, charge: StoredCharge): Promise<Moved> {
  const at = charge.payments.findLastIndex(({ reversed }) => !reversed)
  const payment = charge.payments[at]
  if (payment === undefined) throw new Refusal(409, 'invalid_state', 'the charge has no payment to take back')
  const reversed = { ...payment, reversed: true }
  const status = charge.multi_use ? charge.status : 'reversed'
  return tell(shop, { ...charge, status, payments: charge.payments.with(at, reversed) }, 'reversed', reversed)
}

/** The charge as it now is, told again: for whoever missed it the first time. */
export async function tellAgain(shop: Shop, charge: StoredCharge): Promise<Moved> {
  if (charge.completion === 'silence') return { charge, callback: null }
  const status = statusOf(charge, shop.runtime.now())
  const payment = status === 'paid' || status === 'reversed' || charge.multi_use ? charge.payments.at(-1) ?? null : null
  return tell(shop, charge, payment !== null && charge.multi_use ? 'paid' : status, payment)
}

/** The provider ends a pending charge of itself, and says so. */
export async function expireAndTell(shop: Shop, charge: StoredCharge): Promise<Moved> {
  // Judged by the state it was moved to: of a charge whose time has run out, this is the notice that it has.
  if (charge.status !== 'pending') throw new Refusal(409, 'invalid_state', `the charge is ${charge.status}`)
  return tell(shop, { ...charge, status: 'expired' }, 'expired', null)
}

/** The merchant's side ends the charge: it expires if it is pending, and is left alone if it is not. No callback. */
export function expire(shop: Shop, charge: StoredCharge): StoredCharge {
  return charge.status === 'pending' ? shop.ledger.save({ ...charge, status: 'expired' }) : charge
}

async function tell(
  shop: Shop, moved: StoredCharge, status: ChargeStatus, payment: StoredPayment | null,
): Promise<Moved> {
  const charge = shop.ledger.save({ ...moved, notices: moved.notices + 1 })
  if (charge.mute || shop.callbacks === null) return { charge, callback: null }
  return { charge, callback: await sendCallback(shop.callbacks, charge, callbackBody(charge, status, payment)) }
}

function requirePending(charge: StoredCharge, now: Date): void {
  const status = statusOf(charge, now)
  if (status !== 'pending') throw new Refusal(409, 'invalid_state', `the charge is ${status}`)
}

function ownLimit(request: AcceptedRequest, now: Date): Date {
  const ttl = ttlSeconds(request.channel, request.multiUse ? 0 : 1)
  if (ttl === null) throw new Refusal(400, 'invalid_request', 'the channel has no charge')
  return new Date(now.getTime() + ttl * 1000)
}
