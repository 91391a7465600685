import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { intentActs } from '../contract-tests/harness/intentActs.ts'
import { startPayments } from '../contract-tests/harness/payments.ts'
import type { ChannelCapability, PaymentProvider } from '../providers/paymentProvider.ts'
import { chooseChannel } from './channelChoice.ts'
import { withdrawChargesOf } from './withdrawalWork.ts'

const bench = await startPayments()
const { call, creation, database, given, logged, simulator } = bench
const merchant = await given.merchant()
const as = await given.apiKey(merchant)
const { charged, charges, created } = intentActs(bench, as)

const create = (reference_id: string, key: string) => call('createPaymentIntent', { as, key, body: { amount_idr: 150_000, allowed_channels: ['qris'], reference_id } })
const nextTryIn = async (reference_id: string) => {
  const [row] = await database.query((sql) => sql<{ seconds: number }[]>`
    select extract(epoch from o.next_try_at - now())::float8 as seconds from payments.provider_operations o
    join payments.payment_intents i on i.id = o.intent_id where i.reference_id = ${reference_id}`)
  return row?.seconds ?? 0
}
const problems = () => logged.map((line) => JSON.parse(line) as { msg: string, level: number, call?: string, key?: string, provider?: string, reason?: string })
  .filter(({ msg }) => msg === 'provider misconfigured')

describe('a provider that does not know us', () => {
  test.each(['unauthenticated', 'forbidden'])('%s: nothing is declined, an operator is told, and once it is mended the same request succeeds', async (behaviour) => {
    const [reference, key] = [`order-${randomUUID()}`, randomUUID()]
    const before = problems().length
    await simulator.next(behaviour, { merchant_reference: reference })
    expect(await create(reference, key)).toMatchObject({ status: 503, body: { error: 'unavailable' } })
    const [problem, ...more] = problems().slice(before)
    expect(more).toEqual([])
    expect(problem).toMatchObject({ level: 50, provider: 'simulator', call: 'createCharge', reason: expect.stringMatching(/^status 40[13]/) as unknown })
    const answer = await create(reference, key)
    expect(answer).toMatchObject({ status: 201, body: { status: 'open' } })
    if (answer.status !== 201) throw new Error('not created')
    expect((await charges(answer.body.id)).map(({ key: sent }) => sent)).toEqual([problem?.key])
  })

  test('a withdrawal that is refused so is tried again', async () => {
    const { id, reference } = await charged({ amount_idr: 150_000, allowed_channels: ['qris'] })
    const [charge] = await charges(id)
    await simulator.next('unauthenticated', { on: 'expire', key: charge?.key ?? '' })
    await call('cancelPaymentIntent', { as, params: { id } })
    const intent = { tenant_id: merchant.tenantId, merchant_id: merchant.id, intent_id: id }
    await withdrawChargesOf(intent, creation)
    expect((await simulator.charges({ key: charge?.key ?? '' })).charges).toMatchObject([{ reference, status: 'pending' }])
    await database.query((sql) => sql`
      update payments.charge_withdrawals set next_try_at = now() where attempt_id in (select id from payments.payment_attempts where intent_id = ${id})`)
    await withdrawChargesOf(intent, creation)
    expect((await simulator.charges({ key: charge?.key ?? '' })).charges).toMatchObject([{ reference, status: 'expired' }])
  })
})

test('a provider that asks for time gets it, an hour at most', async () => {
  for (const [asked, least, most] of [[900, 890, 900], [7, 20, 30], [86_400, 3590, 3600]] as const) {
    const reference = `order-${randomUUID()}`
    await simulator.next('rate-limited', { merchant_reference: reference, retry_after_seconds: asked })
    expect(await create(reference, randomUUID())).toMatchObject({ status: 503, body: { error: 'unavailable' } })
    const seconds = await nextTryIn(reference)
    expect([asked, seconds > least, seconds <= most]).toEqual([asked, true, true])
  }
})

describe('a provider with limits of its own', () => {
  const any: ChannelCapability = {
    multiUse: true, minAmountIdr: null, maxAmountIdr: null, refund: 'none', canExpire: true, canFindByKey: true, longestExpirySeconds: null,
  }
  const choose = async (channel: string, capability: Partial<ChannelCapability> | null, max_uses = 1) => {
    const { id } = await created({ amount_idr: 150_000, allowed_channels: ['qris', 'ewallet_wallet_a'], max_uses })
    const own = creation.providers.get('simulator')
    if (!own) throw new Error('no simulator')
    const capabilities = capability === null ? {} : { [channel]: { ...any, ...capability } }
    const limited: PaymentProvider = { ...own, capabilities }
    const chosen = { tenantId: merchant.tenantId, merchantId: merchant.id, intentId: id, channel, requestId: 'test' }
    return chooseChannel({ ...creation, providers: new Map([['simulator', limited]]) }, chosen)
  }

  test('is not asked for an amount that it would refuse, nor for a channel that it does not serve', async () => {
    expect(await choose('qris', { minAmountIdr: 150_001 })).toMatchObject({ outcome: 'not_allowed', code: 'amount_out_of_range' })
    expect(await choose('qris', { maxAmountIdr: 149_999 })).toMatchObject({ outcome: 'not_allowed', code: 'amount_out_of_range' })
    expect(await choose('qris', null)).toMatchObject({ outcome: 'not_allowed', code: 'channel_unavailable' })
    expect(await choose('qris', { multiUse: false }, 3)).toMatchObject({ outcome: 'not_allowed', code: 'channel_unavailable' })
    expect(await choose('qris', { multiUse: false })).toMatchObject({ outcome: 'chosen' })
  })

  test('is asked for a charge no longer than it keeps one, and the attempt ends with it', async () => {
    const before = bench.clock.now().getTime()
    const choice = await choose('ewallet_wallet_a', { longestExpirySeconds: 55 })
    if (choice.outcome !== 'chosen') throw new Error(choice.outcome)
    expect(choice.attempt.expires_at?.getTime()).toBe(before + 55_000)
    expect((await charges(choice.intent.id))[0]).toMatchObject({ expires_at: new Date(before + 55_000).toISOString() })
  })
})
