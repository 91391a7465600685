import type { ChannelCode } from '../domain/channels.ts'
import type { Decline, Unsettled } from './callOutcome.ts'
import type { ChargeIdentity, KnownCharge } from './chargeIdentity.ts'
import type { FindRefundResult, RefundIdentity, RefundRequest, RefundResult } from './refundCalls.ts'

export { isUnsettled } from './callOutcome.ts'
export type { Decline, Unsettled } from './callOutcome.ts'
export type { ChargeIdentity, KnownCharge } from './chargeIdentity.ts'

export type ChargeStatus = 'pending' | 'paid' | 'failed' | 'expired' | 'reversed'

/** The merchant as the payer's bank or wallet will show it. */
export interface ChargeMerchant {
  readonly id: string
  readonly name: string
  readonly city: string
  readonly postalCode: string
  /** Merchant category code, four digits. */
  readonly mcc: string
  /** National merchant id for QRIS; null: the provider uses the one it registered. */
  readonly nmid: string | null
  /** QRIS criteria, such as UMI; null: the provider's default. */
  readonly qrisCriteria: string | null
}

export interface ChargeCustomer {
  readonly name?: string
  readonly email?: string
  readonly phone?: string
}

export interface ChargeRequest {
  /** Id of our operation row. It exists before the call and never changes; the provider echoes it everywhere. */
  readonly key: string
  readonly channel: ChannelCode
  /** Whole rupiah; with `multiUse` over QRIS only a suggestion (decision 3.5). */
  readonly amountIdr: number
  /** The charge takes any number of payments: a static QRIS, a standing virtual account. */
  readonly multiUse: boolean
  /** When the provider must stop accepting payment; null: its own limit. */
  readonly expiresAt: Date | null
  readonly description: string | null
  /** The merchant's own reference of the intent. */
  readonly merchantReference: string | null
  readonly merchant: ChargeMerchant
  readonly customer: ChargeCustomer | null
  /** Where the provider tells what became of the charge. */
  readonly callbackUrl: string
  /** Where the provider's page sends the payer back to. */
  readonly returnUrl: string | null
}

/** What the payer needs in order to pay; only the members that the channel produces. */
export interface ChargeFields {
  readonly qr_string?: string
  readonly va_number?: string
  readonly va_bank?: string
  /** Of the virtual account; RFC 3339 in UTC with milliseconds. */
  readonly expires_at?: string
  readonly redirect_url?: string
  readonly payment_url?: string
  readonly payment_code?: string
  /** The acquirer's reference of the 3-D-Secure challenge that our page shows. */
  readonly challenge?: string
}

/** Money that arrived on a charge. */
export interface ChargePayment {
  /** The provider's reference of this payment: what a completion is counted by (decision 3.7). */
  readonly reference: string
  readonly amountIdr: number
  readonly completedAt: Date
  readonly reversed: boolean
}

export interface Charge {
  readonly reference: string
  readonly key: string
  readonly status: ChargeStatus
  readonly currency: string
  readonly amountIdr: number
  /** Why a failed charge failed. */
  readonly decline: Decline | null
  readonly fields: ChargeFields
  /** Every payment received; more than one on a multi-use charge. */
  readonly payments: readonly ChargePayment[]
}

export type CreateChargeResult =
  | { readonly outcome: 'charged'; readonly charge: Charge }
  | { readonly outcome: 'declined'; readonly decline: Decline }
  | Unsettled

export type FindChargeResult =
  | { readonly outcome: 'found'; readonly charge: Charge }
  | { readonly outcome: 'absent' }
  | Unsettled

/** `ended` carries the charge as it now is: it may have been paid before it could be expired. */
export type ExpireChargeResult =
  | { readonly outcome: 'ended'; readonly charge: Charge }
  | { readonly outcome: 'absent' }
  | Unsettled

/** Who paid, as far as the provider says. */
export interface Payer {
  readonly issuer: string | null
  readonly bankCode: string | null
  readonly accountNumber: string | null
  readonly accountName: string | null
}

/** What a provider says about a charge of its own accord. */
export interface ChargeCallback {
  /**
   * The same on each repeat of one notice, another on any other. Where a provider numbers none it is derived from what
   * the notice says (eventIdOf).
   */
  readonly eventId: string
  readonly key: string
  /** The charge's reference. */
  readonly reference: string
  /** The merchant's reference as the provider echoes it; null where it does not. */
  readonly merchantReference: string | null
  /** The payment's own reference, on paid and reversed. */
  readonly paymentReference: string | null
  readonly status: ChargeStatus
  readonly currency: string
  /** What was paid; on other statuses the charge's amount. */
  readonly amountIdr: number
  /** The provider's time of the payment. */
  readonly completedAt: Date | null
  /** Why a charge failed, in the provider's own words. */
  readonly decline: Decline | null
  /** Null where the provider does not say. */
  readonly payer: Payer | null
}

/** What a provider says about a refund of its own accord. */
export interface RefundCallback {
  /** As on a charge's callback. */
  readonly eventId: string
  /** The refund's key, as we sent it. */
  readonly key: string
  /** The refund's reference. */
  readonly reference: string
  readonly status: 'pending' | 'succeeded' | 'failed'
  readonly currency: string
  readonly amountIdr: number
  readonly completedAt: Date | null
  /** Why it failed, in the provider's own words. */
  readonly decline: Decline | null
}

/** A callback as it came in: header names in lower case, the body's bytes untouched. */
export interface ReceivedCallback {
  readonly method: string
  /** As requested, without the query: SNAP signs it. */
  readonly path: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly rawBody: Uint8Array
}

export type CallbackVerdict =
  | { readonly verified: true }
  | { readonly verified: false; readonly reason: 'malformed' | 'stale' | 'mismatch' }

export type CallbackReading =
  | { readonly outcome: 'charge'; readonly callback: ChargeCallback }
  | { readonly outcome: 'refund'; readonly callback: RefundCallback }
  | { readonly outcome: 'unintelligible'; readonly reason: string }

/**
 * What became of a sandbox move. `refused`: the charge has ended otherwise already. `reported`: the provider has called
 * back about it, or about that other end; else it stays silent, for now or for good.
 */
export type SandboxMoveResult =
  | { readonly outcome: 'moved'; readonly reported: boolean }
  | { readonly outcome: 'refused'; readonly reason: string; readonly reported: boolean }
  | Unsettled

/** Moves of a charge that only a sandbox has, in the payer's or the clock's stead; each is told by a signed callback. */
export interface SandboxMoves {
  /** The payer pays; amounts with a meaning end as they say. Of a charge that has ended, tells again how. */
  complete(reference: string): Promise<SandboxMoveResult>
  /** The payer, bank or issuer declines. */
  decline(reference: string, refusal: { readonly code: string; readonly message: string }): Promise<SandboxMoveResult>
  /** The charge's time runs out. */
  expire(reference: string): Promise<SandboxMoveResult>
  /** The payer pays although the charge has ended. */
  payLate(reference: string): Promise<SandboxMoveResult>
}

/** What a provider can do on one channel. Null stands for no limit of its own: then the channel's rules alone hold. */
export interface ChannelCapability {
  /** One charge takes any number of payments (a static QRIS, a standing virtual account), and a look-up tells of each. */
  readonly multiUse: boolean
  /** Whole rupiah. A limit told here is refused before the provider is asked; one that is not comes as its refusal. */
  readonly minAmountIdr: number | null
  readonly maxAmountIdr: number | null
  readonly refund: 'none' | 'full' | 'partial'
  /** False: a charge lives until its time is up, whatever we wish; a withdrawn one may still be paid. */
  readonly canExpire: boolean
  /** False: a charge or refund whose request was not answered is found by sending the same request again. */
  readonly canFindByKey: boolean
  /** The provider ends every charge at most so many seconds after its creation. */
  readonly longestExpirySeconds: number | null
}

/** By channel; one that is missing is not served. */
export type ProviderCapabilities = Readonly<Partial<Record<ChannelCode, ChannelCapability>>>

/**
 * A payment provider. No method throws for what the other side does or fails to do: outcomes are told apart by type.
 * Every call ends within the provider's own limit (8 s, decision 3.3). Whatever differs between providers (how a call
 * is signed, whether the outcome is the status or a member of the body, how amounts and times are written) stays inside.
 */
export interface PaymentProvider {
  /** The name that refusals carry in `provider`. */
  readonly name: string
  readonly capabilities: ProviderCapabilities
  /** Headers of a callback that are worth keeping beside its bytes, in lower case; never one that is itself a secret. */
  readonly callbackHeaders: readonly string[]
  /** Only of a provider that simulates payers. */
  readonly sandbox?: SandboxMoves
  /**
   * Makes the charge; the same key makes it once, whatever is repeated, provided that the request is the same. `withinMs`
   * ends the call sooner than the provider's own limit, for whoever has less time to wait.
   */
  createCharge(request: ChargeRequest, withinMs?: number): Promise<CreateChargeResult>
  /** The charge as it is now: what a callback is confirmed by, and what a silence is ended by. `withinMs` as above. */
  findCharge(charge: ChargeIdentity, withinMs?: number): Promise<FindChargeResult>
  /** Makes the provider refuse payment on the charge from now on; of a charge that has ended, tells how. */
  expireCharge(charge: KnownCharge): Promise<ExpireChargeResult>
  /** Gives back a payment or part of it; the same key gives back once, whatever is repeated. */
  refund(request: RefundRequest): Promise<RefundResult>
  /** The refund as it is now; before a request is sent again, since a provider may forget a key after days. */
  findRefund(refund: RefundIdentity): Promise<FindRefundResult>
  /**
   * Whether the callback was made by who holds `secret` (a key to sign with, a token, a public key), and no more than
   * 300 s ago or ahead where it is dated.
   */
  verifyCallback(received: ReceivedCallback, secret: string): CallbackVerdict
  /** What a verified callback says; of the body alone, so that a stored one can be read again. */
  parseCallback(rawBody: Uint8Array): CallbackReading
}
