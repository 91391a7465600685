import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { intentActs } from '../../../contract-tests/harness/intentActs.ts'
import { startPayments } from '../../../contract-tests/harness/payments.ts'
import { withdrawChargesOf } from '../../../jobs/withdrawalWork.ts'

const bench = await startPayments()
const { call, clock, creation, database, given, settled, simulator } = bench
const merchant = await given.merchant()
const as = await given.apiKey(merchant)
const { attempts, charged, charges, created, kinds, read } = intentActs(bench, as)

const va = { amount_idr: 150_000, allowed_channels: ['va_bank_a'] }
const cancel = (id: string, key?: string) => call('cancelPaymentIntent', { as, params: { id }, ...(key !== undefined && { key }) })

describe('200', () => {
  test('an open intent is cancelled, without event, and its attempt ends', async () => {
    const intent = await created(va)
    const answer = await cancel(intent.id)
    expect(answer).toMatchObject({ status: 200, body: { ...intent, status: 'cancelled' } })
    expect(await read(intent.id)).toEqual(answer.body)
    expect(await attempts(intent.id)).toMatchObject([{ status: 'expired' }])
    expect(await kinds(intent.id)).toEqual(['payment_intent.created'])
  })

  test('an intent that nobody has chosen a channel of is cancelled', async () => {
    const { id } = await created({ amount_idr: 150_000, allowed_channels: ['qris', 'va_bank_a'] })
    expect(await cancel(id)).toMatchObject({ status: 200, body: { status: 'cancelled' } })
  })

  test('after the commit the charge is expired at the provider, by a job that was enqueued in the transaction', async () => {
    const { id } = await charged(va)
    await cancel(id)
    const jobs = await database.query((sql) => sql<{ data: { intent_id: string } }[]>`select data from pgboss.job where name = 'withdraw-charges'`)
    expect(jobs.filter(({ data }) => data.intent_id === id)).toHaveLength(1)
    expect(await charges(id)).toMatchObject([{ status: 'pending' }])
    await withdrawChargesOf({ tenant_id: merchant.tenantId, merchant_id: merchant.id, intent_id: id }, creation)
    expect(await charges(id)).toMatchObject([{ status: 'expired' }])
    expect(await read(id)).toMatchObject({ status: 'cancelled' })
  })

  test('money that had arrived before the charge could be expired is recorded, late', async () => {
    const { id, reference } = await charged({ ...va, amount_idr: 111_015 })
    await settled(simulator.move(reference, 'complete'))
    await cancel(id)
    await withdrawChargesOf({ tenant_id: merchant.tenantId, merchant_id: merchant.id, intent_id: id }, creation)
    expect(await read(id)).toMatchObject({ status: 'paid', late: true, paid_idr: 111_015 })
    expect(await kinds(id)).toEqual(['payment_intent.created', 'payment.completed'])
  })

  test('the same key answers the same again, marked as replayed, though the intent is no longer open', async () => {
    const { id } = await created(va)
    const key = randomUUID()
    const [first, second] = [await cancel(id, key), await cancel(id, key)]
    expect(second.body).toEqual(first.body)
    expect(second.headers.get('idempotency-replayed')).toBe('true')
  })

  test('it leaves an audit row that names who, what and the member that changed', async () => {
    const { id } = await created(va)
    await cancel(id)
    const rows = await database.query((sql) => sql`
      select action, key_prefix, changed_keys from payments.audit_events where target = ${`payment_intent:${id}`}`)
    expect(rows).toEqual([{ action: 'payments.payment_intent.cancelled', key_prefix: as.slice(0, 12), changed_keys: ['status'] }])
  })
})

describe('409', () => {
  test('a paid intent and a cancelled one: the message names the state', async () => {
    const { id, reference } = await charged(va)
    await settled(simulator.pay(reference))
    expect(await cancel(id)).toMatchObject({ status: 409, body: { error: 'invalid_state', message: 'The payment intent is paid.' } })
    const other = await created(va)
    await cancel(other.id)
    expect(await cancel(other.id)).toMatchObject({ status: 409, body: { error: 'invalid_state', message: 'The payment intent is cancelled.' } })
  })

  test('past the deadline it names expired, before any sweep', async () => {
    const { id } = await created({ ...va, expires_in_seconds: 60 })
    clock.advance(60_000)
    expect(await cancel(id)).toMatchObject({ status: 409, body: { error: 'invalid_state', message: 'The payment intent is expired.' } })
  })

  test('the same key for another intent', async () => {
    const key = randomUUID()
    await cancel((await created(va)).id, key)
    expect(await cancel((await created(va)).id, key)).toMatchObject({ status: 409, body: { error: 'idempotency_key_reused' } })
  })
})

test('404: an intent of another merchant, and an id that nobody has', async () => {
  const { id } = await created(va)
  const other = await given.apiKey(await given.merchant({ tenantId: merchant.tenantId }))
  expect(await call('cancelPaymentIntent', { as: other, params: { id } })).toMatchObject({ status: 404, body: { error: 'not_found' } })
  expect(await cancel(randomUUID())).toMatchObject({ status: 404, body: { error: 'not_found' } })
})
