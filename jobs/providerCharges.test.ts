import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { ProviderOperationRow } from '../db/payments/providerOperations.ts'
import type { Charge, ChannelCapability, CreateChargeResult, PaymentProvider } from '../providers/paymentProvider.ts'
import { askForCharge, chargeOf, chargingProvider, endCharge, findUnansweredCharge } from './providerCharges.ts'

const operation: ProviderOperationRow = {
  id: randomUUID(), tenant_id: randomUUID(), merchant_id: randomUUID(), kind: 'create_charge', intent_id: randomUUID(), attempt_id: randomUUID(), provider: 'asked',
  request: { key: 'operation', channel: 'ewallet_wallet_a', expiresAt: '2026-08-03T03:00:00.000Z' }, recovery_point: 'started', lease_token: null, holders: 2,
  idempotency_operation: null, idempotency_key: null, request_id: 'test', created_at: new Date(),
}
const charge: Charge = {
  reference: 'R1', key: operation.id, status: 'pending', currency: 'IDR', amountIdr: 1, decline: null, fields: {}, payments: [],
}

/** A provider that notes what it was asked, and answers so. */
const asked = (can: Pick<ChannelCapability, 'canFindByKey' | 'canExpire'>, made: CreateChargeResult = { outcome: 'charged', charge }) => {
  const calls: string[] = []
  const provider = Object.assign(Object.create(null) as PaymentProvider, {
    name: 'asked',
    capabilities: { ewallet_wallet_a: { multiUse: false, minAmountIdr: null, maxAmountIdr: null, refund: 'none', longestExpirySeconds: null, ...can } },
    createCharge: async () => {
      calls.push('create')
      return made
    },
    findCharge: async ({ reference }: { reference: string | null }) => {
      calls.push(`find ${reference ?? 'by key'}`)
      return { outcome: 'found', charge }
    },
    expireCharge: async ({ reference }: { reference: string }) => {
      calls.push(`expire ${reference}`)
      return { outcome: 'ended', charge: { ...charge, status: 'expired' } }
    },
  } satisfies Partial<PaymentProvider>)
  return { provider, calls }
}
const usual = { canFindByKey: true, canExpire: true }

describe('a charge whose creation was not answered', () => {
  test('is asked for by our key first, and made only where that finds none', async () => {
    const { provider, calls } = asked(usual)
    expect(await askForCharge(provider, operation, false, undefined)).toEqual({ outcome: 'charged', charge })
    expect(await findUnansweredCharge(provider, operation)).toEqual({ outcome: 'found', charge })
    expect(await askForCharge(provider, operation, true, undefined)).toEqual({ outcome: 'charged', charge })
    expect(calls).toEqual(['find by key', 'find by key', 'create'])
  })

  test('is asked for by the same creation again where the provider finds none by our key', async () => {
    const { provider, calls } = asked({ ...usual, canFindByKey: false })
    expect(await askForCharge(provider, operation, false, undefined)).toEqual({ outcome: 'charged', charge })
    expect(await findUnansweredCharge(provider, operation)).toEqual({ outcome: 'found', charge })
    expect(calls).toEqual(['create', 'create'])
  })

  test('that is refused when sent again was never made; one that is not answered again stays unsettled', async () => {
    const decline = { provider: 'asked', code: 'EXPIRY_PAST', message: 'Too late.' }
    const none = { ...usual, canFindByKey: false }
    expect(await findUnansweredCharge(asked(none, { outcome: 'declined', decline }).provider, operation)).toEqual({ outcome: 'absent' })
    for (const unsettled of [
      { outcome: 'unknown', reason: 'a' }, { outcome: 'retryable', reason: 'b', retryAfterSeconds: 5 }, { outcome: 'misconfigured', reason: 'c' },
    ] as const) expect(await findUnansweredCharge(asked(none, unsettled).provider, operation)).toEqual(unsettled)
  })
})

test('a charge that cannot be expired is asked how it is instead', async () => {
  const { provider, calls } = asked({ ...usual, canExpire: false })
  expect(await endCharge(provider, chargeOf(operation, 'R1'))).toEqual({ outcome: 'ended', charge })
  const other = asked(usual)
  expect(await endCharge(other.provider, chargeOf(operation, 'R1'))).toMatchObject({ charge: { status: 'expired' } })
  expect([calls, other.calls]).toEqual([['find R1'], ['expire R1']])
})

test('new charges are asked of the provider that is configured, or of nobody', () => {
  const { provider } = asked(usual)
  const providers = new Map([['asked', provider]])
  expect(chargingProvider({ provider: 'asked', providers })).toBe(provider)
  expect(chargingProvider({ provider: null, providers })).toBeNull()
  expect(() => chargingProvider({ provider: 'else', providers })).toThrow('not configured')
})
