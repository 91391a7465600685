/** The provider's refusal, its code and message unchanged (decision 1.6, provider_declined). */
export interface Decline {
  readonly provider: string
  readonly code: string
  readonly message: string
}

/**
 * A call that settled nothing. The three differ in what may be believed of it, and in who must act:
 * `unknown`: time-out, 5xx, reset or an unreadable answer: the provider may have acted, and only a look-up tells.
 * `retryable`: it says that it did nothing and will do it later (too many calls, maintenance); waiting is enough.
 * `misconfigured`: it does not know us (401, 403: a wrong credential, a channel that is not switched on for us). The
 * merchant's request is as good as before, so it is not declined; but no wait mends it, so an operator is told.
 */
export type Unsettled =
  | { readonly outcome: 'unknown'; readonly reason: string }
  | { readonly outcome: 'retryable'; readonly reason: string; readonly retryAfterSeconds: number | null }
  | { readonly outcome: 'misconfigured'; readonly reason: string }

/** Whether a call settled nothing; `reason` is for the log and never shown to a merchant. */
export function isUnsettled(result: { readonly outcome: string }): result is Unsettled {
  return result.outcome === 'unknown' || result.outcome === 'retryable' || result.outcome === 'misconfigured'
}
