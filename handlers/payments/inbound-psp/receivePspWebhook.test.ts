import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { intentActs } from '../../../contract-tests/harness/intentActs.ts'
import { startPayments } from '../../../contract-tests/harness/payments.ts'
import { signCallback } from '../../../providers/callbackSignature.ts'

/** Questions about charges wait for this; set by a test. */
let answered: Promise<void> = Promise.resolve()
const bench = await startPayments({
  toProvider: async (input, init) => {
    if (init?.method === 'GET') await answered
    return fetch(input, init)
  },
})
const { call, clock, credential, database, given, send, settled, simulator } = bench
const merchant = await given.merchant()
const as = await given.apiKey(merchant)
const { attempts, charged, created, event, kinds, read } = intentActs(bench, as)
const path = { provider: 'simulator', credentialId: credential.id }
const created1 = ['payment_intent.created']
const paid = ['payment_intent.created', 'payment.completed']

describe('200', () => {
  test('is answered, and the callback stored, while the provider has not said a word about it', async () => {
    const gate = Promise.withResolvers<void>()
    const { id, reference } = await charged({ amount_idr: 150_000, allowed_channels: ['va_bank_a'] })
    answered = gate.promise
    const { callback } = await simulator.pay(reference)
    expect(callback).toMatchObject({ status: 200 })
    expect(await callbacksOf(reference)).toMatchObject([{ outcome: 'received', tries: 0 }])
    expect(await read(id)).toMatchObject({ status: 'open' })
    gate.resolve()
    await settled()
    expect(await callbacksOf(reference)).toMatchObject([{ outcome: 'applied', tries: 1, next_try_at: null, intent_id: id }])
    expect(await read(id)).toMatchObject({ status: 'paid' })
  })

  test('a callback is stored with its bytes, its time and the headers that its provider names, and no others', async () => {
    const body = `  ${notice({})}\n`
    await send('receivePspWebhook', { params: path, body, headers: { ...signed(body), 'Authorization': 'Basic c2VjcmV0', 'User-Agent': 'Provider/1.0' } })
    const [row] = await database.query((sql) => sql`select body, received_at, headers from payments.provider_callbacks where body = ${Buffer.from(body)}`)
    expect(row).toEqual({
      body: Buffer.from(body), received_at: clock.now(),
      headers: { 'content-type': 'application/json', 'user-agent': 'Provider/1.0', 'x-simulator-signature': signed(body)['X-Simulator-Signature'] },
    })
  })

  test('a signed callback that matches nothing is kept raw, for a later try', async () => {
    const body = notice({})
    const answer = await settled(post(body))
    expect(answer).toMatchObject({ status: 200, body: { received: true } })
    expect(await kept(body)).toMatchObject({ outcome: 'unmatched', intent_id: null, next_try_at: new Date(clock.now().getTime() + 30_000) })
  })

  test('bytes that are no JSON at all are kept raw, a repeat of them once', async () => {
    const body = Buffer.from([0xff, 0x00, 0x7b])
    expect((await post(body)).status).toBe(200)
    expect((await post(body)).status).toBe(200)
    expect(await allKept(body)).toMatchObject([{ outcome: 'ignored', next_try_at: null }])
  })

  test('an empty body is kept as a callback that says nothing', async () => {
    expect((await post('')).status).toBe(200)
    expect(await kept('')).toMatchObject({ outcome: 'ignored' })
  })

  test.each([['event_id', 'x'.repeat(9000)], ['event_id', 'a\0b'], ['key', 'a\0b'], ['payment_reference', 'p'.repeat(9000)], ['currency', '\0']])(
    'a %s that no row could name things by is kept all the same', async (member, value) => {
      const body = notice({ [member]: value })
      expect((await settled(post(body))).status).toBe(200)
      expect(await allKept(body)).toHaveLength(1)
    })

  test('a notice about a refund is kept', async () => {
    const key = randomUUID()
    const body = JSON.stringify({
      event_id: randomUUID(), event: 'refund.succeeded', key, reference: `RF-${key}`, status: 'succeeded', currency: 'IDR', amount_idr: 1000,
      completed_at: clock.now().toISOString(), decline: null,
    })
    expect((await post(body)).status).toBe(200)
    expect(await kept(body)).toMatchObject({ outcome: 'ignored', detail: `refund ${key} succeeded` })
  })

  test('a stored event id is stored once and processed once, however often and in whatever words it is repeated', async () => {
    const { id, reference } = await charged({ amount_idr: 150_000, allowed_channels: ['va_bank_a'] })
    const eventId = randomUUID()
    const { callbacks } = await settled(simulator.pay(reference, { callback: { says: { event_id: eventId }, repeat: 6 } }))
    expect(callbacks.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200])
    expect((await settled(simulator.notify(reference, { says: { event_id: eventId, amount_idr: 1 } }))).callback).toMatchObject({ status: 200 })
    expect(await callbacksOf(reference)).toMatchObject([{ outcome: 'applied', tries: 1 }])
    expect(await read(id)).toMatchObject({ status: 'paid', uses: 1, overpaid_idr: 0 })
    expect(await kinds(id)).toEqual(paid)
  })
})

describe('200, and soon after it', () => {
  test('paid: the intent is, with the provider\'s time', async () => {
    const { id, reference } = await charged({ amount_idr: 150_000, allowed_channels: ['va_bank_a'] })
    await settled(simulator.pay(reference))
    expect(await read(id)).toMatchObject({ status: 'paid', paid_idr: 150_000, paid_at: clock.now().toISOString() })
    expect(await kinds(id)).toEqual(paid)
  })

  test('failed: payment.failed tells intent and attempt; an intent with another way to pay stays open', async () => {
    const { id, reference } = await charged({ amount_idr: 150_000, allowed_channels: ['ewallet_wallet_a'] })
    await settled(simulator.move(reference, 'decline', { code: 'INSUFFICIENT_BALANCE', message: 'No.' }))
    expect(await read(id)).toMatchObject({ status: 'open' })
    expect(await attempts(id)).toMatchObject([{ status: 'failed', failure_code: 'INSUFFICIENT_BALANCE' }])
    expect(await kinds(id)).toEqual(['payment_intent.created', 'payment.failed'])
    expect((await event(id, 'payment.failed')).data).toEqual({ intent: await read(id), attempt: (await attempts(id))[0] })
  })

  test.each(['card_3ds', 'paylater_a'])('failed: an intent with %s as its one channel fails', async (channel) => {
    const { id, reference } = await charged({ amount_idr: 150_000, allowed_channels: [channel] })
    await settled(simulator.move(reference, 'decline'))
    expect(await read(id)).toMatchObject({ status: 'failed', paid_at: null })
    expect((await event(id, 'payment.failed')).data.intent).toEqual(await read(id))
  })

  test('failed: past the deadline the attempt fails and the intent stays expired', async () => {
    const { id, reference } = await charged({ amount_idr: 150_000, allowed_channels: ['paylater_b'], expires_in_seconds: 60 })
    await simulator.hold({ reference })
    await simulator.move(reference, 'decline')
    clock.advance(60_000)
    await settled(simulator.release())
    expect(await read(id)).toMatchObject({ status: 'expired' })
    expect(await kinds(id)).toEqual(['payment_intent.created', 'payment.failed'])
  })

  test('failed, reported twice and after the payment, changes nothing more', async () => {
    const { id, reference } = await charged({ amount_idr: 150_000, allowed_channels: ['card_3ds'] })
    await settled(simulator.move(reference, 'decline'))
    await settled(simulator.move(reference, 'decline', { again: true }))
    expect(await kinds(id)).toEqual(['payment_intent.created', 'payment.failed'])
    await settled(simulator.pay(reference, { force: true }))
    await settled(simulator.pay(reference, { force: true }))
    expect(await read(id)).toMatchObject({ status: 'paid', late: true, paid_idr: 150_000, overpaid_idr: 150_000 })
    expect(await kinds(id)).toEqual(['payment_intent.created', 'payment.failed', 'payment.completed'])
  })

  test('expired: the attempt, and the intent that has no other way', async () => {
    const { id, reference } = await charged({ amount_idr: 150_000, allowed_channels: ['qris'] })
    await settled(simulator.move(reference, 'expire'))
    await settled(simulator.move(reference, 'expire', { again: true }))
    expect(await read(id)).toMatchObject({ status: 'expired' })
    expect(await attempts(id)).toMatchObject([{ status: 'expired' }])
    expect(await kinds(id)).toEqual(['payment_intent.created', 'payment_intent.expired'])
  })

  test('expired: with other channels left the intent stays open', async () => {
    const { id } = await created({ amount_idr: 111_016, allowed_channels: ['qris', 'va_bank_a'] })
    await call('sandboxCompletePaymentIntent', { as, params: { id } })
    expect(await read(id)).toMatchObject({ status: 'open' })
    expect(await attempts(id)).toMatchObject([{ status: 'expired', channel: 'qris' }])
    expect(await kinds(id)).toEqual(created1)
  })

  test('reversed: the paid intent and its attempt, once', async () => {
    const { id, reference } = await charged({ amount_idr: 150_000, allowed_channels: ['va_bank_a'] })
    await settled(simulator.pay(reference))
    await settled(simulator.move(reference, 'reverse'))
    await settled(simulator.move(reference, 'complete', { again: true }))
    expect(await read(id)).toMatchObject({ status: 'reversed', paid_idr: 150_000 })
    expect(await attempts(id)).toMatchObject([{ status: 'reversed' }])
    expect(await kinds(id)).toEqual(paid)
  })

  test('reversed: an intent of several payments stays as it is while one of them is left', async () => {
    const { id, reference } = await charged({ amount_idr: 150_000, max_uses: 2, allowed_channels: ['qris'] })
    await settled(simulator.pay(reference))
    await settled(simulator.pay(reference, { force: true }))
    await settled(simulator.move(reference, 'reverse'))
    expect(await read(id)).toMatchObject({ status: 'paid', uses: 2 })
    await settled(simulator.move(reference, 'reverse'))
    expect(await read(id)).toMatchObject({ status: 'reversed', uses: 2 })
  })

  test('reversed before it was reported paid: recorded as reversed, and the report that comes after it does not count', async () => {
    const { id, reference } = await charged({ amount_idr: 150_000, allowed_channels: ['va_bank_a'] })
    await simulator.hold({ reference })
    await simulator.pay(reference)
    await simulator.move(reference, 'reverse')
    const [first, second] = (await simulator.held()).map((callback) => callback.id)
    await settled(simulator.release([second ?? ''], { keep_holding: true }))
    await settled(simulator.release([first ?? '']))
    expect((await callbacksOf(reference)).map(({ status, outcome }) => `${status} ${outcome}`).sort()).toEqual(['paid repeated', 'reversed applied'])
    expect(await read(id)).toMatchObject({ status: 'open', uses: 0, paid_idr: 0 })
    expect(await attempts(id)).toMatchObject([{ status: 'reversed' }])
    expect(await kinds(id)).toEqual(created1)
  })

  test('a charge that is pending changes nothing', async () => {
    const { id, reference } = await charged({ amount_idr: 150_000, allowed_channels: ['va_bank_a'] })
    await settled(simulator.notify(reference, { status: 'pending' }))
    expect(await callbacksOf(reference)).toMatchObject([{ outcome: 'ignored', intent_id: id, next_try_at: null }])
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

  test.each(['wrong-secret', 'stale', 'missing', 'malformed', 'altered-body'] as const)('a provider whose signature is %s moves nothing', async (signature) => {
    const { id, reference } = await charged({ amount_idr: 150_000, allowed_channels: ['va_bank_a'] })
    const { callback } = await settled(simulator.pay(reference, { callback: { signature } }))
    expect(callback).toMatchObject({ status: 401 })
    expect(await callbacksOf(reference)).toEqual([])
    expect(await read(id)).toMatchObject({ status: 'open' })
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

interface Kept {
  outcome: string
  status: string | null
  detail: string | null
  tries: number
  intent_id: string | null
  next_try_at: Date | null
}

async function allKept(body: string | Buffer): Promise<Kept[]> {
  return database.query((sql) => sql<Kept[]>`
    select outcome, status, detail, tries, intent_id, next_try_at from payments.provider_callbacks where body = ${Buffer.from(body)}`)
}

async function kept(body: string | Buffer): Promise<Kept | undefined> {
  return (await allKept(body))[0]
}

/** Callbacks that name the charge, in no order. */
async function callbacksOf(reference: string): Promise<Kept[]> {
  return database.query((sql) => sql<Kept[]>`
    select outcome, status, detail, tries, intent_id, next_try_at from payments.provider_callbacks
    where position(convert_to(${reference}, 'UTF8') in body) > 0`)
}
