import * as fc from 'fast-check'
import type { JudgedOperation, JudgedSchema } from './documentJudge.ts'
import { entriesOf, hostileText, hostileValue, validValue } from './fuzzValues.ts'
import type { Truths } from './fuzzValues.ts'

/** What a body is made from. */
export interface BodySources {
  /** Bodies that succeed; empty: the operation has none. */
  bodies: readonly Readonly<Record<string, unknown>>[]
  /** What parameters and members truly are, by name. */
  truths: Truths
}

/** Bodies of an operation as text, right or mostly wrong; undefined: none. */
export function bodyOf(
  operation: JudgedOperation,
  sources: BodySources,
  wrong: boolean,
): fc.Arbitrary<string | undefined> {
  const schema = operation.requestBody?.content['application/json']?.schema
  if (!schema)
    return operation.method === 'GET' || !wrong
      ? fc.constant(undefined)
      : fc.constantFrom(undefined, '{}', '{"a":1}', 'x')
  const { bodies, truths } = sources
  const plain = fc.constantFrom(...bodies)
  // Mostly a body that succeeds with a few members as the schema takes them.
  const right: fc.Arbitrary<Record<string, unknown>> = fc.oneof(
    plain.map((body) => ({ ...body })),
    {
      weight: 3,
      arbitrary: fc.tuple(plain, someMembers(schema, truths)).map(([body, members]) => ({ ...body, ...members })),
    },
    validValue(schema, truths) as fc.Arbitrary<Record<string, unknown>>,
  )
  const text = right.map((value) => JSON.stringify(value))
  if (!wrong) return text
  return fc.oneof(
    { weight: 6, arbitrary: changed(right, schema).map((value) => JSON.stringify(value)) },
    { weight: 1, arbitrary: hostileValue(schema).map((value) => JSON.stringify(value)) },
    { weight: 2, arbitrary: spoilt(text) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        '',
        '{',
        'null',
        '[]',
        '"x"',
        '{}',
        '{"a":',
        '\ufeff{}',
        '{"__proto__":{}}',
        '['.repeat(5000),
        `${'[{"a":'.repeat(40)}1${'}]'.repeat(40)}`,
      ),
    },
  )
}

/** One to three members as the schema takes them. */
function someMembers({ properties = {} }: JudgedSchema, truths: Truths): fc.Arbitrary<Record<string, unknown>> {
  const members = Object.entries(properties).map(([name, member]) =>
    validValue(member, entriesOf(truths, name), name).map((value) => [name, value] as const),
  )
  return members.length === 0
    ? fc.constant({})
    : fc.array(fc.oneof(...members), { minLength: 1, maxLength: 3 }).map((entries) => Object.fromEntries(entries))
}

/** An object of which one to three members are hostile, missing or unknown, at any depth. */
function changed(right: fc.Arbitrary<Record<string, unknown>>, schema: JudgedSchema): fc.Arbitrary<unknown> {
  const { properties = {}, additionalProperties } = schema
  const change = fc.oneof(
    ...Object.entries(properties).map(([name, member]) => ({
      weight: 2,
      arbitrary: fc.oneof(
        hostileValue(member).map((value) => [name, value] as const),
        ...(member.properties
          ? [
              changed(
                validValue(member, {}).map((value) => ({ ...(value as object) })),
                member,
              ).map((value) => [name, value] as const),
            ]
          : []),
        ...(member.items
          ? [
              fc
                .array(hostileValue(member.items), { minLength: 1, maxLength: 3 })
                .map((value) => [name, value] as const),
            ]
          : []),
        ...(typeof member.additionalProperties === 'object'
          ? [
              fc
                .dictionary(hostileText(), hostileValue(member.additionalProperties), { maxKeys: 4 })
                .map((value) => [name, value] as const),
            ]
          : []),
      ),
    })),
    ...Object.keys(properties).map((name) => fc.constant([name, undefined] as const)),
    fc.tuple(
      fc.oneof(hostileText(), fc.constantFrom('id', 'status', 'tenant_id', 'created_at')),
      hostileValue(typeof additionalProperties === 'object' ? additionalProperties : {}),
    ),
  )
  return fc.tuple(right, fc.array(change, { minLength: 1, maxLength: 3 })).map(([value, changes]) => {
    const entries = new Map<string, unknown>(Object.entries(value))
    for (const [name, hostile] of changes) entries.set(name, hostile)
    return Object.fromEntries(entries)
  })
}

/** Text of which a piece was cut out and another put in. */
function spoilt(text: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const piece = fc.constantFrom(
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
    '1e400',
    '\\u0000',
    '\\ud800',
    '😀',
    '""',
    '\\',
    '0',
    '.5',
    ' ',
    '"__proto__":1,',
  )
  return fc.tuple(text, fc.nat(), fc.integer({ min: 0, max: 3 }), piece).map(([whole, drawn, cut, put]) => {
    const at = drawn % (whole.length + 1)
    return (whole.slice(0, at) + put + whole.slice(at + cut)).toWellFormed()
  })
}
