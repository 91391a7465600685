import { describe, expect, test } from 'vitest'
import { channelCodes, channelOf } from '../domain/channels.ts'
import type { ChannelCapability, PaymentProvider } from './paymentProvider.ts'
import { amountsTaken, chargeDeadline, isServed, takesPayment } from './servedChannels.ts'
import { SimulatorProvider } from './simulatorProvider.ts'

const any: ChannelCapability = {
  multiUse: true, minAmountIdr: null, maxAmountIdr: null, refund: 'none', canExpire: true, canFindByKey: true, longestExpirySeconds: null,
}
/** Only what a channel is judged by. */
const providing = (capabilities: PaymentProvider['capabilities']): PaymentProvider => Object.assign(Object.create(null) as PaymentProvider, { capabilities })
const simulator = new SimulatorProvider({ baseUrl: '', apiKey: '', runtime: { now: () => new Date(), randomBytes: () => Buffer.alloc(0), sleep: async () => undefined, fetch } })
const madeAt = new Date('2026-08-03T03:00:00Z')

describe('a channel is served', () => {
  test('by a provider that has it; cash by nobody\'s help', () => {
    const provider = providing({ qris: any })
    expect(channelCodes.filter((code) => isServed(code, 1, provider))).toEqual(['qris', 'cash'])
    expect(channelCodes.filter((code) => isServed(code, 1, null))).toEqual(['cash'])
    expect(channelCodes.filter((code) => isServed(code, 0, simulator))).toEqual(channelCodes)
  })

  test('for several payments of a standing attempt only by charges for several', () => {
    const provider = providing({ qris: { ...any, multiUse: false }, ewallet_wallet_a: { ...any, multiUse: false } })
    expect([isServed('qris', 1, provider), isServed('qris', 2, provider), isServed('qris', 0, provider)]).toEqual([true, false, false])
    expect(isServed('ewallet_wallet_a', 0, provider)).toBe(true)
  })
})

describe('the amounts taken', () => {
  test('are the channel\'s own where the provider tells no limit: the pay-later minimum is left to its refusal', () => {
    for (const code of channelCodes) {
      expect(amountsTaken(code, simulator)).toEqual({ min: channelOf(code).min_amount_idr, max: channelOf(code).max_amount_idr })
      expect(amountsTaken(code, null)).toEqual(amountsTaken(code, simulator))
    }
    expect(amountsTaken('paylater_a', simulator).min).toBe(1)
  })

  test('are narrowed, and never widened, by limits that the provider tells', () => {
    const provider = providing({ qris: { ...any, minAmountIdr: 1500, maxAmountIdr: 2_000_000 }, card_3ds: { ...any, minAmountIdr: 1, maxAmountIdr: 999_999_999_999 } })
    expect(amountsTaken('qris', provider)).toEqual({ min: 1500, max: 2_000_000 })
    expect(amountsTaken('card_3ds', provider)).toEqual(amountsTaken('card_3ds', null))
    const takes = takesPayment(provider)
    expect([1499, 1500, 2_000_000, 2_000_001].map((amount) => takes('qris', 1, amount))).toEqual([false, true, true, false])
    expect(takes('va_bank_a', 1, 50_000)).toBe(false)
  })
})

test('an attempt ends no later than the provider can keep its charge', () => {
  const at = (seconds: number) => new Date(madeAt.getTime() + seconds * 1000)
  const provider = providing({ ewallet_wallet_a: { ...any, longestExpirySeconds: 55 }, qris: any })
  expect(chargeDeadline('ewallet_wallet_a', 1, madeAt, at(3600), provider)).toEqual(at(55))
  expect(chargeDeadline('ewallet_wallet_a', 1, madeAt, at(30), provider)).toEqual(at(30))
  expect(chargeDeadline('qris', 1, madeAt, at(3600), provider)).toEqual(at(1800))
  expect(chargeDeadline('cash', 1, madeAt, null, provider)).toBeNull()
  expect(chargeDeadline('ewallet_wallet_a', 1, madeAt, null, null)).toEqual(at(900))
})
