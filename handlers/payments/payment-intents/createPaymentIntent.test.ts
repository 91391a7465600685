import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { claimIdempotencyKey } from '../../../db/payments/idempotencyKeys.ts'
import { startPayments } from '../../../contract-tests/harness/payments.ts'
import { channelCodes, channelOf, ttlSeconds } from '../../../domain/channels.ts'
import type { components } from '../../../generated/payments.ts'

const bench = await startPayments()
const { call, clock, given, database, simulator } = bench
const merchant = await given.merchant()
const as = await given.apiKey(merchant)

const qris = { amount_idr: 150_000, allowed_channels: ['qris'] }
const choice = { amount_idr: 150_000, allowed_channels: ['qris', 'va_bank_a', 'ewallet_wallet_a'] }

const eventsOf = async (intentId: string) => {
  const rows = await database.query((sql) => sql<{ kind: string, body: string }[]>`
    select kind, body from payments.events where intent_id = ${intentId} order by position`)
  return rows.map(({ kind, body }) => ({ kind, body: JSON.parse(body) as { event: string, data: { intent: unknown } } }))
}

const created = async (body: components['schemas']['PaymentIntentCreate'], key?: string) => {
  const answer = await call('createPaymentIntent', { as, body, ...(key !== undefined && { key }) })
  if (answer.status !== 201) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body
}

/** Waits until some statement waits for a lock. */
const untilBlocked = async () => {
  for (;;) {
    const [row] = await database.query((sql) => sql<{ blocked: number }[]>`
      select count(*)::int as blocked from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`)
    if (row?.blocked) return
  }
}

describe('201', () => {
  test('an intent has the members of the document, its defaults, and can be read back', async () => {
    const intent = await created(qris)
    expect(intent).toMatchObject({
      status: 'open', environment: 'sandbox', merchant_id: merchant.id, amount_idr: 150_000, max_uses: 1, uses: 0, paid_idr: 0, refunded_idr: 0, overpaid_idr: 0,
      description: null, allowed_channels: ['qris'], channel: null, metadata: {}, reference_id: null, return_url: null, customer: null, customer_id: null,
      late: false, created_at: clock.now().toISOString(), paid_at: null,
    })
    expect(intent.shortcode).toMatch(/^[0-9a-hjkmnp-tv-z]{10}$/)
    expect(intent.checkout_url).toBe(`${bench.url}/pay/${intent.shortcode}`)
    const read = await call('getPaymentIntent', { as, params: { id: intent.id } })
    expect(read.body).toEqual(intent)
  })

  test.each(channelCodes.map((code) => [code] as const))('%s gives exactly the fields of its channel', async (code) => {
    const intent = await created({ amount_idr: 150_000, allowed_channels: [code] })
    const typed = ['qr_string', 'va_number', 'va_bank', 'expires_at', 'redirect_url', 'payment_code', 'payment_url', 'challenge_url']
    expect(typed.filter((name) => name in intent).sort()).toEqual([...channelOf(code).typed_fields].sort())
  })

  test('a virtual account says its bank and when it expires', async () => {
    const intent = await created({ amount_idr: 150_000, allowed_channels: ['va_bank_b'] })
    expect(intent).toMatchObject({ va_bank: 'bank_b', expires_at: new Date(clock.now().getTime() + 86_400_000).toISOString() })
    expect(intent.va_number).toMatch(/^\d{10,18}$/)
  })

  test('a card leads to our own challenge page', async () => {
    const intent = await created({ amount_idr: 150_000, allowed_channels: ['card_3ds'] })
    expect(intent.challenge_url).toBe(`${bench.url}/pay/${intent.shortcode}/3ds`)
  })

  test('with several channels the payer chooses: no attempt, no typed field, no call to the provider', async () => {
    const before = (await simulator.charges()).total
    const intent = await created(choice)
    expect(Object.keys(intent)).not.toContain('qr_string')
    expect((await simulator.charges()).total).toBe(before)
    const attempts = await database.query((sql) => sql`select from payments.payment_attempts where intent_id = ${intent.id}`)
    expect(attempts).toHaveLength(0)
  })

  test('a point-of-sale intent has its channel, one attempt and no hosted page', async () => {
    const intent = await created({ amount_idr: 25_000, channel: 'cash' })
    expect(intent).toMatchObject({ channel: 'cash', allowed_channels: [], checkout_url: null, intent_expires_at: null })
  })

  test.each([
    ['qris', 1, 1800], ['qris', 0, 86_400], ['qris', 5, 86_400], ['va_bank_a', 1, 86_400], ['ewallet_wallet_c', 1, 900], ['otc_store_a', 1, 86_400],
    ['paylater_a', 1, 2_592_000], ['card_3ds', 1, 86_400],
  ])('%s with max_uses %i expires after %i seconds', async (code, maxUses, seconds) => {
    const intent = await created({ amount_idr: 150_000, max_uses: maxUses, allowed_channels: [code] })
    expect(intent.intent_expires_at).toBe(new Date(clock.now().getTime() + seconds * 1000).toISOString())
  })

  test('the longest time to live of several channels is the deadline, and expires_in_seconds shortens it', async () => {
    expect((await created(choice)).intent_expires_at).toBe(new Date(clock.now().getTime() + 86_400_000).toISOString())
    expect((await created({ ...choice, expires_in_seconds: 900 })).intent_expires_at).toBe(new Date(clock.now().getTime() + 900_000).toISOString())
  })

  const lives = channelCodes.flatMap((code) => [1, 0].flatMap((maxUses) => {
    const ttl = ttlSeconds(code, maxUses)
    return ttl === null ? [] : [[code, maxUses, ttl] as const]
  }))

  test.each(lives)('%s with max_uses %i takes an expires_in_seconds of 60 to %i, which holds at the provider too', async (code, maxUses, ttl) => {
    const body = { amount_idr: 150_000, max_uses: maxUses, allowed_channels: [code] }
    for (const seconds of [60, ttl]) {
      const reference_id = `order-${randomUUID()}`
      const ends = new Date(clock.now().getTime() + seconds * 1000).toISOString()
      expect(await created({ ...body, reference_id, expires_in_seconds: seconds })).toMatchObject({ intent_expires_at: ends })
      expect((await simulator.charges({ merchant_reference: reference_id })).charges).toMatchObject([{ expires_at: ends }])
    }
    for (const seconds of [59, ttl + 1]) {
      expect(await call('createPaymentIntent', { as, body: { ...body, expires_in_seconds: seconds } }))
        .toMatchObject({ status: 400, body: { error: 'validation_failed', fields: { expires_in_seconds: expect.any(String) as string } } })
    }
  })

  test('expires_at is that of the virtual account, and stands beside its number alone', async () => {
    const intent = await created({ amount_idr: 150_000, allowed_channels: ['va_bank_a'], expires_in_seconds: 600 })
    expect(intent).toMatchObject({ expires_at: new Date(clock.now().getTime() + 600_000).toISOString(), va_number: expect.any(String) as string })
    expect(await created({ amount_idr: 150_000, allowed_channels: ['qris'], expires_in_seconds: 600 })).not.toHaveProperty('expires_at')
  })

  test('everything optional is kept as it was sent', async () => {
    const body = {
      ...choice, merchant_id: merchant.id, description: 'Pesanan 1042 ☕ مرحبا', metadata: { order: '1042', '__proto__x': 'y', emoji: '🛒' },
      reference_id: `order-${randomUUID()}`, return_url: 'https://shop.example/orders/1042?a=b', customer: { email: 'pelanggan@shop.example' },
    }
    const intent = await created(body)
    expect(intent).toMatchObject({ ...body, customer: { name: null, email: 'pelanggan@shop.example', phone: null } })
  })

  test('a stored customer is named by its id', async () => {
    const customerId = await given.customer(merchant)
    expect(await created({ ...choice, customer_id: customerId })).toMatchObject({ customer_id: customerId, customer: null })
  })

  test('an app scheme registered for the merchant is a return_url', async () => {
    const app = await given.merchant({ appSchemes: ['warungapp'] })
    const answer = await call('createPaymentIntent', { as: await given.apiKey(app), body: { ...choice, return_url: 'warungapp://orders/1042' } })
    expect(answer.status).toBe(201)
  })

  test('a console user with the permission creates for the merchant of its binding', async () => {
    const token = await given.token(merchant, 'merchant_owner', `merchant:${merchant.id}`)
    const answer = await call('createPaymentIntent', { as: token, body: choice })
    expect(answer).toMatchObject({ status: 201, body: { merchant_id: merchant.id } })
  })

  test('payment_intent.created is written once, with the intent as it was answered', async () => {
    for (const body of [qris, choice]) {
      const intent = await created(body)
      expect(await eventsOf(intent.id)).toEqual([{
        kind: 'payment_intent.created',
        body: expect.objectContaining({
          event: 'payment_intent.created', created_at: clock.now().toISOString(), environment: 'sandbox', api_version: 'v1', merchant_id: merchant.id,
          data: { intent },
        }) as unknown,
      }])
    }
  })
})

describe('the same Idempotency-Key', () => {
  test.each([['one channel', qris], ['several channels', choice]])('answers the original again, marked, and makes nothing (%s)', async (_, body) => {
    const key = randomUUID()
    const first = await call('createPaymentIntent', { as, body, key })
    clock.advance(1000)
    const again = await call('createPaymentIntent', { as, body: { ...body }, key })
    expect(again.status).toBe(201)
    expect(again.body).toEqual(first.body)
    expect(first.headers.get('idempotency-replayed')).toBeNull()
    expect(again.headers.get('idempotency-replayed')).toBe('true')
  })

  test('50 at once make one intent and one charge', async () => {
    for (const body of [qris, choice]) {
      const key = randomUUID()
      const answers = await Promise.all(Array.from({ length: 50 }, () => call('createPaymentIntent', { as, body, key })))
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]))
      expect(new Set(answers.map(({ body: intent }) => JSON.stringify(intent))).size).toBe(1)
      expect(answers.filter(({ headers }) => headers.get('idempotency-replayed') === 'true')).toHaveLength(49)
    }
  })

  test('the order of members does not make another request', async () => {
    const key = randomUUID()
    const first = await created({ amount_idr: 1000, allowed_channels: ['qris'], metadata: { a: '1', b: '2' } }, key)
    const second = await created({ metadata: { b: '2', a: '1' }, allowed_channels: ['qris'], amount_idr: 1000 }, key)
    expect(second.id).toBe(first.id)
  })

  test('of another merchant is another key', async () => {
    const other = await given.merchant()
    const key = randomUUID()
    const mine = await created(choice, key)
    const theirs = await call('createPaymentIntent', { as: await given.apiKey(other), body: choice, key })
    expect(theirs.status).toBe(201)
    expect(theirs.body).not.toMatchObject({ id: mine.id })
  })

  test('refused before anything was written is forgotten: the corrected request goes through', async () => {
    const key = randomUUID()
    const narrow = await given.merchant({ channels: ['qris'] })
    const narrowKey = await given.apiKey(narrow)
    const refused = await call('createPaymentIntent', { as: narrowKey, body: choice, key })
    expect(refused.status).toBe(422)
    expect((await call('createPaymentIntent', { as: narrowKey, body: qris, key })).status).toBe(201)
  })

  test('after the stored answer is purged, answers the intent as it now is', async () => {
    const key = randomUUID()
    const first = await created(choice, key)
    await database.query((sql) => sql`update payments.idempotency_keys set reply = null where key = ${key}`)
    clock.advance(86_400_001)
    const again = await created(choice, key)
    expect(again).toEqual({ ...first, status: 'expired' })
  })

  test('the stored answer is sealed: neither body nor key of the intent stand in the row', async () => {
    const key = randomUUID()
    const intent = await created({ ...choice, description: 'Rahasia' }, key)
    const [row] = await database.query((sql) => sql<{ reply: Buffer }[]>`select reply from payments.idempotency_keys where key = ${key}`)
    expect(row?.reply.includes('Rahasia')).toBe(false)
    expect(row?.reply.includes(intent.id)).toBe(false)
  })
})

describe('400', () => {
  test.each([
    ['neither channel nor allowed_channels', { amount_idr: 1000 }, 'allowed_channels'],
    ['both of them', { amount_idr: 1000, channel: 'cash', allowed_channels: ['qris'] }, 'channel'],
    ['an empty list', { amount_idr: 1000, allowed_channels: [] }, 'allowed_channels'],
    ['a channel twice', { amount_idr: 1000, allowed_channels: ['qris', 'qris'] }, 'allowed_channels'],
    ['amount 0', { ...choice, amount_idr: 0 }, 'amount_idr'],
    ['an amount over the bound', { ...choice, amount_idr: 1_000_000_000_000 }, 'amount_idr'],
    ['expires_in_seconds over the longest time to live', { ...choice, expires_in_seconds: 86_401 }, 'expires_in_seconds'],
    ['expires_in_seconds on cash', { amount_idr: 1000, channel: 'cash', expires_in_seconds: 60 }, 'expires_in_seconds'],
    ['customer beside customer_id', { ...choice, customer: { name: 'A' }, customer_id: randomUUID() }, 'customer_id'],
    ['an unknown customer_id', { ...choice, customer_id: randomUUID() }, 'customer_id'],
    ['an http return_url', { ...choice, return_url: 'http://shop.example/' }, 'return_url'],
    ['a script as return_url', { ...choice, return_url: 'javascript:alert(1)' }, 'return_url'],
    ['an app scheme that is not registered', { ...choice, return_url: 'warungapp://x' }, 'return_url'],
    ['userinfo in return_url', { ...choice, return_url: 'https://shop.example@evil.example/' }, 'return_url'],
  ])('%s is validation_failed and names the field', async (_, body, field) => {
    const answer = await call('createPaymentIntent', { as, body })
    expect(answer).toMatchObject({ status: 400, body: { error: 'validation_failed' } })
    expect(Object.keys((answer.body as { fields: object }).fields)).toContain(field)
  })

  test('a console user with several merchants must name one', async () => {
    const tenantId = randomUUID()
    const [first] = [await given.merchant({ tenantId }), await given.merchant({ tenantId })]
    const token = await given.token(first, 'tenant_admin', '*')
    expect(await call('createPaymentIntent', { as: token, body: choice })).toMatchObject({ status: 400, body: { fields: { merchant_id: expect.any(String) as unknown } } })
    expect(await call('createPaymentIntent', { as: token, body: { ...choice, merchant_id: first.id } })).toMatchObject({ status: 201 })
  })

  test('metadata over a bound is metadata_too_large', async () => {
    const many = Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`k${index}`, 'v']))
    const heavy = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`k${index}`, 'v'.repeat(500)]))
    for (const metadata of [many, heavy, { ['k'.repeat(41)]: 'v' }, { '': 'v' }, { k: 'v'.repeat(501) }]) {
      expect(await call('createPaymentIntent', { as, body: { ...choice, metadata } })).toMatchObject({ status: 400, body: { error: 'metadata_too_large' } })
    }
  })

  test('metadata that is not text is validation_failed', async () => {
    expect(await call('createPaymentIntent', { as, body: { ...choice, metadata: { k: 1 as never } } }))
      .toMatchObject({ status: 400, body: { error: 'validation_failed', fields: { 'metadata.k': 'must be text' } } })
  })
})

describe('403', () => {
  test('another merchant_id is forbidden for key and token alike', async () => {
    const other = await given.merchant({ tenantId: merchant.tenantId })
    const token = await given.token(merchant, 'merchant_owner', `merchant:${merchant.id}`)
    for (const credential of [as, token]) {
      expect(await call('createPaymentIntent', { as: credential, body: { ...choice, merchant_id: other.id } })).toMatchObject({ status: 403, body: { error: 'forbidden' } })
    }
  })

  test('a merchant of another tenant is forbidden even to a tenant-wide token', async () => {
    const stranger = await given.merchant()
    const token = await given.token(merchant, 'tenant_admin', '*')
    expect(await call('createPaymentIntent', { as: token, body: { ...choice, merchant_id: stranger.id } })).toMatchObject({ status: 403, body: { error: 'forbidden' } })
  })

  test('in production only an approved merchant takes payments', async () => {
    const production = await startPayments({ settings: { BAYAR_ENV: 'production', BAYAR_CHECK_RESPONSES: 'on' } })
    const submitted = await production.given.merchant({ status: 'submitted' })
    const key = await production.given.apiKey(submitted, { environment: 'production' })
    expect(await production.call('createPaymentIntent', { as: key, body: choice })).toMatchObject({ status: 403, body: { error: 'merchant_not_approved' } })
    const approved = await production.given.merchant()
    const live = await production.given.apiKey(approved, { environment: 'production' })
    expect(await production.call('createPaymentIntent', { as: live, body: choice })).toMatchObject({ status: 201, body: { environment: 'production' } })
    expect(await production.call('createPaymentIntent', { as: live, body: qris })).toMatchObject({ status: 422, body: { error: 'channel_unavailable' } })
  })
})

describe('401 inside the transaction', () => {
  test('a key revoked after the request was let in writes nothing', async () => {
    const doomed = await given.merchant()
    const key = await given.apiKey(doomed)
    const idempotencyKey = randomUUID()
    const holder = new Error('rolled back')
    let pending: ReturnType<typeof call<'createPaymentIntent'>> | undefined
    // A twin in an open transaction holds the request between authentication and its own look at the key.
    await database.tx(async (sql) => {
      await claimIdempotencyKey(
        sql, { tenantId: doomed.tenantId, ownerId: doomed.id, operationId: 'createPaymentIntent', key: idempotencyKey }, Buffer.alloc(32), clock.now())
      pending = call('createPaymentIntent', { as: key, body: choice, key: idempotencyKey })
      await untilBlocked()
      await database.query((other) => other`update payments.api_keys set revoked_at = ${clock.now()} where merchant_id = ${doomed.id}`)
      throw holder
    }).catch((error: unknown) => expect(error).toBe(holder))
    const answer = await pending
    expect(answer).toMatchObject({ status: 401, body: { error: 'unauthenticated' } })
    const written = await database.query((sql) => sql`select from payments.payment_intents where merchant_id = ${doomed.id}`)
    expect(written).toHaveLength(0)
  })
})

describe('409', () => {
  test('the same key with another body is idempotency_key_reused', async () => {
    const key = randomUUID()
    await created(choice, key)
    expect(await call('createPaymentIntent', { as, key, body: { ...choice, amount_idr: 150_001 } })).toMatchObject({ status: 409, body: { error: 'idempotency_key_reused' } })
  })

  test('a reference_id is unique among the merchant\'s intents, and the refusal names the holder', async () => {
    const reference_id = `order-${randomUUID()}`
    const first = await created({ ...choice, reference_id })
    expect(await call('createPaymentIntent', { as, body: { ...choice, reference_id } }))
      .toMatchObject({ status: 409, body: { error: 'duplicate_reference', intent_id: first.id } })
    const other = await given.apiKey(await given.merchant())
    expect((await call('createPaymentIntent', { as: other, body: { ...choice, reference_id } })).status).toBe(201)
  })

  test('20 at once with one reference_id make one intent', async () => {
    const reference_id = `order-${randomUUID()}`
    const answers = await Promise.all(Array.from({ length: 20 }, () => call('createPaymentIntent', { as, body: { ...choice, reference_id } })))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(19)
  })
})

describe('422', () => {
  test('channel_unavailable names every channel that is not enabled', async () => {
    const narrow = await given.apiKey(await given.merchant({ channels: ['qris'] }))
    const answer = await call('createPaymentIntent', { as: narrow, body: { amount_idr: 150_000, allowed_channels: ['qris', 'va_bank_a', 'no_such_channel'] } })
    expect(answer).toMatchObject({ status: 422, body: { error: 'channel_unavailable', message: expect.stringMatching(/va_bank_a, no_such_channel/) as unknown } })
  })

  test('amount_out_of_range names the channels and their limits', async () => {
    expect(await call('createPaymentIntent', { as, body: { amount_idr: 5000, allowed_channels: ['va_bank_a', 'qris'] } }))
      .toMatchObject({ status: 422, body: { error: 'amount_out_of_range', message: expect.stringContaining('va_bank_a takes 10000') as unknown } })
  })

  test('provider_declined passes the provider\'s code and message on unchanged, is stored and replayed, and no intent is seen', async () => {
    const key = randomUUID()
    const reference_id = `order-${randomUUID()}`
    const body = { amount_idr: 50_000, allowed_channels: ['paylater_a'], reference_id }
    const refused = await call('createPaymentIntent', { as, body, key })
    expect(refused).toMatchObject({
      status: 422, body: {
        error: 'provider_declined', provider: { code: 'AMOUNT_BELOW_MINIMUM', message: 'The amount is below the minimum transaction of Rp 100,000.' },
      },
    })
    const again = await call('createPaymentIntent', { as, body, key })
    expect(again.body).toEqual(refused.body)
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    const [row] = await database.query((sql) => sql<{ id: string, status: string, visible: boolean }[]>`
      select id, status, visible from payments.payment_intents where reference_id = ${reference_id}`)
    expect(row).toMatchObject({ status: 'failed', visible: false })
    expect(await eventsOf(row?.id ?? '')).toEqual([])
    expect((await call('getPaymentIntent', { as, params: { id: row?.id ?? '' } })).status).toBe(404)
    // The refused intent has given the reference back.
    expect((await call('createPaymentIntent', { as, body: { ...body, amount_idr: 150_000 } })).status).toBe(201)
  })
})
