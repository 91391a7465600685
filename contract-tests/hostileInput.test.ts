import { describe, expect, test } from 'vitest'
import { good, startHostile } from './harness/hostileInput.ts'

const { create, refused, rows, service } = await startHostile()
const operation = service.contract.operations.find(({ id }) => id === 'createPaymentIntent')
const members = operation?.bodySchema?.properties ?? {}

const without = (name: string) => Object.fromEntries(Object.entries(good).filter(([key]) => key !== name))
/** `name` instead of the good value; `json` is its text. */
const withText = (name: string, json: string) =>
  `{${Object.entries({ ...without(name) })
    .map(([key, value]) => `"${key}":${JSON.stringify(value)}`)
    .concat(`"${name}":${json}`)
    .join()}}`

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

  test.each(Object.entries(members).filter(([, { type }]) => type === 'string'))(
    '%s refuses text that cannot be stored, is too long or of another form',
    async (name, schema) => {
      const longest = (schema.maxLength as number | undefined) ?? 40
      await refused(withText(name, JSON.stringify('x'.repeat(longest + 1))), name)
      await refused(withText(name, JSON.stringify('x'.repeat(200_000))), name)
      const unstorable =
        schema.pattern === undefined && schema.format === undefined
          ? ['"a\\u0000b"', '"\\ud800"', '"\\udc00\\ud800"', '"a\\ud83d"']
          : ['"\\u0000"', '"\\ud800"', '""', '"\u202eabc"', '"😀"']
      for (const json of unstorable) await refused(withText(name, json), name)
    },
  )

  test.each(Object.entries(members).filter(([, { type }]) => type === 'integer'))(
    '%s refuses numbers outside of its range',
    async (name, schema) => {
      const { minimum, maximum } = schema as { minimum?: number; maximum?: number }
      if (minimum !== undefined) await refused(withText(name, String(minimum - 1)), name)
      if (maximum !== undefined) await refused(withText(name, String(maximum + 1)), name)
      for (const json of ['9007199254740992', '1e300', '-9007199254740993', '123456789012345678901234567890', '-1'])
        await refused(withText(name, json), name)
    },
  )

  test('that the document does not know is refused by name, at every depth', async () => {
    for (const name of [
      'amount',
      'amountIdr',
      'AMOUNT_IDR',
      'id',
      'status',
      'paid_idr',
      'tenant_id',
      '',
      ' ',
      '\u0000',
      '😀',
      '__proto__',
      'constructor',
      'a'.repeat(10_000),
    ]) {
      await refused(
        `{"amount_idr":150000,"allowed_channels":["qris"],${JSON.stringify(name)}:1}`,
        name === '' ? 'body' : name,
      )
    }
    await refused({ ...good, customer: { name: 'x', address: 'y' } }, 'customer.address')
    await refused(
      '{"amount_idr":150000,"allowed_channels":["qris"],"customer":{"name":"x","__proto__":{"a":1}}}',
      'customer.__proto__',
    )
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
    for (const [json, amount] of [
      ['1e3', 1000],
      ['150000.0', 150_000],
      ['15e4', 150_000],
    ] as const) {
      expect(await create(withText('amount_idr', json)), json).toMatchObject({
        status: 201,
        body: { amount_idr: amount },
      })
    }
    expect(await create({ ...good, max_uses: -0 })).toMatchObject({ status: 201, body: { max_uses: 0 } })
    expect((await create(`{"amount_idr":150000,"allowed_channels":["qris","cash"],"max_uses":-0}`)).text).toContain(
      '"max_uses":0',
    )
  })

  test('0, -0 and a fraction are no amount', async () => {
    for (const json of ['0', '-0', '1.5', '0.9999999', '1e-400', '-1e0', '1000000000000', '999999999999.5'])
      await refused(withText('amount_idr', json), 'amount_idr')
  })
})

test('mutations of a good request never make a 5xx and never write what was refused', async () => {
  const json = JSON.stringify({
    ...good,
    metadata: { a: 'b' },
    description: 'text',
    customer: { name: 'x' },
    expires_in_seconds: 900,
    max_uses: 1,
  })
  let seed = 20_261_102
  const random = (below: number): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
    return seed % below
  }
  const pieces = [
    '{',
    '}',
    '[',
    ']',
    '"',
    ',',
    ':',
    'null',
    '-',
    '1e9',
    '\\u0000',
    '\\ud800',
    '😀',
    '""',
    '{}',
    '[]',
    'true',
    '\\',
    '0',
    ' ',
    '__proto__',
  ]
  for (let count = 0; count < 400; count += 1) {
    const at = random(json.length)
    const mutated = json.slice(0, at) + (pieces[random(pieces.length)] ?? '') + json.slice(at + random(4))
    const before = await rows()
    const answer = await create(mutated)
    expect(answer.status, `${mutated} ${answer.text}`).toBeLessThan(500)
    if (answer.status >= 400) expect(await rows(), mutated).toBe(before)
    if (answer.status === 400 && answer.body.error === 'validation_failed')
      expect(Object.keys(answer.body.fields as object).length).toBeGreaterThan(0)
  }
})

test('the schema still has the members that these tests were made for', () => {
  const shapes = Object.entries(members)
    .map(([name, { type }]) => `${name} ${String(type)}`)
    .sort()
  expect(shapes).toEqual([
    'allowed_channels array',
    'amount_idr integer',
    'channel string',
    'customer object',
    'customer_id string',
    'description string',
    'expires_in_seconds integer',
    'max_uses integer',
    'merchant_id string',
    'metadata object',
    'reference_id string',
    'return_url string',
  ])
})
