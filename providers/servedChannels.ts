import { attemptDeadline, channelOf } from '../domain/channels.ts'
import type { ChannelCode } from '../domain/channels.ts'
import type { PaymentProvider } from './paymentProvider.ts'

/**
 * Whether payments over the channel can be taken by the provider. Null: there is none. A channel whose standing attempt
 * takes several payments needs a charge for several (decision 3.4).
 */
export function isServed(code: ChannelCode, maxUses: number, provider: PaymentProvider | null): boolean {
  const { needs_provider, standing_attempt } = channelOf(code)
  if (!needs_provider) return true
  const capability = provider?.capabilities[code]
  return capability !== undefined && (maxUses === 1 || !standing_attempt || capability.multiUse)
}

/** The amounts that are taken over the channel, in whole rupiah: its own limits, narrowed by those that the provider tells. */
export function amountsTaken(code: ChannelCode, provider: PaymentProvider | null): { min: number; max: number } {
  const { min_amount_idr: min, max_amount_idr: max } = channelOf(code)
  const capability = provider?.capabilities[code]
  return { min: Math.max(min, capability?.minAmountIdr ?? min), max: Math.min(max, capability?.maxAmountIdr ?? max) }
}

/** Whether a payment can be taken by the provider: its channel, and its amount. */
export function takesPayment(provider: PaymentProvider | null): (code: ChannelCode, maxUses: number, amountIdr: number) => boolean {
  return (code, maxUses, amountIdr) => {
    const { min, max } = amountsTaken(code, provider)
    return isServed(code, maxUses, provider) && amountIdr >= min && amountIdr <= max
  }
}

/** When an attempt over the channel ends (decision 3.6), and no later than the provider can keep its charge. */
export function chargeDeadline(code: ChannelCode, maxUses: number, createdAt: Date, intentEnds: Date | null, provider: PaymentProvider | null): Date | null {
  const deadline = attemptDeadline(code, maxUses, createdAt, intentEnds)
  const longest = provider?.capabilities[code]?.longestExpirySeconds ?? null
  if (longest === null) return deadline
  const atMost = new Date(createdAt.getTime() + longest * 1000)
  return deadline !== null && deadline < atMost ? deadline : atMost
}
