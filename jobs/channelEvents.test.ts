import { describe, expect, test } from 'vitest'
import { intentActs } from '../contract-tests/harness/intentActs.ts'
import { startPayments } from '../contract-tests/harness/payments.ts'
import { channelCodes, channelOf } from '../domain/channels.ts'
import type { ChannelCode, ChannelKind } from '../domain/channels.ts'
import { expireDue } from './expireIntents.ts'

const bench = await startPayments()
const { call, clock, creation, given, settled, simulator } = bench
const merchant = await given.merchant()
const as = await given.apiKey(merchant)
const { attempts, charges, created, kinds, read } = intentActs(bench, as)

const amount = 150_000
const day = 86_400_000

/** The brief's events of each channel in the words of its table, refunds aside (decision 3.9). */
const usual: Record<ChannelKind, readonly string[]> = {
  qris: ['payment_intent.created', 'payment.completed', 'payment_intent.expired'],
  va: ['payment_intent.created', 'payment.completed', 'payment_intent.expired'],
  ewallet: ['payment_intent.created', 'payment.completed', 'payment_intent.expired'],
  otc: ['payment_intent.created', 'payment.completed', 'payment_intent.expired'],
  card: ['payment_intent.created', 'payment.completed', 'payment.failed', 'payment_intent.expired'],
  paylater: ['payment_intent.created', 'payment.completed', 'payment.failed', 'payment_intent.expired'],
  cash: ['payment_intent.created', 'payment.completed'],
}

interface Journey { id: string, reference: string }

async function begin(code: ChannelCode, pointOfSale: boolean): Promise<Journey> {
  const { id } = await created({ amount_idr: amount, ...(pointOfSale ? { channel: code } : { allowed_channels: [code] }) })
  const [charge] = await charges(id)
  expect(charge === undefined).toBe(!channelOf(code).needs_provider)
  return { id, reference: charge?.reference ?? '' }
}
async function pay({ id, reference }: Journey): Promise<void> {
  if (reference !== '') await simulator.pay(reference, { force: true })
  else {
    const cashier = await given.token(merchant, 'merchant_pos_manager', `merchant:${merchant.id}`)
    expect((await call('confirmCashPayment', { as: cashier, params: { id }, body: { amount_idr: amount } })).status).toBe(200)
  }
  await settled()
}
async function move({ reference }: Journey, how: 'decline' | 'reverse'): Promise<void> {
  await simulator.move(reference, how)
  await settled()
}
/** Lets the time of the intent pass, and the sweep come. */
async function wait({ id }: Journey): Promise<void> {
  const { intent_expires_at: deadline } = await read(id)
  clock.advance(deadline === null ? 31 * day : Date.parse(deadline) - clock.now().getTime())
  while (await expireDue(creation));
}
/** What became of it: its state, its attempts and its events in their order. */
async function told({ id }: Journey): Promise<unknown> {
  const { status, late } = await read(id)
  return [`${status}${late ? ' late' : ''}`, (await attempts(id)).map((attempt) => attempt.status).toReversed(), await kinds(id)]
}

const codes = channelCodes.map((code) => [code] as const)
const charged = codes.filter(([code]) => channelOf(code).needs_provider)
const [creates, completes, fails, expires] = ['payment_intent.created', 'payment.completed', 'payment.failed', 'payment_intent.expired']

describe.each([['on the hosted page', false], ['at a point of sale', true]])('%s', (_, pointOfSale) => {
  test.each(codes)('%s, paid: created, completed', async (code) => {
    const journey = await begin(code, pointOfSale)
    await pay(journey)
    expect(await told(journey)).toEqual(['paid', ['succeeded'], [creates, completes]])
  })

  test.each(codes)('%s, nobody pays: created, expired; cash has no end', async (code) => {
    const journey = await begin(code, pointOfSale)
    await wait(journey)
    expect(await told(journey)).toEqual(usual[channelOf(code).kind].includes('payment_intent.expired')
      ? ['expired', ['expired'], [creates, expires]]
      : ['open', ['pending'], [creates]])
  })

  test.each(charged)('%s, declined: created, failed, and the end of the intent where nothing can be tried again', async (code) => {
    const journey = await begin(code, pointOfSale)
    await move(journey, 'decline')
    const ends = pointOfSale || usual[channelOf(code).kind].includes('payment.failed')
    expect(await told(journey)).toEqual([ends ? 'failed' : 'open', ['failed'], [creates, fails]])
    await wait(journey)
    expect(await told(journey)).toEqual(ends ? ['failed', ['failed'], [creates, fails]] : ['expired', ['failed'], [creates, fails, expires]])
  })

  test.each(charged)('%s, paid once it has expired: created, expired, completed', async (code) => {
    const journey = await begin(code, pointOfSale)
    await wait(journey)
    await pay(journey)
    expect(await told(journey)).toEqual(['paid late', ['succeeded'], [creates, expires, completes]])
  })

  test.each(charged)('%s, paid twice: created, completed', async (code) => {
    const journey = await begin(code, pointOfSale)
    await pay(journey)
    await pay(journey)
    expect(await told(journey)).toEqual(['paid', ['succeeded', 'succeeded'], [creates, completes]])
  })

  test.each(charged)('%s, taken back: created, completed', async (code) => {
    const journey = await begin(code, pointOfSale)
    await pay(journey)
    await move(journey, 'reverse')
    expect(await told(journey)).toEqual(['reversed', ['reversed'], [creates, completes]])
  })

  test.each(codes)('%s, cancelled: created', async (code) => {
    const journey = await begin(code, pointOfSale)
    expect((await call('cancelPaymentIntent', { as, params: { id: journey.id } })).status).toBe(200)
    await wait(journey)
    expect(await told(journey)).toEqual(['cancelled', ['expired'], [creates]])
  })
})

test.each(codes)('%s lists the events that are usual on it', (code) => {
  const { events, kind } = channelOf(code)
  expect(events.filter((event) => event !== 'payment.refunded')).toEqual(usual[kind])
  expect(events.includes('payment.refunded')).toBe(['va', 'ewallet', 'otc'].includes(kind))
})
