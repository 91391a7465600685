import { describe, expect, test } from 'vitest'
import { intentActs } from '../contract-tests/harness/intentActs.ts'
import { startPayments } from '../contract-tests/harness/payments.ts'
import { dueWithdrawals, withdrawCharge } from './chargeWithdrawal.ts'
import { expireDue } from './expireIntents.ts'

const bench = await startPayments()
const { call, clock, creation, database, given, settled, simulator } = bench
const as = await given.apiKey(await given.merchant())
const { attempts, charged, charges, created, event, kinds, read } = intentActs(bench, as)

const expireAll = async () => {
  while (await expireDue(creation));
}
const statusOf = async (id: string) => (await database.query((sql) => sql<{ status: string }[]>`select status from payments.payment_intents where id = ${id}`))[0]?.status

describe('the sweep', () => {
  test('expires what is due, attempt and intent, and tells it once, however many sweep at a time', async () => {
    const body = { amount_idr: 150_000, allowed_channels: ['va_bank_a'], expires_in_seconds: 60 }
    const intents = []
    for (let count = 0; count < 60; count += 1) intents.push(await created(body))
    const later = await created({ amount_idr: 150_000, allowed_channels: ['va_bank_a'], expires_in_seconds: 61 })
    clock.advance(60_000)
    await Promise.all([expireAll(), expireAll(), expireAll()])
    for (const { id } of intents) {
      expect(await statusOf(id)).toBe('expired')
      expect(await kinds(id)).toEqual(['payment_intent.created', 'payment_intent.expired'])
    }
    expect(await attempts(intents[0]?.id ?? '')).toMatchObject([{ status: 'expired' }])
    expect(await statusOf(later.id)).toBe('open')
  })

  test('the event holds the intent as it then reads', async () => {
    const { id } = await created({ amount_idr: 150_000, allowed_channels: ['qris'], expires_in_seconds: 60 })
    clock.advance(60_000)
    const before = await read(id)
    await expireAll()
    expect(await read(id)).toEqual(before)
    expect((await event(id, 'payment_intent.expired')).data).toEqual({ intent: before })
  })

  test('leaves alone what is paid, cancelled, hidden, or has no deadline', async () => {
    const { id, reference } = await charged({ amount_idr: 150_000, allowed_channels: ['qris'], expires_in_seconds: 60 })
    await settled(simulator.pay(reference))
    const cancelled = await created({ amount_idr: 150_000, allowed_channels: ['qris'], expires_in_seconds: 60 })
    await call('cancelPaymentIntent', { as, params: { id: cancelled.id } })
    const cash = await created({ amount_idr: 150_000, channel: 'cash' })
    const hidden = await created({ amount_idr: 150_000, allowed_channels: ['qris'], expires_in_seconds: 60 })
    await database.query((sql) => sql`update payments.payment_intents set visible = false where id = ${hidden.id}`)
    clock.advance(60_000)
    await expireAll()
    expect(await Promise.all([id, cancelled.id, cash.id, hidden.id].map(statusOf))).toEqual(['paid', 'cancelled', 'open', 'open'])
  })

  test('skips what somebody is changing, and gets it the next time', async () => {
    const { id } = await created({ amount_idr: 150_000, allowed_channels: ['qris'], expires_in_seconds: 60 })
    clock.advance(60_000)
    await database.tx(async (sql) => {
      await sql`select from payments.payment_intents where id = ${id} for update`
      await expireAll()
      expect(await statusOf(id)).toBe('open')
    })
    await expireAll()
    expect(await statusOf(id)).toBe('expired')
  })

  test('an attempt whose own time is over expires; the intent with longer channels stays open', async () => {
    const { id } = await created({ amount_idr: 111_015, allowed_channels: ['ewallet_wallet_a', 'va_bank_a'] })
    await call('sandboxCompletePaymentIntent', { as, params: { id } })
    clock.advance(900_000)
    expect(await attempts(id)).toMatchObject([{ status: 'expired' }])
    await expireAll()
    const rows = await database.query((sql) => sql`select status from payments.payment_attempts where intent_id = ${id}`)
    expect(rows).toEqual([{ status: 'expired' }])
    expect(await read(id)).toMatchObject({ status: 'open' })
  })

  test('a payment that was never reported is found at the provider afterwards, and recorded late', async () => {
    const { id } = await created({ amount_idr: 111_015, allowed_channels: ['qris'], expires_in_seconds: 60 })
    await call('sandboxCompletePaymentIntent', { as, params: { id } })
    clock.advance(60_000)
    await expireAll()
    expect(await read(id)).toMatchObject({ status: 'expired' })
    for (const withdrawal of await dueWithdrawals(creation, 'simulator', 1000)) await withdrawCharge(withdrawal, creation)
    expect(await read(id)).toMatchObject({ status: 'paid', late: true, paid_idr: 111_015 })
    expect(await kinds(id)).toEqual(['payment_intent.created', 'payment_intent.expired', 'payment.completed'])
    expect(await charges(id)).toMatchObject([{ status: 'paid' }])
  })
})
