import { describe, expect, test } from 'vitest'
import {
  attemptDeadline, channelCodes, channelOf, expiresInBound, intentDeadline, isChannelCode, settlementOf, takesAnyAmount, ttlSeconds,
} from './channels.ts'

const created = new Date('2026-08-03T03:04:05.678Z')
const after = (seconds: number) => new Date(created.getTime() + seconds * 1000)

describe('the channel table', () => {
  test('holds exactly the eighteen codes of the brief', () => {
    expect([...channelCodes].sort()).toEqual([
      'card_3ds', 'cash',
      'ewallet_wallet_a', 'ewallet_wallet_b', 'ewallet_wallet_c', 'ewallet_wallet_d', 'ewallet_wallet_e',
      'otc_store_a', 'otc_store_b', 'paylater_a', 'paylater_b', 'qris',
      'va_bank_a', 'va_bank_b', 'va_bank_c', 'va_bank_d', 'va_bank_e', 'va_bank_f',
    ])
  })

  test.each([
    ['qris', 1, 1800, 'T+0', 'manual', null],
    ['qris', 0, 86_400, 'T+1', 'manual', null],
    ['qris', 5, 86_400, 'T+1', 'manual', null],
    ['va_bank_c', 1, 86_400, 'T+1', 'programmatic', null],
    ['va_bank_c', 0, 86_400, 'T+1', 'programmatic', null],
    ['ewallet_wallet_e', 1, 900, 'T+1', 'programmatic', null],
    ['cash', 1, null, 'T+0', 'manual', null],
    ['otc_store_b', 1, 86_400, 'T+1', 'programmatic', null],
    ['paylater_a', 1, 2_592_000, 'T+1', 'programmatic', 30],
    ['card_3ds', 1, 86_400, 'T+1', 'programmatic', null],
  ] as const)('%s with max_uses %s has the life, settlement and refunds of the brief', (...row) => {
    const [code, uses, ttl, settles, refund, days] = row
    expect(ttlSeconds(code, uses)).toBe(ttl)
    expect(settlementOf(code, uses)).toBe(settles)
    expect(channelOf(code).refund).toBe(refund)
    expect(channelOf(code).refund_window_days).toBe(days)
  })

  test('only a static QR takes any amount', () => {
    const open = [0, 1, 2].map((uses) => channelCodes.filter((code) => takesAnyAmount(code, uses)))
    expect(open).toEqual([['qris'], [], ['qris']])
    expect(takesAnyAmount('no_such_channel', 0)).toBe(false)
  })

  test('every row has a name in both languages of its own and a possible range of amounts', () => {
    for (const name of ['name_en', 'name_id'] as const) {
      expect(new Set(channelCodes.map((code) => channelOf(code)[name])).size).toBe(18)
    }
    for (const code of channelCodes) {
      const { min_amount_idr, max_amount_idr } = channelOf(code)
      expect(min_amount_idr).toBeGreaterThanOrEqual(1)
      expect(max_amount_idr).toBeGreaterThan(min_amount_idr)
      expect(max_amount_idr).toBeLessThanOrEqual(999_999_999_999)
    }
  })

  test('each kind of channel differs from the others only where the brief says so', () => {
    const having = (trait: (code: (typeof channelCodes)[number]) => boolean) =>
      [...new Set(channelCodes.filter(trait).map((code) => channelOf(code).kind))].sort()
    expect(having((code) => channelOf(code).standing_attempt)).toEqual(['cash', 'qris', 'va'])
    expect(having((code) => !channelOf(code).needs_provider)).toEqual(['cash'])
    expect(having((code) => channelOf(code).sandbox === '3ds-callback')).toEqual(['card'])
    expect(having((code) => channelOf(code).events.includes('payment.failed'))).toEqual(['card', 'paylater'])
  })

  test('names of built-in members are no channel codes', () => {
    expect(isChannelCode('qris')).toBe(true)
    for (const odd of ['toString', '__proto__', 'QRIS', '', null, 7, ['qris']]) expect(isChannelCode(odd)).toBe(false)
  })
})

describe('deadlines', () => {
  test('an intent lives as long as the longest of its channels; cash adds nothing', () => {
    expect(intentDeadline(['qris'], 1, created)).toEqual(after(1800))
    expect(intentDeadline(['qris', 'ewallet_wallet_a', 'va_bank_a'], 1, created)).toEqual(after(86_400))
    expect(intentDeadline(['cash', 'ewallet_wallet_a'], 1, created)).toEqual(after(900))
    expect(intentDeadline(['qris'], 0, created)).toEqual(after(86_400))
  })

  test('cash alone never ends, and can not be shortened', () => {
    expect(intentDeadline(['cash'], 1, created)).toBeNull()
    expect(expiresInBound(['cash'], 1)).toBeNull()
    expect(() => intentDeadline(['cash'], 1, created, 60)).toThrow(RangeError)
  })

  test('expires_in_seconds shortens from 60 seconds to the longest life, and is refused outside', () => {
    expect(expiresInBound(['qris', 'paylater_b'], 1)).toEqual({ min: 60, max: 2_592_000 })
    expect(intentDeadline(['qris'], 1, created, 60)).toEqual(after(60))
    expect(intentDeadline(['qris'], 1, created, 1800)).toEqual(after(1800))
    for (const odd of [59, 1801, 60.5, NaN, -1]) {
      expect(() => intentDeadline(['qris'], 1, created, odd)).toThrow('from 60 to 1800')
    }
  })

  test('an attempt ends with its channel, never past its intent; one in cash ends with the intent', () => {
    const ends = intentDeadline(['qris', 'va_bank_a'], 1, created)
    expect(attemptDeadline('qris', 1, created, ends)).toEqual(after(1800))
    expect(attemptDeadline('qris', 1, after(86_000), ends)).toEqual(after(86_400))
    expect(attemptDeadline('cash', 1, created, ends)).toEqual(after(86_400))
    expect(attemptDeadline('cash', 1, created, null)).toBeNull()
    expect(attemptDeadline('qris', 1, created, null)).toEqual(after(1800))
  })
})
