import * as fc from 'fast-check'
import type { JudgedSchema } from './documentJudge.ts'

/**
 * What a member or parameter of a name can truly be, where the schema alone would never guess it. `{{thing}}` stands
 * for what is made for the request.
 */
export type Truths = Readonly<Record<string, readonly unknown[]>>

const hostileTexts = [
  '',
  ' ',
  '\u0000',
  'a\u0000b',
  '\ud800',
  '\udc00\ud800',
  '\u202eabc',
  '😀'.repeat(50),
  'é vs e\u0301',
  '\uffff',
  '__proto__',
  'constructor',
  'null',
  'undefined',
  'NaN',
  '-1',
  '0',
  '1e400',
  '0x10',
  '9007199254740993',
  '99999999999999999999999',
  'true',
  "'; drop table x --",
  '%',
  '_',
  '\\',
  '%s$1',
  '../../etc/passwd',
  '<script>alert(1)</script>',
  'javascript:alert(1)',
  'https://',
  'https://user:word@shop.example/',
  'http://[::1',
  'https://127.0.0.1/',
  'https://shop.example:99999/',
  'x'.repeat(300),
  'x'.repeat(3000),
]

/** Text that nearly is of a format, or is and has an odd meaning. */
const nearly: Record<string, readonly string[]> = {
  'date-time': [
    '2026-02-30T00:00:00Z',
    '2026-11-02T23:59:60Z',
    '2016-12-31T23:59:60Z',
    '2026-11-02T06:59:60+07:00',
    '2026-11-02T24:00:00Z',
    '0000-01-01T00:00:00Z',
    '0001-01-01T00:00:00Z',
    '0001-01-01T00:00:00+23:59',
    '9999-12-31T23:59:59.999999999-23:59',
    '-000001-01-01T00:00:00Z',
    '9999-12-31T23:59:59.999999999+23:59',
    '2026-11-02',
    '2026-11-02 03:04:05Z',
    '2026-11-02t03:04:05z',
    '2026-11-02T03:04:05',
    '+010000-01-01T00:00:00Z',
    '2026-11-02T03:04:05+24:00',
    '2026-11-02T03:04:05+0700',
    '2026-11-02T03:04:05+07',
    '2026-11-02T03:04:05.Z',
    '2026-11-02T03:04:05,5Z',
    `2026-11-02T03:04:05.${'1'.repeat(400)}Z`,
    '2026-11-02T03:04:05-00:00',
    '2026-11-02T03:04Z',
    '2028-02-29T00:00:00Z',
    '2026-02-29T00:00:00Z',
    '1793588645',
    ' 2026-11-02T03:04:05Z',
  ],
  uuid: [
    'urn:uuid:0192f3c4-8b21-7d4f-8e63-2a7c9b51f103',
    '0192F3C4-8B21-7D4F-8E63-2A7C9B51F103',
    '{0192f3c4-8b21-7d4f-8e63-2a7c9b51f103}',
    '0192f3c48b217d4f8e632a7c9b51f103',
    '00000000-0000-0000-0000-000000000000',
    'ffffffff-ffff-ffff-ffff-ffffffffffff',
    '0192f3c4-8b21-7d4f-8e63-2a7c9b51f10',
    '0192f3c4-8b21-7d4f-8e63-2a7c9b51f103\n',
    'g192f3c4-8b21-7d4f-8e63-2a7c9b51f103',
  ],
  email: [
    'a@b',
    '@',
    'a@',
    '@b.example',
    'a b@shop.example',
    '"a b"@shop.example',
    'a@shop..example',
    'a@[127.0.0.1]',
    'é@shop.example',
    'a@shop.example\n',
    'a@shop.example,b@shop.example',
    `${'a'.repeat(65)}@shop.example`,
    `a@${'b'.repeat(300)}.example`,
    'A@SHOP.EXAMPLE',
    "o'x@shop.example",
    'a%@shop.example',
    'a\u0000@shop.example',
  ],
}

const hostileNumbers = [
  0,
  -0,
  -1,
  1,
  0.5,
  1.5,
  2 ** 31,
  -(2 ** 31) - 1,
  2 ** 53,
  2 ** 53 - 1,
  -(2 ** 53),
  1e12,
  999_999_999_999,
  1e21,
  1e300,
  5e-324,
]

/** Text that breaks readers, searchers and storers of text. */
export function hostileText(): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...hostileTexts) },
    fc.string({ unit: 'binary', maxLength: 30 }),
    fc.string({ unit: 'grapheme', maxLength: 30 }),
    fc
      .array(fc.constantFrom('\ud800', '\udfff', '\u0000', 'a', '%', '\\', '"', '\u2028'), { maxLength: 5 })
      .map((parts) => parts.join('')),
  )
}

/** Any JSON value that has no place where `schema` is asked for, and some that have. */
export function hostileValue(schema: JudgedSchema): fc.Arbitrary<unknown> {
  return fc.oneof(
    fc.constantFrom<unknown>(null, true, false, [], {}, [[]], [null], { '': '' }),
    fc.constantFrom(...hostileNumbers),
    hostileText(),
    fc.jsonValue({ maxDepth: 2 }),
    ...edges(schema).map((arbitrary) => ({ weight: 3, arbitrary })),
  )
}

/** Values at and just beyond the bounds of a schema. */
function edges(schema: JudgedSchema): fc.Arbitrary<unknown>[] {
  const { minimum, maximum, minLength, maxLength, minItems, maxItems, items, maxProperties } = schema as Record<
    string,
    number
  > & { items?: JudgedSchema }
  const values: unknown[] = [
    ...[minimum, maximum]
      .filter((bound) => bound !== undefined)
      .flatMap((bound) => [bound - 1, bound, bound + 1, String(bound)]),
    ...[minLength, maxLength]
      .filter((bound) => bound !== undefined)
      .flatMap((bound) => [bound - 1, bound, bound + 1])
      .filter((length) => length >= 0)
      .flatMap((length) => ['x'.repeat(length), '😀'.repeat(length)]),
    ...(maxProperties === undefined
      ? []
      : [0, 1].map((more) =>
          Object.fromEntries(Array.from({ length: maxProperties + more }, (_, at) => [`k${at}`, 'v'])),
        )),
  ]
  const format = nearly[String(schema.format)]
  const lists =
    items === undefined
      ? []
      : [minItems, maxItems]
          .filter((bound) => bound !== undefined)
          .flatMap((bound) => [bound - 1, bound + 1])
          .map((length) => fc.array(validValue(items, {}), { minLength: length, maxLength: length }))
  return [
    ...(values.length > 0 ? [fc.constantFrom(...values)] : []),
    ...(format ? [fc.constantFrom<unknown>(...format)] : []),
    ...lists,
  ]
}

/** Values that the schema takes. Throws for a schema that no rule is written for. */
export function validValue(schema: JudgedSchema, truths: Truths, name = ''): fc.Arbitrary<unknown> {
  const known = truths[name] ?? []
  const plain = ownValue(schema, truths)
  const told = known.length > 0 ? known : schema.example === undefined ? [] : [schema.example]
  const value = told.length === 0 ? plain : fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...told) }, plain)
  return schema.nullable === true ? fc.oneof({ weight: 4, arbitrary: value }, fc.constant(null)) : value
}

function ownValue(schema: JudgedSchema, truths: Truths): fc.Arbitrary<unknown> {
  const alternatives = (schema.oneOf ?? schema.anyOf) as JudgedSchema[] | undefined
  if (alternatives) return fc.oneof(...alternatives.map((alternative) => validValue(alternative, truths)))
  if (Array.isArray(schema.enum)) return fc.constantFrom(...(schema.enum as unknown[]))
  switch (schema.type) {
    case 'string':
      return textOf(schema)
    case 'integer':
      return integerOf(schema)
    case 'boolean':
      return fc.boolean()
    case 'array':
      return listOf(schema, truths)
    case 'object':
      return objectOf(schema, truths)
    default:
      throw new Error(`no values are known for ${JSON.stringify(schema)}`)
  }
}

function textOf({ format, pattern, minLength = 0, maxLength = 200 }: JudgedSchema): fc.Arbitrary<string> {
  const [least, most] = [minLength, maxLength] as [number, number]
  if (typeof pattern === 'string')
    return fc.stringMatching(new RegExp(pattern, 'u'), { size: 'small' }).filter((text) => [...text].length <= most)
  switch (format) {
    case undefined:
      return fc
        .string({ unit: 'grapheme', minLength: least, maxLength: Math.min(most, least + 40) })
        .filter((text) => [...text].length <= most)
    case 'uuid':
      return fc.uuid()
    case 'email':
      return fc.emailAddress().filter((text) => text.length <= most)
    case 'date-time':
      return fc
        .tuple(
          fc.date({
            min: new Date('1000-01-01T00:00:00Z'),
            max: new Date('9999-12-30T00:00:00Z'),
            noInvalidDate: true,
          }),
          fc.constantFrom('Z', '+07:00', '-11:30'),
        )
        .map(([date, zone]) => date.toISOString().replace('Z', zone))
    default:
      throw new Error(`no values are known for the format ${String(format)}`)
  }
}

function integerOf({ minimum = 0, maximum = 10_000_000 }: JudgedSchema): fc.Arbitrary<number> {
  const [min, max] = [minimum, maximum] as [number, number]
  return fc.oneof(
    fc.integer({ min, max: Math.max(min, Math.min(max, min + 1_000_000)) }),
    fc.integer({ min, max }),
    fc.constantFrom(min, max),
  )
}

function listOf(
  { items = {}, minItems = 0, maxItems = 5, uniqueItems }: JudgedSchema,
  truths: Truths,
): fc.Arbitrary<unknown[]> {
  const bounds = { minLength: minItems as number, maxLength: Math.min(maxItems as number, (minItems as number) + 4) }
  const entry = validValue(items, truths, 'items')
  return uniqueItems === true
    ? fc.uniqueArray(entry, { ...bounds, comparator: 'SameValueZero' })
    : fc.array(entry, bounds)
}

function objectOf(schema: JudgedSchema, truths: Truths): fc.Arbitrary<Record<string, unknown>> {
  const { properties = {}, required = [], additionalProperties } = schema
  const members = fc.record(
    Object.fromEntries(
      Object.entries(properties).map(([name, member]) => [name, validValue(member, entriesOf(truths, name), name)]),
    ),
    { requiredKeys: required as string[] },
  )
  if (typeof additionalProperties !== 'object') return members
  return fc
    .tuple(
      members,
      fc.dictionary(fc.string({ minLength: 1, maxLength: 20 }), validValue(additionalProperties, truths), {
        maxKeys: 4,
      }),
    )
    .map(([known, more]) => ({ ...more, ...known }))
}

/** The truths for what is inside of a list member are those of `<name>[]`. */
export function entriesOf(truths: Truths, name: string): Truths {
  const entries = truths[`${name}[]`]
  return entries === undefined ? truths : { ...truths, items: entries }
}
