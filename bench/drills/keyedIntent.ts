import type { StagedMerchant } from './stage.ts'

/** What one Idempotency-Key was used for. */
export interface KeyedIntent {
  key: string
  merchant: StagedMerchant
  /** Whether a provider is asked: one channel. */
  charged: boolean
  body: object
  /** Of the first 201; null until then. */
  intentId: string | null
  shortcode: string | null
  tries: number
}
