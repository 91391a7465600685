import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { startPayments } from '../../../contract-tests/harness/payments.ts'

const { call, clock, database, given, send, simulator } = await startPayments()
const merchant = await given.merchant()
const as = await given.apiKey(merchant)
type Body = NonNullable<Parameters<typeof call<'createPaymentIntent'>>[1]>['body']

async function create(body: Partial<NonNullable<Body>> = {}) {
  const answer = await call('createPaymentIntent', {
    as,
    body: { amount_idr: 150_000, max_uses: 1, allowed_channels: ['va_bank_a'], ...body },
  })
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
  return answer.body
}
const read = async (id: string) => {
  const answer = await call('getPaymentIntent', { as, params: { id } })
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
  return answer.body
}

describe('200', () => {
  test.each([
    ['one channel', ['va_bank_a']],
    ['a QR', ['qris']],
    ['several channels', ['qris', 'cash']],
  ])('%s reads as it was created', async (_, channels) => {
    const created = await create({
      allowed_channels: channels,
      description: 'Order 1042',
      reference_id: randomUUID(),
      metadata: { order_id: '1042' },
    })
    expect(await read(created.id)).toEqual(created)
  })

  test('after the deadline it reads expired at once, and its account with it', async () => {
    const bench = await startPayments()
    const owner = await bench.given.merchant()
    const key = await bench.given.apiKey(owner)
    const created = await bench.call('createPaymentIntent', {
      as: key,
      body: { amount_idr: 150_000, max_uses: 1, allowed_channels: ['va_bank_a'], expires_in_seconds: 60 },
    })
    if (created.status !== 201) throw new Error(JSON.stringify(created.body))
    const at = async () => (await bench.call('getPaymentIntent', { as: key, params: { id: created.body.id } })).body
    bench.clock.advance(59_999)
    expect(await at()).toMatchObject({ status: 'open' })
    bench.clock.advance(1)
    expect(await at()).toMatchObject({ status: 'expired', intent_expires_at: created.body.intent_expires_at })
  })

  test('every caller within reach reads the same', async () => {
    const created = await create()
    const callers = [
      await given.apiKey(merchant, { scopes: ['payments.payment_intent.read'] }),
      await given.token(merchant, 'tenant_admin', '*'),
      await given.token(merchant, 'merchant_support', `merchant:${merchant.id}`),
    ]
    for (const credential of callers)
      expect((await call('getPaymentIntent', { as: credential, params: { id: created.id } })).body).toEqual(created)
  })
})

describe('404', () => {
  test('unknown, malformed and of somebody else are the same answer', async () => {
    const created = await create()
    const stranger = await given.apiKey(await given.merchant())
    const sibling = await given.apiKey(await given.merchant({ tenantId: merchant.tenantId }))
    const answers = [
      await send('getPaymentIntent', { as, params: { id: randomUUID() } }),
      await send('getPaymentIntent', { as, params: { id: 'nonsense' } }),
      await send('getPaymentIntent', { as: stranger, params: { id: created.id } }),
      await send('getPaymentIntent', { as: sibling, params: { id: created.id } }),
    ]
    expect(
      new Set(answers.map(({ status, text }) => `${status} ${text.replace(/"request_id":"[^"]*"/, '')}`)).size,
    ).toBe(1)
    expect(answers[0]).toMatchObject({ status: 404, body: { error: 'not_found' } })
  })

  test('an intent whose creation is not finished, or was refused, does not exist', async () => {
    await simulator.next('decline', { code: 'REFUSED', message: 'Refused.' })
    const refused = await call('createPaymentIntent', {
      as,
      body: { amount_idr: 777_000, max_uses: 1, allowed_channels: ['va_bank_a'] },
    })
    expect(refused.status).toBe(422)
    const [hidden] = await database.query(
      (sql) =>
        sql<
          { id: string; visible: boolean }[]
        >`select id, visible from payments.payment_intents where amount_idr = 777000`,
    )
    expect(hidden?.visible).toBe(false)
    expect(await call('getPaymentIntent', { as, params: { id: hidden?.id ?? '' } })).toMatchObject({
      status: 404,
      body: { error: 'not_found' },
    })
  })
})

test('403: a key without the scope, a user without the permission', async () => {
  const created = await create()
  const key = await given.apiKey(merchant, { scopes: ['payments.payment_intent.create'] })
  expect(await call('getPaymentIntent', { as: key, params: { id: created.id } })).toMatchObject({
    status: 403,
    body: { error: 'insufficient_scope' },
  })
  const reviewer = await given.token(merchant, 'reviewer', '*')
  expect(await call('getPaymentIntent', { as: reviewer, params: { id: created.id } })).toMatchObject({
    status: 403,
    body: { error: 'forbidden' },
  })
})

test('a read changes nothing, not even past the deadline', async () => {
  const created = await create({ expires_in_seconds: 60 })
  const row = () =>
    database.query((sql) => sql`select i.xmin, i.status from payments.payment_intents i where id = ${created.id}`)
  const before = await row()
  clock.advance(61_000)
  await read(created.id)
  expect(await row()).toEqual(before)
})
