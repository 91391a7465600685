import type { ChannelCode } from '../domain/channels.ts'

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
  readonly amountIdr: number
  readonly fields: ChargeFields
  /** Every payment received; more than one on a multi-use charge. */
  readonly payments: readonly ChargePayment[]
}

/** The provider's refusal, its code and message unchanged (decision 1.6, provider_declined). */
export interface Decline {
  readonly provider: string
  readonly code: string
  readonly message: string
}

/** Time-out, 5xx, reset or an unreadable answer: the provider may or may not have acted. Only a look-up tells. */
export interface Unknown {
  readonly outcome: 'unknown'
  /** For the log; never shown to a merchant. */
  readonly reason: string
}

export type CreateChargeResult =
  | { readonly outcome: 'charged'; readonly charge: Charge }
  | { readonly outcome: 'declined'; readonly decline: Decline }
  | Unknown

export type FindChargeResult =
  | { readonly outcome: 'found'; readonly charge: Charge }
  | { readonly outcome: 'absent' }
  | Unknown

/** `ended` carries the charge as it now is: it may have been paid before it could be expired. */
export type ExpireChargeResult =
  | { readonly outcome: 'ended'; readonly charge: Charge }
  | { readonly outcome: 'absent' }
  | Unknown

/** Who paid, as far as the provider says. */
export interface Payer {
  readonly issuer: string | null
  readonly bankCode: string | null
  readonly accountNumber: string | null
  readonly accountName: string | null
}

/** What a provider says about a charge of its own accord. */
export interface Callback {
  /** The provider's id of this notice, the same on each of its repeats. */
  readonly eventId: string
  readonly key: string
  /** The charge's reference. */
  readonly reference: string
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
  readonly payer: Payer | null
}

/** A callback as it came in: header names in lower case, the body's bytes untouched. */
export interface ReceivedCallback {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly rawBody: Uint8Array
}

export type CallbackVerdict =
  | { readonly verified: true }
  | { readonly verified: false; readonly reason: 'malformed' | 'stale' | 'mismatch' }

export type CallbackReading =
  | { readonly outcome: 'understood'; readonly callback: Callback }
  | { readonly outcome: 'unintelligible'; readonly reason: string }

/**
 * What became of a sandbox move. `reported`: the provider has called back about it; else it stays silent, for now or for
 * good. `refused`: the charge has ended otherwise already.
 */
export type SandboxMoveResult =
  | { readonly outcome: 'moved'; readonly reported: boolean }
  | { readonly outcome: 'refused'; readonly reason: string }
  | Unknown

/** Moves of a charge that only a sandbox has, in the payer's or the clock's stead; each is told by a signed callback. */
export interface SandboxMoves {
  /** The payer pays; amounts with a meaning end as they say. Of a charge that has ended, tells again how. */
  complete(reference: string): Promise<SandboxMoveResult>
  /** The payer, bank or issuer declines. */
  decline(reference: string, refusal: { readonly code: string; readonly message: string }): Promise<SandboxMoveResult>
  /** The charge's time runs out. */
  expire(reference: string): Promise<SandboxMoveResult>
}

export interface ProviderCapabilities {
  readonly channels: readonly ChannelCode[]
  /** Channels on which one charge takes any number of payments. */
  readonly multiUseChannels: readonly ChannelCode[]
  readonly canExpire: boolean
  readonly canFindByKey: boolean
}

/**
 * A payment provider. No method throws for what the other side does or fails to do: outcomes are told apart by type,
 * and only `unknown` is worth trying again. Every call ends within the provider's own limit (8 s, decision 3.3).
 */
export interface PaymentProvider {
  /** The name that refusals carry in `provider`. */
  readonly name: string
  readonly capabilities: ProviderCapabilities
  /** Only of a provider that simulates payers. */
  readonly sandbox?: SandboxMoves
  /** Makes the charge; the same key makes it once, whatever is repeated, provided that the request is the same. */
  createCharge(request: ChargeRequest): Promise<CreateChargeResult>
  /** The charge made under our key. */
  findCharge(key: string): Promise<FindChargeResult>
  /** Makes the provider refuse payment on the charge from now on; of a charge that has ended, tells how. */
  expireCharge(reference: string): Promise<ExpireChargeResult>
  /** Whether the callback was signed under `secret`, no more than 300 s ago or ahead. */
  verifyCallback(received: ReceivedCallback, secret: string): CallbackVerdict
  /** What a verified callback says. */
  parseCallback(rawBody: Uint8Array): CallbackReading
}
