import { channelOf, ttlSeconds } from '../../../domain/channels.ts'
import type { ChannelCode } from '../../../domain/channels.ts'
import type { components } from '../../../generated/payments.ts'

const multiUse = 0

/** A channel as merchants see it. Logos are configuration and have no default. */
export function channelView(code: ChannelCode, enabled: readonly string[]): components['schemas']['PaymentChannel'] {
  const channel = channelOf(code)
  return {
    code,
    kind: channel.kind,
    name_en: channel.name_en,
    name_id: channel.name_id,
    logo_url: null,
    enabled: enabled.includes(code),
    ttl_seconds: channel.ttl_seconds,
    multi_use_ttl_seconds: ttlSeconds(code, multiUse),
    min_amount_idr: channel.min_amount_idr,
    max_amount_idr: channel.max_amount_idr,
    settlement: channel.settlement,
    refund: channel.refund,
  }
}
