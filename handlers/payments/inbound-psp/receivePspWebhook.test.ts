import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { intentActs } from '../../../contract-tests/harness/intentActs.ts'
import { startPayments } from '../../../contract-tests/harness/payments.ts'
import { signCallback } from '../../../providers/callbackSignature.ts'

const bench = await startPayments()
const { call, clock, credential, database, given, send, simulator } = bench
const merchant = await given.merchant()
const as = await given.apiKey(merchant)
const path = { provider: 'simulator', credentialId: credential.id }

describe('200', () => {
  test('a signed callback that matches nothing is kept raw', async () => {
    const body = notice({})
    const answer = await post(body)
    expect(answer).toMatchObject({ status: 200, body: { received: true } })
    expect(await kept(body)).toMatchObject({ outcome: 'unmatched', intent_id: null })
  })

  test('bytes that are no JSON at all are kept raw', async () => {
    const body = Buffer.from([0xff, 0x00, 0x7b])
    expect((await post(body)).status).toBe(200)
    expect(await kept(body)).toMatchObject({ outcome: 'ignored' })
  })

  test('an empty body is kept as a callback that says nothing', async () => {
    expect((await post('')).status).toBe(200)
  })

  test('a proof of payment makes the intent paid, once for each provider reference', async () => {
    const created = await call('createPaymentIntent', {
      as,
      body: { amount_idr: 250_000, max_uses: 1, allowed_channels: ['va_bank_a'] },
    })
    if (created.status !== 201) throw new Error(JSON.stringify(created.body))
    const { charges } = await simulator.charges()
    const charge = charges.find(({ amount_idr }) => amount_idr === 250_000)
    if (!charge) throw new Error('the simulator holds no such charge')
    const paid = notice({ key: charge.key, reference: charge.reference, amount_idr: 250_000, payment_reference: 'PAY-250000' })
    expect((await post(paid)).status).toBe(200)
    expect((await post(paid)).status).toBe(200)
    const read = await call('getPaymentIntent', { as, params: { id: created.body.id } })
    expect(read.body).toMatchObject({ status: 'paid', paid_idr: 250_000, uses: 1, overpaid_idr: 0 })
    expect(await kept(paid)).toMatchObject({ outcome: 'applied', intent_id: created.body.id })
  })

  test('another currency, another amount and a status that moves nothing are kept and change nothing', async () => {
    const created = await call('createPaymentIntent', {
      as,
      body: { amount_idr: 260_000, max_uses: 1, allowed_channels: ['va_bank_a'] },
    })
    if (created.status !== 201) throw new Error(JSON.stringify(created.body))
    const { charges } = await simulator.charges()
    const { key, reference } = charges.find(({ amount_idr }) => amount_idr === 260_000) ?? { key: '', reference: '' }
    const about = { key, reference, amount_idr: 260_000 }
    const cases = [
      ['mismatched', { currency: 'USD' }],
      ['mismatched', { amount_idr: 259_999 }],
      ['ignored', { status: 'pending' }],
    ] as const
    for (const [outcome, members] of cases) {
      const body = notice({ ...about, ...members })
      expect((await post(body)).status).toBe(200)
      expect(await kept(body), JSON.stringify(members)).toMatchObject({ outcome, intent_id: created.body.id })
    }
    expect((await call('getPaymentIntent', { as, params: { id: created.body.id } })).body).toMatchObject({
      status: 'open',
      paid_idr: 0,
    })
  })
})

describe('200, what the provider says of a charge', () => {
  const { charged, created, event, kinds, read, attempts } = intentActs(bench, as)

  test('failed: payment.failed tells intent and attempt; an intent with another way to pay stays open', async () => {
    const { id, reference } = await charged({ amount_idr: 150_000, allowed_channels: ['ewallet_wallet_a'] })
    await simulator.move(reference, 'decline', { code: 'INSUFFICIENT_BALANCE', message: 'No.' })
    expect(await read(id)).toMatchObject({ status: 'open' })
    expect(await kinds(id)).toEqual(['payment_intent.created', 'payment.failed'])
    expect((await event(id, 'payment.failed')).data).toEqual({ intent: await read(id), attempt: (await attempts(id))[0] })
  })

  test.each(['card_3ds', 'paylater_a'])('failed: an intent with %s as its one channel fails', async (channel) => {
    const { id, reference } = await charged({ amount_idr: 150_000, allowed_channels: [channel] })
    await simulator.move(reference, 'decline')
    expect(await read(id)).toMatchObject({ status: 'failed', paid_at: null })
    expect((await event(id, 'payment.failed')).data.intent).toEqual(await read(id))
  })

  test('failed: past the deadline the attempt fails and the intent stays expired', async () => {
    const { id, reference } = await charged({ amount_idr: 150_000, allowed_channels: ['paylater_b'], expires_in_seconds: 60 })
    const { charges: [charge] } = await simulator.charges({ key: (await keyOf(id)) })
    clock.advance(60_000)
    await post(notice({ key: charge?.key, reference, status: 'failed', amount_idr: 150_000, payment_reference: null, completed_at: null, decline: { code: 'NO', message: 'No.' } }))
    expect(await read(id)).toMatchObject({ status: 'expired' })
    expect(await kinds(id)).toEqual(['payment_intent.created', 'payment.failed'])
  })

  test('failed, reported twice and after the payment, changes nothing more', async () => {
    const { id, reference } = await charged({ amount_idr: 150_000, allowed_channels: ['card_3ds'] })
    await simulator.move(reference, 'decline')
    await simulator.move(reference, 'decline', { again: true })
    expect(await kinds(id)).toEqual(['payment_intent.created', 'payment.failed'])
    await simulator.pay(reference, { force: true })
    await simulator.pay(reference, { force: true })
    expect(await read(id)).toMatchObject({ status: 'paid', late: true, paid_idr: 150_000, overpaid_idr: 150_000 })
    expect(await kinds(id)).toEqual(['payment_intent.created', 'payment.failed', 'payment.completed'])
  })

  test('expired: the attempt, and the intent that has no other way', async () => {
    const { id, reference } = await charged({ amount_idr: 150_000, allowed_channels: ['qris'] })
    await simulator.move(reference, 'expire')
    await simulator.move(reference, 'expire', { again: true })
    expect(await read(id)).toMatchObject({ status: 'expired' })
    expect(await attempts(id)).toMatchObject([{ status: 'expired' }])
    expect(await kinds(id)).toEqual(['payment_intent.created', 'payment_intent.expired'])
  })

  test('expired: with other channels left the intent stays open', async () => {
    const { id } = await created({ amount_idr: 111_016, allowed_channels: ['qris', 'va_bank_a'] })
    await call('sandboxCompletePaymentIntent', { as, params: { id } })
    expect(await read(id)).toMatchObject({ status: 'open' })
    expect(await attempts(id)).toMatchObject([{ status: 'expired', channel: 'qris' }])
    expect(await kinds(id)).toEqual(['payment_intent.created'])
  })

  test('reversed: the paid intent and its attempt, once', async () => {
    const { id, reference } = await charged({ amount_idr: 150_000, allowed_channels: ['va_bank_a'] })
    await simulator.pay(reference)
    await simulator.move(reference, 'reverse')
    await simulator.move(reference, 'complete', { again: true })
    expect(await read(id)).toMatchObject({ status: 'reversed', paid_idr: 150_000 })
    expect(await attempts(id)).toMatchObject([{ status: 'reversed' }])
    expect(await kinds(id)).toEqual(['payment_intent.created', 'payment.completed'])
  })

  test('reversed: an intent of several payments stays as it is while one of them is left', async () => {
    const { id, reference } = await charged({ amount_idr: 150_000, max_uses: 2, allowed_channels: ['qris'] })
    await simulator.pay(reference)
    await simulator.pay(reference, { force: true })
    await simulator.move(reference, 'reverse')
    expect(await read(id)).toMatchObject({ status: 'paid', uses: 2 })
    await simulator.move(reference, 'reverse')
    expect(await read(id)).toMatchObject({ status: 'reversed', uses: 2 })
  })

  test('reversed before it was reported paid: recorded as reversed, and the report that comes after it does not count', async () => {
    const { id, reference } = await charged({ amount_idr: 150_000, allowed_channels: ['va_bank_a'] })
    const payment = { key: await keyOf(id), reference, amount_idr: 150_000, payment_reference: `PAY-${randomUUID()}` }
    await post(notice({ ...payment, status: 'reversed' }))
    await post(notice({ ...payment, status: 'paid' }))
    expect(await read(id)).toMatchObject({ status: 'open', uses: 0, paid_idr: 0 })
    expect(await attempts(id)).toMatchObject([{ status: 'reversed' }])
    expect(await kinds(id)).toEqual(['payment_intent.created'])
  })

  test('money in another currency, and a charge that is pending, change nothing', async () => {
    const { id, reference } = await charged({ amount_idr: 150_000, allowed_channels: ['va_bank_a'] })
    const foreign = notice({ key: await keyOf(id), reference, currency: 'USD' })
    await post(foreign)
    expect(await kept(foreign)).toMatchObject({ outcome: 'mismatched', intent_id: id })
    const pending = notice({ key: await keyOf(id), reference, status: 'pending' })
    await post(pending)
    expect(await kept(pending)).toMatchObject({ outcome: 'ignored' })
    expect(await read(id)).toMatchObject({ status: 'open' })
  })
})

describe('401', () => {
  test('no signature, a malformed one, one under another secret and one of other bytes', async () => {
    const body = notice({})
    const signatures = [
      undefined,
      '',
      'v1=00',
      signCallback('another secret', Buffer.from(body), clock.now()),
      signCallback(credential.secret, Buffer.from(`${body} `), clock.now()),
    ]
    for (const signature of signatures) {
      const answer = await send('receivePspWebhook', {
        params: path,
        body,
        headers: {
          'Content-Type': 'application/json',
          ...(signature !== undefined && { 'X-Simulator-Signature': signature }),
        },
      })
      expect(answer, String(signature)).toMatchObject({ status: 401, body: { error: 'unauthenticated' } })
    }
    expect(await kept(body)).toBeUndefined()
  })

  test('a right signature of another time', async () => {
    const body = notice({})
    const old = signCallback(credential.secret, Buffer.from(body), new Date(clock.now().getTime() - 301_000))
    expect(await post(body, old)).toMatchObject({ status: 401, body: { error: 'unauthenticated' } })
  })
})

describe('404', () => {
  test('an unknown provider, an unknown credential and malformed names are not told apart', async () => {
    const body = notice({})
    const places = [
      { ...path, provider: 'another' },
      { ...path, credentialId: randomUUID() },
      { ...path, credentialId: 'nonsense' },
      { ...path, provider: 'Ä' },
      { ...path, credentialId: credential.id.toUpperCase() },
    ]
    for (const params of places) {
      const answer = await send('receivePspWebhook', { params, body, headers: signed(body) })
      expect(answer, JSON.stringify(params)).toMatchObject({ status: 404, body: { error: 'not_found' } })
    }
  })
})

test('413: a callback over the size limit is refused unread', async () => {
  const body = 'x'.repeat(262_145)
  expect(await post(body)).toMatchObject({ status: 413, body: { error: 'payload_too_large' } })
})

async function keyOf(intentId: string): Promise<string> {
  const rows = await database.query((sql) => sql<{ id: string }[]>`select id from payments.provider_operations where intent_id = ${intentId}`)
  return rows[0]?.id ?? ''
}

function notice(members: Record<string, unknown>): string {
  return JSON.stringify({
    event_id: randomUUID(), type: 'charge.paid', key: randomUUID(), reference: `SIM-${randomUUID()}`, status: 'paid', amount_idr: 150_000,
    currency: 'IDR', completed_at: clock.now().toISOString(), payment_reference: `PAY-${randomUUID()}`, decline: null, payer: null, ...members,
  })
}

function signed(
  body: string | Buffer,
  signature = signCallback(credential.secret, Buffer.from(body), clock.now()),
): Record<string, string> {
  return { 'Content-Type': 'application/json', 'X-Simulator-Signature': signature }
}

async function post(body: string | Buffer, signature?: string) {
  return send('receivePspWebhook', {
    params: path,
    body: typeof body === 'string' ? body : new Uint8Array(body),
    headers: signed(body, signature),
  })
}

async function kept(body: string | Buffer): Promise<{ outcome: string; intent_id: string | null } | undefined> {
  const rows = await database.query(
    (sql) => sql<{ outcome: string; intent_id: string | null }[]>`
    select outcome, intent_id from payments.provider_callbacks where body = ${Buffer.from(body)}`,
  )
  return rows[0]
}
