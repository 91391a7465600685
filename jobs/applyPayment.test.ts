import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { startPayments } from '../contract-tests/harness/payments.ts'
import { findProviderOperationByKey } from '../db/payments/providerOperations.ts'
import type { components } from '../generated/payments.ts'
import { applyPayment } from './applyPayment.ts'

const bench = await startPayments()
const { call, clock, database, given, settled, simulator } = bench
const merchant = await given.merchant()
const as = await given.apiKey(merchant)

const va = { amount_idr: 150_000, allowed_channels: ['va_bank_a'] }

/** An intent of one channel and the simulator's charge behind it. */
const charged = async (body: components['schemas']['PaymentIntentCreate']) => {
  const reference_id = `order-${randomUUID()}`
  const answer = await call('createPaymentIntent', { as, body: { ...body, reference_id } })
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
  const { charges: [charge] } = await simulator.charges({ merchant_reference: reference_id })
  return { id: answer.body.id, reference: charge?.reference ?? '' }
}
const read = async (id: string) => (await call('getPaymentIntent', { as, params: { id } })).body
const eventsOf = async (id: string) => {
  const rows = await database.query((sql) => sql<{ kind: string }[]>`select kind from payments.events where intent_id = ${id} order by position`)
  return rows.map(({ kind }) => kind)
}
const outcomesOf = async (id: string) => {
  const rows = await database.query((sql) => sql<{ outcome: string }[]>`
    select outcome from payments.provider_callbacks where intent_id = ${id} order by received_at, id`)
  return rows.map(({ outcome }) => outcome).sort()
}

test('a proven payment makes a single-use intent paid, with the provider\'s time, and tells it once', async () => {
  const { id, reference } = await charged(va)
  const completedAt = new Date(clock.now().getTime() + 60_000).toISOString()
  clock.advance(61_000)
  await settled(simulator.pay(reference, { completed_at: completedAt }))
  expect(await read(id)).toMatchObject({ status: 'paid', uses: 1, paid_idr: 150_000, overpaid_idr: 0, late: false, paid_at: completedAt })
  expect(await eventsOf(id)).toEqual(['payment_intent.created', 'payment.completed'])
})

test('payment.completed holds the payment and the intent right after it, as the document says', async () => {
  const { id, reference } = await charged(va)
  await settled(simulator.pay(reference))
  const [row] = await database.query((sql) => sql<{ body: string }[]>`select body from payments.events where intent_id = ${id} and kind = 'payment.completed'`)
  const event = JSON.parse(row?.body ?? '') as { data: { intent: object, attempt: object } }
  expect(event).toMatchObject({ event: 'payment.completed', data: { attempt: { intent_id: id, channel: 'va_bank_a', amount_idr: 150_000, status: 'succeeded' } } })
  expect(event.data.intent).toEqual(await read(id))
})

test('10 proofs of one payment at once count once', async () => {
  const { id, reference } = await charged(va)
  const { charge } = await settled(simulator.pay(reference)) as { charge: { payments: { reference: string, completed_at: string }[] } }
  const [payment] = charge.payments
  const operation = await database.query((sql) => sql<{ id: string }[]>`select id from payments.provider_operations where intent_id = ${id}`)
  const outcomes = await Promise.all(Array.from({ length: 10 }, () => database.tx(async (sql) => {
    const row = await findProviderOperationByKey(sql, 'simulator', operation[0]?.id ?? '')
    if (!row) throw new Error('no operation')
    return applyPayment(sql, row, { reference: payment?.reference ?? '', amountIdr: 150_000, completedAt: clock.now() }, bench.creation, clock.now())
  })))
  expect(new Set(outcomes)).toEqual(new Set(['repeated']))
  expect(await read(id)).toMatchObject({ uses: 1, paid_idr: 150_000, overpaid_idr: 0 })
  expect(await eventsOf(id)).toEqual(['payment_intent.created', 'payment.completed'])
})

test('a wrong amount never completes a single-use intent and leaves a record', async () => {
  const { id, reference } = await charged(va)
  await settled(simulator.pay(reference, { amount_idr: 149_999 }))
  expect(await read(id)).toMatchObject({ status: 'open', uses: 0, paid_idr: 0 })
  expect(await outcomesOf(id)).toEqual(['mismatched'])
  expect(await eventsOf(id)).toEqual(['payment_intent.created'])
})

test('money after the deadline is recorded: expired is told first, then paid, late', async () => {
  const { id, reference } = await charged({ amount_idr: 150_000, allowed_channels: ['ewallet_wallet_a'] })
  clock.advance(900_001)
  expect(await read(id)).toMatchObject({ status: 'expired' })
  expect(await eventsOf(id)).toEqual(['payment_intent.created'])
  await settled(simulator.pay(reference, { force: true }))
  expect(await read(id)).toMatchObject({ status: 'paid', late: true, paid_idr: 150_000 })
  expect(await eventsOf(id)).toEqual(['payment_intent.created', 'payment_intent.expired', 'payment.completed'])
})

test('money beyond what the intent takes is overpaid_idr and tells no second completion', async () => {
  const { id, reference } = await charged(va)
  await settled(simulator.pay(reference))
  await settled(simulator.pay(reference, { force: true }))
  expect(await read(id)).toMatchObject({ status: 'paid', uses: 1, paid_idr: 150_000, overpaid_idr: 150_000 })
  expect(await eventsOf(id)).toEqual(['payment_intent.created', 'payment.completed'])
})

test('a static QR takes any amount, any number of times, and stays open', async () => {
  const { id, reference } = await charged({ amount_idr: 10_000, max_uses: 0, allowed_channels: ['qris'] })
  for (const amount_idr of [7_000, 25_000, 10_000]) await settled(simulator.pay(reference, { amount_idr }))
  expect(await read(id)).toMatchObject({ status: 'open', uses: 3, paid_idr: 42_000, overpaid_idr: 0 })
  expect(await eventsOf(id)).toEqual(['payment_intent.created', ...Array.from({ length: 3 }, () => 'payment.completed')])
})

test('an intent of three uses is paid by the third, and the fourth is overpaid', async () => {
  const { id, reference } = await charged({ amount_idr: 20_000, max_uses: 3, allowed_channels: ['va_bank_b'] })
  const states: unknown[] = []
  for (let payment = 0; payment < 4; payment += 1) {
    await settled(simulator.pay(reference, { force: true }))
    states.push(await read(id))
  }
  expect(states).toMatchObject([{ status: 'open', uses: 1 }, { status: 'open', uses: 2 }, { status: 'paid', uses: 3 }, { status: 'paid', uses: 3, paid_idr: 60_000, overpaid_idr: 20_000 }])
  expect((await eventsOf(id)).filter((kind) => kind === 'payment.completed')).toHaveLength(3)
})
