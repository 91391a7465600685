import { beforeEach, describe, expect, test } from 'vitest'
import type { Schema } from '../handlers/http/operation.ts'
import { ask } from './harness/ask.ts'
import { startPayments } from './harness/payments.ts'

const { given, send, url, database, service } = await startPayments()
const merchant = await given.merchant()
let as = await given.apiKey(merchant)

const operation = service.contract.operations.find(({ id }) => id === 'createPaymentIntent')
const members = operation?.bodySchema?.properties ?? {}
const good = { amount_idr: 150_000, allowed_channels: ['qris', 'cash'] }

/** Sends a body, as text where JSON.stringify could not write it. */
const create = async (body: unknown, headers: Record<string, string> = {}) => send('createPaymentIntent', {
  as, headers: { 'Content-Type': 'application/json', ...headers }, body: typeof body === 'string' ? body : JSON.stringify(body),
})
const rows = async () => {
  const [row] = await database.query((sql) => sql<{ n: number }[]>`
    select (select count(*) from payments.payment_intents) + (select count(*) from payments.payment_attempts) + (select count(*) from payments.events)
      + (select count(*) from payments.idempotency_keys) + (select count(*) from payments.provider_operations) as n`)
  return Number(row?.n)
}

/** Refuses with a declared 4xx that names the field, and writes nothing. */
async function refused(body: unknown, field: string | RegExp, code = 'validation_failed', headers?: Record<string, string>): Promise<void> {
  const before = await rows()
  const answer = await create(body, headers)
  const shown = typeof body === 'string' ? body.slice(0, 100) : JSON.stringify(body).slice(0, 200)
  expect(`${answer.status} ${String(answer.body.error)}`, shown).toBe(`400 ${code}`)
  const names = Object.keys(answer.body.fields as object)
  if (typeof field === 'string') expect(names, shown).toContain(field)
  else expect(names.some((name) => field.test(name)), `${shown}: ${names.join()}`).toBe(true)
  expect(names.length).toBeLessThanOrEqual(20)
  expect(await rows(), shown).toBe(before)
}

const without = (name: string) => Object.fromEntries(Object.entries(good).filter(([key]) => key !== name))
/** `name` instead of the good value; `json` is its text. */
const withText = (name: string, json: string) => `{${Object.entries({ ...without(name) }).map(([key, value]) => `"${key}":${JSON.stringify(value)}`).concat(`"${name}":${json}`).join()}}`

beforeEach(async () => {
  as = await given.apiKey(merchant)
})

const typed: Record<string, string[]> = {
  string: ['1', 'true', '[]', '{}', '["text"]', '1.5'],
  integer: ['"1"', 'true', '[]', '{}', '"150000"', '1.5', '1e400', '-1e400', '0.1', '1e-400', '"NaN"'],
  array: ['1', 'true', '{}', '"qris"', '{"0":"qris"}'],
  object: ['1', 'true', '[]', '"text"', '[[]]'],
}

describe('every member', () => {
  test.each(Object.entries(members))('%s refuses every other type', async (name, schema) => {
    for (const json of typed[schema.type ?? ''] ?? []) {
      if (schema.type === 'integer' && json === '1e-400') continue
      await refused(withText(name, json), name)
    }
    if (schema.nullable !== true) await refused(withText(name, 'null'), name)
  })

  test.each(Object.entries(members).filter(([, { type }]) => type === 'string'))('%s refuses text that cannot be stored, is too long or of another form', async (name, schema) => {
    const longest = (schema.maxLength as number | undefined) ?? 40
    await refused(withText(name, JSON.stringify('x'.repeat(longest + 1))), name)
    await refused(withText(name, JSON.stringify('x'.repeat(200_000))), name)
    const unstorable = schema.pattern === undefined && schema.format === undefined ? ['"a\\u0000b"', '"\\ud800"', '"\\udc00\\ud800"', '"a\\ud83d"'] : ['"\\u0000"', '"\\ud800"', '""', '"\u202eabc"', '"😀"']
    for (const json of unstorable) await refused(withText(name, json), name)
  })

  test.each(Object.entries(members).filter(([, { type }]) => type === 'integer'))('%s refuses numbers outside of its range', async (name, schema) => {
    const { minimum, maximum } = schema as { minimum?: number, maximum?: number }
    if (minimum !== undefined) await refused(withText(name, String(minimum - 1)), name)
    if (maximum !== undefined) await refused(withText(name, String(maximum + 1)), name)
    for (const json of ['9007199254740992', '1e300', '-9007199254740993', '123456789012345678901234567890', '-1']) await refused(withText(name, json), name)
  })

  test('that the document does not know is refused by name, at every depth', async () => {
    for (const name of ['amount', 'amountIdr', 'AMOUNT_IDR', 'id', 'status', 'paid_idr', 'tenant_id', '', ' ', '\u0000', '😀', '__proto__', 'constructor', 'a'.repeat(10_000)]) {
      await refused(`{"amount_idr":150000,"allowed_channels":["qris"],${JSON.stringify(name)}:1}`, name === '' ? 'body' : name)
    }
    await refused({ ...good, customer: { name: 'x', address: 'y' } }, 'customer.address')
    await refused('{"amount_idr":150000,"allowed_channels":["qris"],"customer":{"name":"x","__proto__":{"a":1}}}', 'customer.__proto__')
  })

  test('that is required is asked for', async () => {
    await refused(without('amount_idr'), 'amount_idr')
    await refused({}, 'amount_idr')
    await refused(without('allowed_channels'), 'allowed_channels')
  })

  test('JSON has no undefined, and the last of two members of one name counts', async () => {
    await refused('{"amount_idr":150000,"amount_idr":0,"allowed_channels":["qris"]}', 'amount_idr')
  })
})

describe('numbers', () => {
  test('are what JSON says they are: 1e3 is 1000, 1.0 is 1', async () => {
    for (const [json, amount] of [['1e3', 1000], ['150000.0', 150_000], ['15e4', 150_000]] as const) {
      expect(await create(withText('amount_idr', json)), json).toMatchObject({ status: 201, body: { amount_idr: amount } })
    }
    expect(await create({ ...good, max_uses: -0 })).toMatchObject({ status: 201, body: { max_uses: 0 } })
    expect((await create(`{"amount_idr":150000,"allowed_channels":["qris","cash"],"max_uses":-0}`)).text).toContain('"max_uses":0')
  })

  test('0, -0 and a fraction are no amount', async () => {
    for (const json of ['0', '-0', '1.5', '0.9999999', '1e-400', '-1e0', '1000000000000', '999999999999.5']) await refused(withText('amount_idr', json), 'amount_idr')
  })
})

describe('channels', () => {
  test('neither, both, none, a repeated one and a malformed one', async () => {
    await refused({ amount_idr: 150_000 }, 'allowed_channels')
    await refused({ ...good, channel: 'cash' }, 'channel')
    await refused({ ...good, allowed_channels: [] }, 'allowed_channels')
    await refused({ ...good, allowed_channels: ['qris', 'cash', 'qris'] }, 'allowed_channels')
    await refused({ ...good, allowed_channels: Array.from({ length: 51 }, (_, index) => `c${index}`) }, 'allowed_channels')
    for (const channel of ['', 'QRIS', 'qris ', 'q', '../qris', 'qris\u0000', '😀', 'x'.repeat(41)]) {
      await refused({ ...good, allowed_channels: [channel] }, 'allowed_channels.0')
      await refused({ amount_idr: 1, channel }, 'channel')
    }
    for (const json of ['null', '1', '{}', '[]']) await refused(`{"amount_idr":1,"allowed_channels":[${json}]}`, 'allowed_channels.0')
  })

  test('unknown but well-formed codes are 422, and all are named', async () => {
    const before = await rows()
    const answer = await create({ ...good, allowed_channels: ['qris', 'constructor', 'unknown_a'] })
    expect(answer).toMatchObject({ status: 422, body: { error: 'channel_unavailable', message: 'Not available for this merchant: constructor, unknown_a.' } })
    expect(await rows()).toBe(before)
  })
})

describe('metadata', () => {
  const metadata = (value: unknown) => ({ ...good, metadata: value })

  test('has at most 50 keys of 1 to 40 characters, values of 500, and 8 KiB in all', async () => {
    const keys = (count: number, value: string) => Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, value]))
    await refused(metadata(keys(51, 'v')), 'metadata', 'metadata_too_large')
    await refused(metadata({ ['k'.repeat(41)]: 'v' }), 'metadata', 'metadata_too_large')
    await refused(metadata({ '': 'v' }), 'metadata', 'metadata_too_large')
    await refused(metadata({ long: 'v'.repeat(501) }), 'metadata.long', 'metadata_too_large')
    await refused(metadata(keys(50, 'v'.repeat(200))), 'metadata', 'metadata_too_large')
    await refused(metadata(keys(20_000, 'v')), 'metadata', 'metadata_too_large')
    for (const value of [keys(50, 'v'), { ['k'.repeat(40)]: 'v'.repeat(500) }, { ['😀'.repeat(40)]: '😀'.repeat(500) }]) {
      expect((await create(metadata(value))).body.metadata).toEqual(value)
    }
  })

  test('holds text alone', async () => {
    for (const value of [1, true, null, [], {}, { a: 'b' }, ['x']]) await refused(metadata({ note: value }), 'metadata.note')
    await refused(metadata({ note: 'a\u0000b' }), 'metadata.note')
    await refused('{"amount_idr":1,"allowed_channels":["qris"],"metadata":{"a\\u0000":"b"}}', /^metadata/)
    await refused('{"amount_idr":1,"allowed_channels":["qris"],"metadata":{"\\ud800":"b"}}', /^metadata/)
  })

  test('too large and of a wrong type at once is validation_failed', async () => {
    await refused(metadata({ a: 1, ['k'.repeat(41)]: 'v' }), 'metadata.a')
  })

  test('keeps odd but storable text to the character, whatever its keys are called', async () => {
    const odd = {
      constructor: 'a', toString: 'b', hasOwnProperty: 'c', 'مرحبا': '\u202eright to left\u202c', '😀👨‍👩‍👧': 'é vs e\u0301', ' ': '\t\n\r\u0085\u2028', "'; drop table": '%s $1 \\', a: '\uffff\u{10ffff}',
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
    for (const value of ['javascript:alert(1)', 'JaVaScRiPt:alert(1)', 'data:text/html,x', 'file:///etc/passwd', 'https://user:word@shop.example/', 'http://shop.example', 'shop', '//shop.example', 'https://', 'ftp://a', 'tokoku://x']) {
      await refused({ ...good, return_url: value }, 'return_url')
    }
  })

  test('customer and customer_id', async () => {
    await refused({ ...good, customer: {} }, 'customer')
    await refused({ ...good, customer: { email: 'no address' } }, 'customer.email')
    for (const phone of ['0812', '+0812000000', '+62 812', '+6281234567890123', 'x']) await refused({ ...good, customer: { phone } }, 'customer.phone')
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
    for (const seconds of [59, 86_401, 1e9]) await refused({ amount_idr: 150_000, allowed_channels: ['va_bank_a'], expires_in_seconds: seconds }, 'expires_in_seconds')
    await refused({ amount_idr: 150_000, allowed_channels: ['cash'], expires_in_seconds: 60 }, 'expires_in_seconds')
  })
})

describe('Idempotency-Key', () => {
  test('of 0 or 256 characters, with a space, beyond ASCII, or sent twice', async () => {
    const before = await rows()
    for (const key of ['', 'k'.repeat(256), 'a b', 'käse', ['a', 'b'], ['a', 'a']]) {
      const sent = typeof key === 'string' ? Buffer.from(key).toString('latin1') : key
      const answer = await ask(url, '/v1/payments/intents', { method: 'POST', as, body: JSON.stringify(good), headers: { 'Idempotency-Key': sent } })
      expect(answer, JSON.stringify(key)).toMatchObject({ status: 400, body: { error: 'validation_failed', fields: { 'Idempotency-Key': expect.any(String) } } })
    }
    expect(await rows()).toBe(before)
  })

  test('of 1 and of 255 characters', async () => {
    for (const key of ['!', '~'.repeat(255)]) expect((await create(good, { 'Idempotency-Key': key })).status).toBe(201)
  })
})

test('mutations of a good request never make a 5xx and never write what was refused', async () => {
  const json = JSON.stringify({ ...good, metadata: { a: 'b' }, description: 'text', customer: { name: 'x' }, expires_in_seconds: 900, max_uses: 1 })
  let seed = 20_261_102
  const random = (below: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
    return seed % below
  }
  const pieces = ['{', '}', '[', ']', '"', ',', ':', 'null', '-', '1e9', '\\u0000', '\\ud800', '😀', '""', '{}', '[]', 'true', '\\', '0', ' ', '__proto__']
  for (let count = 0; count < 400; count += 1) {
    const at = random(json.length)
    const mutated = json.slice(0, at) + (pieces[random(pieces.length)] ?? '') + json.slice(at + random(4))
    const before = await rows()
    const answer = await create(mutated)
    expect(answer.status, `${mutated} ${answer.text}`).toBeLessThan(500)
    if (answer.status >= 400) expect(await rows(), mutated).toBe(before)
    if (answer.status === 400 && answer.body.error === 'validation_failed') expect(Object.keys(answer.body.fields as object).length).toBeGreaterThan(0)
  }
})

test('the schema still has the members that these tests were made for', () => {
  const shapes = Object.entries(members as Record<string, Schema>).map(([name, { type }]) => `${name} ${String(type)}`).sort()
  expect(shapes).toEqual([
    'allowed_channels array', 'amount_idr integer', 'channel string', 'customer object', 'customer_id string', 'description string', 'expires_in_seconds integer',
    'max_uses integer', 'merchant_id string', 'metadata object', 'reference_id string', 'return_url string',
  ])
})
