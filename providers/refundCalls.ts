import type { RefundReason } from '../domain/refundReasons.ts'
import type { Decline, Unsettled } from './callOutcome.ts'
import type { KnownCharge } from './chargeIdentity.ts'

/** Where money goes that cannot go back the way it came: a virtual account and a counter know no way back (decision 4.5). */
export interface RefundDestination {
  readonly bankCode: string
  readonly accountNumber: string
  readonly accountName: string
}

export interface RefundRequest {
  /** Id of our operation row: it exists before the call and never changes, so that a retry can't refund twice (decision 4.6). */
  readonly key: string
  readonly charge: KnownCharge
  /** Which payment goes back: a charge for many payments has several. */
  readonly paymentReference: string
  /** Whole rupiah; less than was paid is a partial refund. */
  readonly amountIdr: number
  readonly reason: RefundReason
  readonly note: string | null
  /** Null: back the way it came. */
  readonly destination: RefundDestination | null
  /** Where the provider tells what became of the refund. */
  readonly callbackUrl: string
}

/** A refund by all that we know of it; some providers tell of refunds only beside their charge. */
export interface RefundIdentity {
  readonly key: string
  /** Null: the request for it was never answered. */
  readonly reference: string | null
  readonly charge: KnownCharge
}

export interface Refund {
  readonly reference: string
  readonly key: string
  readonly amountIdr: number
  /** The provider's time; null while it is pending. */
  readonly completedAt: Date | null
}

/**
 * `pending`: the provider has it and tells later. `declined` is final: this refund was not made and never will be, be
 * it refused at once or found impossible later; another needs another key.
 */
export type RefundResult =
  | { readonly outcome: 'succeeded'; readonly refund: Refund }
  | { readonly outcome: 'pending'; readonly refund: Refund }
  | { readonly outcome: 'declined'; readonly decline: Decline }
  | Unsettled

export type FindRefundResult = RefundResult | { readonly outcome: 'absent' }
