import { describe, expect, test } from 'vitest'
import { ask } from './harness/ask.ts'
import { good, startHostile } from './harness/hostileInput.ts'

const { as, create, given, merchant, refused, rows, send, url } = await startHostile()

describe('channels', () => {
  test('neither, both, none, a repeated one and a malformed one', async () => {
    await refused({ amount_idr: 150_000 }, 'allowed_channels')
    await refused({ ...good, channel: 'cash' }, 'channel')
    await refused({ ...good, allowed_channels: [] }, 'allowed_channels')
    await refused({ ...good, allowed_channels: ['qris', 'cash', 'qris'] }, 'allowed_channels')
    await refused(
      { ...good, allowed_channels: Array.from({ length: 51 }, (_, index) => `c${index}`) },
      'allowed_channels',
    )
    for (const channel of ['', 'QRIS', 'qris ', 'q', '../qris', 'qris\u0000', '😀', 'x'.repeat(41)]) {
      await refused({ ...good, allowed_channels: [channel] }, 'allowed_channels.0')
      await refused({ amount_idr: 1, channel }, 'channel')
    }
    for (const json of ['null', '1', '{}', '[]'])
      await refused(`{"amount_idr":1,"allowed_channels":[${json}]}`, 'allowed_channels.0')
  })

  test('unknown but well-formed codes are 422, and all are named', async () => {
    const before = await rows()
    const answer = await create({ ...good, allowed_channels: ['qris', 'constructor', 'unknown_a'] })
    expect(answer).toMatchObject({
      status: 422,
      body: { error: 'channel_unavailable', message: 'Not available for this merchant: constructor, unknown_a.' },
    })
    expect(await rows()).toBe(before)
  })
})

describe('metadata', () => {
  const metadata = (value: unknown) => ({ ...good, metadata: value })

  test('has at most 50 keys of 1 to 40 characters, values of 500, and 8 KiB in all', async () => {
    const keys = (count: number, value: string) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, value]))
    await refused(metadata(keys(51, 'v')), 'metadata', 'metadata_too_large')
    await refused(metadata({ ['k'.repeat(41)]: 'v' }), 'metadata', 'metadata_too_large')
    await refused(metadata({ '': 'v' }), 'metadata', 'metadata_too_large')
    await refused(metadata({ long: 'v'.repeat(501) }), 'metadata.long', 'metadata_too_large')
    await refused(metadata(keys(50, 'v'.repeat(200))), 'metadata', 'metadata_too_large')
    await refused(metadata(keys(20_000, 'v')), 'metadata', 'metadata_too_large')
    for (const value of [
      keys(50, 'v'),
      { ['k'.repeat(40)]: 'v'.repeat(500) },
      { ['😀'.repeat(40)]: '😀'.repeat(500) },
    ]) {
      expect((await create(metadata(value))).body.metadata).toEqual(value)
    }
  })

  test('holds text alone', async () => {
    for (const value of [1, true, null, [], {}, { a: 'b' }, ['x']])
      await refused(metadata({ note: value }), 'metadata.note')
    await refused(metadata({ note: 'a\u0000b' }), 'metadata.note')
    await refused('{"amount_idr":1,"allowed_channels":["qris"],"metadata":{"a\\u0000":"b"}}', /^metadata/)
    await refused('{"amount_idr":1,"allowed_channels":["qris"],"metadata":{"\\ud800":"b"}}', /^metadata/)
  })

  test('too large and of a wrong type at once is validation_failed', async () => {
    await refused(metadata({ a: 1, ['k'.repeat(41)]: 'v' }), 'metadata.a')
  })

  test('keeps odd but storable text to the character, whatever its keys are called', async () => {
    const odd = {
      constructor: 'a',
      toString: 'b',
      hasOwnProperty: 'c',
      مرحبا: '\u202eright to left\u202c',
      '😀👨‍👩‍👧': 'é vs e\u0301',
      ' ': '\t\n\r\u0085\u2028',
      "'; drop table": '%s $1 \\',
      a: '\uffff\u{10ffff}',
    }
    const metadataText = JSON.stringify(odd).replace('{', '{"__proto__":"d",')
    const created = await create(`{"amount_idr":150000,"allowed_channels":["qris","cash"],"metadata":${metadataText}}`)
    expect(created.status, created.text).toBe(201)
    const read = await send('getPaymentIntent', { as, params: { id: String(created.body.id) } })
    for (const { text: answered } of [created, read]) {
      const { metadata: kept } = JSON.parse(answered) as { metadata: object }
      expect(Object.entries(kept).sort()).toEqual(Object.entries(JSON.parse(metadataText) as object).sort())
    }
  })
})

describe('other members', () => {
  test('return_url takes no script, no credentials and no scheme of others', async () => {
    for (const value of [
      'javascript:alert(1)',
      'JaVaScRiPt:alert(1)',
      'data:text/html,x',
      'file:///etc/passwd',
      'https://user:word@shop.example/',
      'http://shop.example',
      'shop',
      '//shop.example',
      'https://',
      'ftp://a',
      'tokoku://x',
    ]) {
      await refused({ ...good, return_url: value }, 'return_url')
    }
  })

  test('customer and customer_id', async () => {
    await refused({ ...good, customer: {} }, 'customer')
    await refused({ ...good, customer: { email: 'no address' } }, 'customer.email')
    for (const phone of ['0812', '+0812000000', '+62 812', '+6281234567890123', 'x'])
      await refused({ ...good, customer: { phone } }, 'customer.phone')
    await refused({ ...good, customer: { name: 'x' }, customer_id: crypto.randomUUID() }, 'customer_id')
    await refused({ ...good, customer_id: crypto.randomUUID() }, 'customer_id')
    await refused({ ...good, customer_id: `urn:uuid:${crypto.randomUUID()}` }, 'customer_id')
    const other = await given.merchant()
    await refused({ ...good, customer_id: await given.customer(other) }, 'customer_id')
  })

  test('merchant_id in another form or of another merchant', async () => {
    await refused({ ...good, merchant_id: merchant.id.toUpperCase() }, 'merchant_id')
    const { status, body } = await create({ ...good, merchant_id: crypto.randomUUID() })
    expect({ status, error: body.error }).toEqual({ status: 403, error: 'forbidden' })
  })

  test('expires_in_seconds beyond what the channels live', async () => {
    for (const seconds of [59, 86_401, 1e9])
      await refused(
        { amount_idr: 150_000, allowed_channels: ['va_bank_a'], expires_in_seconds: seconds },
        'expires_in_seconds',
      )
    await refused({ amount_idr: 150_000, allowed_channels: ['cash'], expires_in_seconds: 60 }, 'expires_in_seconds')
  })
})

describe('Idempotency-Key', () => {
  test('of 0 or 256 characters, with a space, beyond ASCII, or sent twice', async () => {
    const before = await rows()
    for (const key of ['', 'k'.repeat(256), 'a b', 'käse', ['a', 'b'], ['a', 'a']]) {
      const sent = typeof key === 'string' ? Buffer.from(key).toString('latin1') : key
      const answer = await ask(url, '/v1/payments/intents', {
        method: 'POST',
        as,
        body: JSON.stringify(good),
        headers: { 'Idempotency-Key': sent },
      })
      expect(answer, JSON.stringify(key)).toMatchObject({
        status: 400,
        body: { error: 'validation_failed', fields: { 'Idempotency-Key': expect.any(String) } },
      })
    }
    expect(await rows()).toBe(before)
  })

  test('of 1 and of 255 characters', async () => {
    for (const key of ['!', '~'.repeat(255)]) expect((await create(good, { 'Idempotency-Key': key })).status).toBe(201)
  })
})
