import type { ChannelCode } from '../domain/channels.ts'

/**
 * A charge by all that we know of it. Providers differ in what they look up by: Midtrans by our key alone, Xendit by
 * its own reference alone, SNAP by our key at an address that depends on the channel.
 */
export interface ChargeIdentity {
  readonly key: string
  /** Null: its creation was never answered. */
  readonly reference: string | null
  readonly channel: ChannelCode
}

/** A charge that the provider has told its reference of. */
export type KnownCharge = ChargeIdentity & { readonly reference: string }
