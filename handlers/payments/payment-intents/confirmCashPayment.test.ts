import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { intentActs } from '../../../contract-tests/harness/intentActs.ts'
import { startPayments } from '../../../contract-tests/harness/payments.ts'

const bench = await startPayments()
const { call, clock, database, given } = bench
const merchant = await given.merchant()
const key = await given.apiKey(merchant)
const { attempts, charged, created, event, kinds, read } = intentActs(bench, key)
const cashier = (place = `merchant:${merchant.id}`) => given.token(merchant, 'merchant_pos_manager', place)
const as = await cashier()

const confirm = (id: string, amount_idr: number, idempotencyKey?: string) =>
  call('confirmCashPayment', { as, params: { id }, body: { amount_idr }, ...(idempotencyKey !== undefined && { key: idempotencyKey }) })
const paid = ['payment_intent.created', 'payment.completed']

describe('200', () => {
  test('a point-of-sale intent is paid, with created and completed as its events', async () => {
    const { id } = await created({ amount_idr: 25_000, channel: 'cash' })
    const answer = await confirm(id, 25_000)
    expect(answer).toMatchObject({ status: 200, body: { status: 'paid', uses: 1, paid_idr: 25_000, late: false, paid_at: clock.now().toISOString() } })
    expect(await read(id)).toEqual(answer.body)
    expect(await attempts(id)).toMatchObject([{ channel: 'cash', status: 'succeeded', amount_idr: 25_000, provider_reference: null }])
    expect(await kinds(id)).toEqual(paid)
    expect((await event(id, 'payment.completed')).data).toEqual({ intent: answer.body, attempt: (await attempts(id))[0] })
  })

  test('an intent whose one channel, or one of whose channels, is cash', async () => {
    for (const allowed_channels of [['cash'], ['qris', 'cash']]) {
      const { id } = await created({ amount_idr: 25_000, allowed_channels })
      expect(await confirm(id, 25_000)).toMatchObject({ status: 200, body: { status: 'paid' } })
      expect(await attempts(id)).toMatchObject([{ channel: 'cash', status: 'succeeded' }])
    }
  })

  test('several uses take any amount, once for each confirmation', async () => {
    const { id } = await created({ amount_idr: 25_000, max_uses: 2, channel: 'cash' })
    const idempotencyKey = randomUUID()
    const first = await confirm(id, 30_000, idempotencyKey)
    expect(first).toMatchObject({ status: 200, body: { status: 'open', uses: 1, paid_idr: 30_000 } })
    expect((await confirm(id, 30_000, idempotencyKey)).body).toEqual(first.body)
    expect(await confirm(id, 20_000)).toMatchObject({ status: 200, body: { status: 'paid', uses: 2, paid_idr: 50_000 } })
    expect(await kinds(id)).toEqual([...paid, 'payment.completed'])
  })

  test('without an end to its uses, one attempt stands and each confirmation is recorded beside it', async () => {
    for (const body of [{ channel: 'cash' }, { allowed_channels: ['qris', 'cash'] }]) {
      const { id } = await created({ amount_idr: 25_000, max_uses: 0, ...body })
      for (const amount of [10_000, 20_000, 30_000]) await confirm(id, amount)
      expect(await read(id)).toMatchObject({ status: 'open', uses: 3, paid_idr: 60_000 })
      expect((await attempts(id)).map(({ status }) => status).sort()).toEqual(['pending', 'succeeded', 'succeeded', 'succeeded'])
    }
  })

  test('twenty confirmations at once of one use count once', async () => {
    const { id } = await created({ amount_idr: 25_000, channel: 'cash' })
    const answers = await Promise.all(Array.from({ length: 20 }, () => confirm(id, 25_000)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(await kinds(id)).toEqual(paid)
  })

  test('it leaves an audit row', async () => {
    const { id } = await created({ amount_idr: 25_000, channel: 'cash' })
    await confirm(id, 25_000)
    const [row] = await database.query((sql) => sql<{ action: string, actor: string }[]>`
      select action, actor from payments.audit_events where target = ${`payment_intent:${id}`}`)
    expect(row).toMatchObject({ action: 'payments.cash.confirmed' })
    expect(row?.actor).toMatch(/^user:/)
  })
})

test('400: another amount than that of a single-use intent', async () => {
  const { id } = await created({ amount_idr: 25_000, channel: 'cash' })
  expect(await confirm(id, 24_999)).toMatchObject({ status: 400, body: { error: 'validation_failed', fields: { amount_idr: expect.any(String) as string } } })
})

describe('409', () => {
  test('idempotency_key_reused: one key with another amount', async () => {
    const { id } = await created({ amount_idr: 25_000, max_uses: 2, channel: 'cash' })
    const idempotencyKey = randomUUID()
    await confirm(id, 25_000, idempotencyKey)
    expect(await confirm(id, 20_000, idempotencyKey)).toMatchObject({ status: 409, body: { error: 'idempotency_key_reused' } })
    expect(await read(id)).toMatchObject({ uses: 1, paid_idr: 25_000 })
  })

  test('an intent that does not take cash', async () => {
    const { id } = await created({ amount_idr: 25_000, allowed_channels: ['qris', 'va_bank_a'] })
    expect(await confirm(id, 25_000)).toMatchObject({ status: 409, body: { error: 'invalid_state' } })
  })

  test('an intent that has ended, or whose deadline is past', async () => {
    const { id } = await created({ amount_idr: 25_000, allowed_channels: ['cash', 'qris'], expires_in_seconds: 60 })
    clock.advance(60_000)
    expect(await call('confirmCashPayment', { as: await cashier(), params: { id }, body: { amount_idr: 25_000 } }))
      .toMatchObject({ status: 409, body: { message: 'The payment intent is expired.' } })
    const paidOne = await charged({ amount_idr: 25_000, allowed_channels: ['qris'] })
    await bench.settled(bench.simulator.pay(paidOne.reference))
    expect(await confirm(paidOne.id, 25_000)).toMatchObject({ status: 409, body: { message: 'The payment intent is paid.' } })
  })
})

test('404: an intent of a merchant that the cashier is not bound to', async () => {
  const other = await given.merchant({ tenantId: merchant.tenantId })
  const { id } = await intentActs(bench, await given.apiKey(other)).created({ amount_idr: 25_000, channel: 'cash' })
  expect(await confirm(id, 25_000)).toMatchObject({ status: 404, body: { error: 'not_found' } })
})
