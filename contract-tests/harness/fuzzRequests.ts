import * as fc from 'fast-check'
import type { JudgedOperation, JudgedParameter, JudgedSchema } from './documentJudge.ts'
import { bodyOf } from './fuzzBodies.ts'
import type { BodySources } from './fuzzBodies.ts'
import { hostileText, hostileValue, validValue } from './fuzzValues.ts'
import type { Truths } from './fuzzValues.ts'

/** A request before the things that it names are made: `{{thing}}` stands for what differs from run to run. */
export interface PlannedRequest {
  /** Name of the credential. */
  credential: string
  path: Record<string, string>
  query: string
  headers: Record<string, string>
  body: string | undefined
}

export interface RequestSources extends BodySources {
  /** Names of credentials that are good for the operation. */
  good: readonly string[]
  /** Names of credentials that are not. */
  bad: readonly string[]
  /** What path parameters must never lead to, by name: things of somebody else. */
  others: Readonly<Record<string, readonly string[]>>
}

/** The request that the document itself shows, which must succeed. */
export function plainRequest(
  operation: JudgedOperation,
  { good, truths, bodies: [body] }: RequestSources,
): PlannedRequest {
  const at = (name: string) => operation.parameters.filter(({ in: place }) => place === name)
  return {
    credential: good[0] ?? 'none',
    path: Object.fromEntries(at('path').map(({ name }) => [name, escaped(String(truths[name]?.[0] ?? ''))])),
    query: at('query')
      .filter(({ required }) => required)
      .map(({ name }) => `${name}=${escaped(String(truths[name]?.[0] ?? ''))}`)
      .join('&'),
    headers: body === undefined ? {} : { 'Content-Type': 'application/json' },
    body: body === undefined ? undefined : JSON.stringify(body),
  }
}

/** Requests of an operation: some right in everything, most wrong in one thing, some in several. */
export function plannedRequests(operation: JudgedOperation, sources: RequestSources): fc.Arbitrary<PlannedRequest> {
  const { good, bad } = sources
  const wrong = fc.record({
    path: odds(8),
    query: odds(takes(operation, 'query') ? 2 : 10),
    headers: odds(takes(operation, 'header') ? 5 : 10),
    body: odds(2),
    credential: odds(6),
  })
  // Made once for all requests: to make a generator of text by its pattern costs more than to use it.
  const parts = {
    path: either((isWrong) => pathOf(operation, sources, isWrong)),
    query: either((isWrong) => queryOf(operation, sources.truths, isWrong)),
    headers: either((isWrong) => headersOf(operation, isWrong)),
    body: either((isWrong) => bodyOf(operation, sources, isWrong)),
    credential: either((isWrong) => (isWrong && bad.length > 0 ? fc.constantFrom(...bad) : fc.constantFrom(...good))),
  }
  return wrong
    .chain((at) =>
      fc.record({
        credential: parts.credential(at.credential),
        path: parts.path(at.path),
        query: parts.query(at.query),
        headers: parts.headers(at.headers),
        body: parts.body(at.body),
      }),
    )
    .map(typedBody)
}

/** The generators of what is right and of what is wrong. */
function either<T>(make: (isWrong: boolean) => fc.Arbitrary<T>): (isWrong: boolean) => fc.Arbitrary<T> {
  const [right, wrong] = [make(false), make(true)]
  return (isWrong) => (isWrong ? wrong : right)
}

function takes({ parameters }: JudgedOperation, kind: JudgedParameter['in']): boolean {
  return parameters.some(({ in: place }) => place === kind)
}

/** True once in `times`. */
function odds(times: number): fc.Arbitrary<boolean> {
  return fc.integer({ min: 0, max: times - 1 }).map((drawn) => drawn === times - 1)
}

function pathOf(
  { parameters }: JudgedOperation,
  sources: RequestSources,
  wrong: boolean,
): fc.Arbitrary<Record<string, string>> {
  return fc.record(
    Object.fromEntries(
      parameters
        .filter(({ in: place }) => place === 'path')
        .map((parameter) => [parameter.name, pathValue(parameter, sources, wrong)]),
    ),
  )
}

/** An empty segment would be another path. */
function pathValue(
  { name, schema }: JudgedParameter,
  { truths, others }: RequestSources,
  wrong: boolean,
): fc.Arbitrary<string> {
  const [known, strange] = [truths[name] ?? [], others[name] ?? []]
  const right = known.length > 0 ? fc.constantFrom(...known).map(String) : validValue(schema, truths, name).map(String)
  if (!wrong) return right.map(escaped)
  return fc
    .oneof(
      ...(strange.length > 0 ? [{ weight: 2, arbitrary: fc.constantFrom(...strange) }] : []),
      hostileText().map(escaped),
      validValue(schema, {}, name).map((value) => escaped(String(value))),
      fc.constantFrom(
        '%00',
        '%zz',
        '%',
        '%C3%28',
        '%2e%2e',
        '.',
        '..',
        '%2F',
        ';a=b',
        '*',
        '{id}',
        'null',
        '%ED%A0%80',
        '%2525',
        '+',
        '%20',
      ),
    )
    .map((text) => (text === '' ? '%20' : text))
}

function queryOf({ parameters }: JudgedOperation, truths: Truths, wrong: boolean): fc.Arbitrary<string> {
  const declared = parameters.filter(({ in: place }) => place === 'query')
  const right = fc.tuple(...declared.map((parameter) => rightPairs(parameter, truths))).map((pairs) => pairs.flat())
  const more = wrong ? fc.array(wrongPair(declared, truths), { minLength: 1, maxLength: 3 }) : fc.constant([])
  return fc.tuple(right, more).map(([pairs, others]) => [...pairs, ...others].join('&'))
}

function rightPairs({ name, schema, style, required }: JudgedParameter, truths: Truths): fc.Arbitrary<string[]> {
  const one =
    style === 'deepObject'
      ? validValue(schema, truths, name).map((value) =>
          Object.entries(value as Record<string, unknown>).map(
            ([key, text]) => `${escaped(`${name}[${key}]`)}=${escaped(String(text))}`,
          ),
        )
      : validValue(schema, truths, name).map((value) => [`${escaped(name)}=${escaped(String(value))}`])
  return required ? one : fc.oneof({ weight: 4, arbitrary: fc.constant<string[]>([]) }, { weight: 1, arbitrary: one })
}

function wrongPair(declared: readonly JudgedParameter[], truths: Truths): fc.Arbitrary<string> {
  const raw = fc.constantFrom(
    '%00',
    '%zz',
    '%',
    '%C3%28',
    '+',
    '%ED%A0%80',
    '',
    '1e2',
    '0x10',
    '%2B1',
    '1.0',
    '-0',
    '1%20',
    '007',
    '9'.repeat(15),
    '9'.repeat(40),
  )
  const value = (schema: JudgedSchema) =>
    fc.oneof(
      raw,
      hostileValue(schema).map((any) => escaped(typeof any === 'string' ? any : JSON.stringify(any))),
    )
  const ofDeclared = declared.map((parameter) =>
    fc.oneof(
      value(parameter.schema).map((text) => `${parameter.name}=${text}`),
      rightPairs({ ...parameter, required: true }, truths).map((pairs) => [...pairs, ...pairs].join('&')),
      fc
        .tuple(fc.constantFrom('[]', '[a]', '[__proto__]', '[', '[a][b]', ']', '.a'), raw)
        .map(([after, text]) => `${escaped(`${parameter.name}${after}`)}=${text}`),
    ),
  )
  return fc.oneof(
    ...ofDeclared.map((arbitrary) => ({ weight: 3, arbitrary })),
    fc.tuple(hostileText(), raw).map(([name, text]) => `${escaped(name)}=${text}`),
    fc.constantFrom(
      '=',
      '&&',
      '?',
      'a',
      '__proto__=1',
      '__proto__[a]=1',
      'constructor=1',
      'page[]=1',
      `${'a=1&'.repeat(300)}a=1`,
    ),
  )
}

function headersOf({ parameters, requestBody }: JudgedOperation, wrong: boolean): fc.Arbitrary<Record<string, string>> {
  const latin = fc.string({
    unit: fc
      .integer({ min: 0x20, max: 0xff })
      .filter((code) => code !== 0x7f)
      .map((code) => String.fromCharCode(code)),
    maxLength: 40,
  })
  const declared = parameters
    .filter(({ in: place }) => place === 'header')
    .map(({ name, schema }): [string, fc.Arbitrary<string>] => [
      name,
      wrong
        ? fc.oneof(latin, fc.constantFrom('', ' ', 'a b', 'a,b', 'x'.repeat(256), 'x'.repeat(255)))
        : validValue(schema, {}).map(String),
    ])
  const others: [string, fc.Arbitrary<string>][] = !wrong
    ? []
    : [
        [
          'Accept',
          fc.oneof(
            latin,
            fc.constantFrom(
              '*/*',
              'text/html',
              'application/json;q=0',
              'application/*',
              'application/json;q=x',
              '',
              ';;',
            ),
          ),
        ],
        ['X-Request-Id', latin],
        ['Origin', latin],
        ['X-Forwarded-For', latin],
        ['If-None-Match', latin],
        ...(requestBody
          ? [
              [
                'Content-Type',
                fc.oneof(
                  latin,
                  fc.constantFrom(
                    'text/plain',
                    'application/json; charset=utf-16',
                    'application/json;charset="UTF-8"',
                    'APPLICATION/JSON',
                    'application/problem+json',
                    '',
                    'multipart/form-data',
                  ),
                ),
              ] as [string, fc.Arbitrary<string>],
            ]
          : []),
      ]
  return fc.record(Object.fromEntries([...declared, ...others]), { requiredKeys: [] }) as fc.Arbitrary<
    Record<string, string>
  >
}

function typedBody(request: PlannedRequest): PlannedRequest {
  if (request.body === undefined || request.headers['Content-Type'] !== undefined) return request
  return { ...request, headers: { ...request.headers, 'Content-Type': 'application/json' } }
}

/** Percent-encoded, but for the names of things; a lone surrogate cannot be. */
function escaped(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replaceAll(/%7B%7B([\w-]+)%7D%7D/g, '{{$1}}')
}
