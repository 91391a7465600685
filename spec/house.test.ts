import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { inRepository, redocly } from './documents.ts'
import { clash } from './house/documentRules.ts'

interface Problem {
  ruleId: string
  severity: string
  message: string
  location: { source: { ref: string }; pointer: string }[]
}

type Node = Record<string, unknown>

/** A text to look for in the message, the end of the file's name, the pointer. */
type Finding = [rule: string, message: string, file: string, pointer?: string]

const integer = { type: 'integer', description: 'A number.' }
const string = { type: 'string', description: 'A text.' }
const object = (properties: Node, more: Node = {}): Node =>
  ({ type: 'object', description: 'A thing.', additionalProperties: false, properties, ...more })

const answer = (schema: unknown, example: unknown): Node => ({
  200: { description: 'The answer.', content: { 'application/json': { schema, example } } },
})

/** An operation that no rule objects to, but for what is changed. A member set to undefined is left out. */
const operation = (operationId: string, changes: Node = {}): Node => ({
  operationId, tags: ['things'], summary: 'Get a thing', description: 'Gets a thing.', 'x-caller': { kind: 'public' },
  responses: answer({ $ref: 'schemas.yaml#/Thing' }, { name: 'a' }), ...changes,
})

const list = (changes: Node, required: string[]): Node => operation('listThings', {
  responses: answer(
    object(
      { things: { type: 'array', description: 'Things.', items: string }, total: integer, page: integer, ...changes },
      { required }),
    { things: [], total: 0, page: 1 }),
})

const schemas: Node = { Thing: object({ name: string }, { required: ['name'] }) }

const sound: Record<string, Node> = {
  'openapi.yaml': {
    openapi: '3.0.3',
    info: {
      title: 'T', version: '1.0.0', description: 'T.',
      license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
    },
    'x-service': 'payments',
    servers: [{ url: 'https://t.example' }],
    tags: [{ name: 'things', description: 'Things.' }],
    paths: { '/things': { get: { $ref: 'things/getThing.yaml' } } },
    'x-webhooks': {
      'thing.made': {
        post: {
          operationId: 'onThingMade', tags: ['things'], summary: 'A thing was made', description: 'Sent then.',
          requestBody: {
            required: true, description: 'It.',
            content: { 'application/json': { schema: { $ref: 'things/schemas.yaml#/Thing' }, example: { name: 'a' } } },
          },
          responses: { 200: { description: 'Accepted.' } },
        },
      },
    },
  },
  'things/getThing.yaml': operation('getThing'),
  'things/schemas.yaml': schemas,
}

const folder = mkdtempSync(join(tmpdir(), 'bayar-house-'))
afterAll(() => rmSync(folder, { recursive: true }))

async function lint(name: string, files: Record<string, Node>): Promise<Problem[]> {
  for (const [file, content] of Object.entries(files)) {
    const path = join(folder, name, 'payments', file)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, stringify(content, { aliasDuplicateObjects: false }))
  }
  const root = join(folder, name, 'payments/openapi.yaml')
  const args = ['lint', root, '--config', inRepository('redocly.yaml'), '--format', 'json', '--max-problems', '1000']
  const { stdout } = await redocly(args)
  return (JSON.parse(stdout) as { problems: Problem[] }).problems
}

const operations: Record<string, Node> = {
  misnamed: operation('getOther'),
  thingGETTER: operation('thingGETTER'),
  getTwoTags: operation('getTwoTags', { tags: ['things', 'other'] }),
  getBare: operation('getBare', { summary: undefined, description: undefined }),
  getUncalled: operation('getUncalled', { 'x-caller': undefined }),
  getStrange: operation('getStrange', { 'x-caller': { kind: 'robot' } }),
  getUnscoped: operation('getUnscoped', { 'x-caller': { kind: 'merchant' } }),
  getWrongScope: operation('getWrongScope', { 'x-caller': { kind: 'merchant', scope: ['payments.nothing'] } }),
  getWrongPermission: operation('getWrongPermission', {
    'x-caller': { kind: 'console', permission: 'payments.legal.read' },
  }),
  getWrongGrant: operation('getWrongGrant', { 'x-caller': { kind: 'service', permission: 'payments.team.read' } }),
  getOverdone: operation('getOverdone', { 'x-caller': { kind: 'public', permission: 'payments.team.read' } }),
  getStep: operation('getStep', { 'x-step-up': true, 'x-captcha': true, 'x-feature': 'reviews', 'x-max-body': 10 }),
  getBlind: operation('getBlind', { 'x-body': 'ignored', requestBody: { description: 'It.', content: {} } }),
  getMisspelt: operation('getMisspelt', { 'x-step-upp': true }),
  getMalformed: operation('getMalformed', {
    'x-transaction': 'sometimes', 'x-rate-limit': 'all', 'x-idempotency': true,
  }),
  getUnknownError: operation('getUnknownError', { 'x-errors': ['no_such_code'] }),
  getRetired: operation('getRetired', { 'x-errors': ['scope_forbidden'] }),
  getTwice: operation('getTwice', { 'x-errors': ['not_found', 'not_found'] }),
  getHandMade: operation('getHandMade', { responses: { ...answer(string, 'a'), 404: { description: 'Gone.' } } }),
  getNoSuccess: operation('getNoSuccess', { responses: { 302: { description: 'Elsewhere.' } } }),
  getReferred: operation('getReferred', { responses: { 200: { $ref: 'schemas.yaml#/Answer' } } }),
  getWithoutExample: operation('getWithoutExample', {
    responses: { 200: { description: 'The answer.', content: { 'application/json': { schema: string } } } },
  }),
  createThing: operation('createThing', {
    requestBody: { description: 'It.', content: { 'application/json': { schema: string } } },
  }),
  getWrongExample: operation('getWrongExample', {
    responses: answer({ $ref: 'schemas.yaml#/Thing' }, { name: 'a', surplus: 1 }),
  }),
  listThings: list({}, ['things', 'total']),
  listMore: {
    ...list(
      { limit: integer, total_pages: integer, others: { type: 'array', description: 'O.', items: string } },
      ['things', 'total', 'page', 'limit', 'total_pages']),
    operationId: 'listMore',
  },
  getClamped: operation('getClamped', {
    parameters: [{
      name: 'page', in: 'query', description: 'Page.', example: 1,
      schema: { type: 'number', minimum: 1, 'x-clamp': [9, 1] },
    }],
  }),
  getParameterKey: operation('getParameterKey', {
    parameters: [{
      name: 'a', in: 'query', description: 'A.', 'x-error': 'not_found', schema: { type: 'string' }, example: 'a',
    }],
  }),
  getPoor: operation('getPoor', { responses: answer({ $ref: 'schemas.yaml#/Poor' }, {}) }),
}

const broken: Record<string, Node> = {
  ...Object.fromEntries(Object.entries(operations).map(([file, node]) => [`things/${file}.yaml`, node])),
  'openapi.yaml': {
    ...sound['openapi.yaml'],
    'x-service': 'storefront',
    'x-owner': 'nobody',
    paths: {
      ...Object.fromEntries(Object.keys(operations).map((file) =>
        [`/${file}`, { get: { $ref: `things/${file}.yaml` } }])),
      '/inline': { get: { ...operation('getInline'), responses: answer(string, 'a') } },
      '/beside': { parameters: [], post: { $ref: 'things/createThing.yaml' } },
      '/same/{id}': { get: { $ref: 'things/getWrongScope.yaml' } },
      '/same/{other}': { get: { $ref: 'things/getWrongScope.yaml' } },
      '/same/fixed': { get: { $ref: 'things/getWrongScope.yaml' } },
    },
    'x-webhooks': {
      'thing.made': { post: {
        operationId: 'onThingMade', tags: ['things'], summary: 'Made', description: 'Sent then.',
        'x-caller': { kind: 'public' },
        responses: { 200: { description: 'Accepted.' } },
      } },
    },
  },
  'things/orphan.yaml': operation('orphan'),
  'things/schemas.yaml': {
    ...schemas,
    Answer: answer(string, 'a')['200'],
    Poor: object({
      mute: { type: 'string' },
      camelCase: string,
      maxNumber: integer,
      'camel-case': string,
      both: { allOf: [string], description: 'B.' },
      either: { anyOf: [string], description: 'B.' },
      neither: { not: string, description: 'B.' },
      above: { ...integer, minimum: 0, exclusiveMinimum: true },
      never: { ...string, nullable: false },
      untyped: { nullable: true, description: 'U.' },
      open: { type: 'object', description: 'O.', properties: { name: string } },
      choice: { oneOf: [{ $ref: '#/Thing' }], description: 'C.' },
      mapless: { oneOf: [{ $ref: '#/Thing' }], discriminator: { propertyName: 'name' }, description: 'C.' },
      clamped: { ...integer, 'x-clamp': [1, 2] },
      failing: { ...string, 'x-error': 'no_such_code' },
      mapped: { ...string, 'x-error': { colour: 'not_found' } },
      hidden: { ...string, 'x-secret': 'yes' },
      sizes: { ...string, enum: ['XL', 'xl'] },
      file: { $ref: '#/File' },
      one: { $ref: '#/PoorThing' },
      two: { $ref: '#/poor_thing' },
    }),
    File: string,
    PoorThing: string,
    poor_thing: string,
  },
}

const findings: Finding[] = [
  ['house/operation-id-is-file-name', 'must be misnamed', 'misnamed.yaml', '#/operationId'],
  ['house/operation-id-style', 'thingGETTER', 'thingGETTER.yaml'],
  ['house/one-tag', 'exactly one tag', 'getTwoTags.yaml', '#/tags'],
  ['operation-tag-defined', 'global tags', 'getTwoTags.yaml'],
  ['operation-summary', 'summary', 'getBare.yaml'],
  ['operation-description', 'description', 'getBare.yaml'],
  ['house/caller-declared', 'missing', 'getUncalled.yaml'],
  ['house/caller-declared', 'kind must be', 'getStrange.yaml', '#/x-caller'],
  ['house/caller-declared', 'must be a list', 'getUnscoped.yaml'],
  ['house/caller-declared', 'payments.nothing', 'getWrongScope.yaml'],
  ['house/caller-declared', 'payments.legal.read is not among the permissions', 'getWrongPermission.yaml'],
  ['house/caller-declared', 'payments.team.read is not among the client_permissions', 'getWrongGrant.yaml'],
  ['house/caller-declared', 'takes no permission', 'getOverdone.yaml'],
  ['house/keys-fit', 'x-step-up', 'getStep.yaml', '#/x-step-up'],
  ['house/keys-fit', 'x-captcha', 'getStep.yaml', '#/x-captcha'],
  ['house/keys-fit', 'x-feature', 'getStep.yaml', '#/x-feature'],
  ['house/keys-fit', 'x-max-body', 'getStep.yaml', '#/x-max-body'],
  ['house/keys-fit', 'ignored body', 'getBlind.yaml', '#/requestBody'],
  ['house/key-known', 'x-step-upp is not a key', 'getMisspelt.yaml', '#/x-step-upp'],
  ['house/key-known', 'x-transaction must be', 'getMalformed.yaml'],
  ['house/key-known', 'x-rate-limit must be', 'getMalformed.yaml'],
  ['house/key-known', 'x-idempotency must be', 'getMalformed.yaml'],
  ['house/key-known', 'no_such_code', 'getUnknownError.yaml', '#/x-errors'],
  ['house/key-known', 'scope_forbidden', 'getRetired.yaml', '#/x-errors'],
  ['house/key-known', 'twice', 'getTwice.yaml', '#/x-errors'],
  ['house/key-known', 'x-error is not a key', 'getParameterKey.yaml', '#/parameters/0/x-error'],
  ['house/key-known', 'no_such_code', 'schemas.yaml', '#/Poor/properties/failing/x-error'],
  ['house/key-known', 'colour', 'schemas.yaml', '#/Poor/properties/mapped/x-error'],
  ['house/key-known', 'x-secret must be', 'schemas.yaml', '#/Poor/properties/hidden/x-secret'],
  ['house/key-known', 'x-owner', 'openapi.yaml', '#/x-owner'],
  ['house/key-known', 'x-caller is not a key', 'openapi.yaml', '#/x-webhooks/thing.made/post/x-caller'],
  ['house/key-known', 'x-clamp must be', 'getClamped.yaml'],
  ['house/clamp-fits', 'type: integer', 'getClamped.yaml'],
  ['house/clamp-fits', 'minimum or maximum', 'getClamped.yaml'],
  ['house/clamp-fits', 'schema of a parameter', 'schemas.yaml', '#/Poor/properties/clamped/x-clamp'],
  ['house/errors-implied', '404', 'getHandMade.yaml', '#/responses/404'],
  ['house/errors-implied', 'declares its success', 'getNoSuccess.yaml'],
  ['house/errors-implied', 'by $ref', 'getReferred.yaml', '#/responses/200'],
  ['house/example-given', 'example', 'getWithoutExample.yaml'],
  ['house/example-given', 'example', 'createThing.yaml', '#/requestBody/content/application~1json'],
  ['no-invalid-media-type-examples', 'surplus', 'getWrongExample.yaml'],
  ['house/list-envelope', 'A list answers limit', 'listThings.yaml'],
  ['house/list-envelope', 'A list answers total_pages', 'listThings.yaml'],
  ['house/list-envelope', 'A list always answers page', 'listThings.yaml'],
  ['house/list-envelope', 'exactly one array', 'listMore.yaml'],
  ['house/member-described', 'mute', 'schemas.yaml', '#/Poor/properties/mute'],
  ['house/member-snake-case', 'camelCase', 'schemas.yaml'],
  ['house/plain-schema', 'allOf', 'schemas.yaml'],
  ['house/plain-schema', 'anyOf', 'schemas.yaml'],
  ['house/plain-schema', 'not is not used', 'schemas.yaml'],
  ['house/plain-schema', 'exclusiveMinimum', 'schemas.yaml'],
  ['house/nullable-typed', 'not true', 'schemas.yaml', '#/Poor/properties/never/nullable'],
  ['house/nullable-typed', 'needs type', 'schemas.yaml', '#/Poor/properties/untyped/nullable'],
  ['house/object-closed', 'additionalProperties', 'schemas.yaml', '#/Poor/properties/open/properties'],
  ['house/discriminator-mapped', 'needs a discriminator', 'schemas.yaml', '#/Poor/properties/choice/oneOf'],
  ['house/discriminator-mapped', 'needs a mapping', 'schemas.yaml', '#/Poor/properties/mapless/discriminator'],
  ['house/name-distinct', 'File is the name', 'schemas.yaml', '#/File'],
  ['house/name-distinct', 'PoorThing and poor_thing', 'schemas.yaml'],
  ['house/name-distinct', 'camelCase and camel-case', 'schemas.yaml'],
  ['house/name-distinct', 'XL and xl', 'schemas.yaml'],
  ['house/service-named', 'x-service: payments', 'openapi.yaml'],
  ['house/method-is-reference', 'one $ref', 'openapi.yaml', '#/paths/~1inline/get'],
  ['house/method-is-reference', 'parameters', 'openapi.yaml', '#/paths/~1beside/parameters'],
  ['house/paths-distinct', '/same/{other} and /same/{id}', 'openapi.yaml'],
  ['house/file-referenced', 'orphan.yaml', 'openapi.yaml'],
]

const isFound = (problems: Problem[], [rule, message, file, pointer]: Finding): boolean =>
  problems.some((problem) => problem.ruleId === rule && problem.severity === 'error'
    && problem.message.includes(message) && (problem.location[0]?.source.ref ?? '').endsWith(file)
    && (!pointer || problem.location[0]?.pointer === pointer))

describe('house rules', () => {
  let problems: Problem[]
  beforeAll(async () => { problems = await lint('broken', broken) })

  test.each(findings)('%s finds "%s" in %s', (...finding) => {
    expect(isFound(problems, finding), problems.map((p) => `${p.ruleId} ${p.message}`).join('\n')).toBe(true)
  })

  test('every house rule that is switched on has a breakage that it finds', async () => {
    const { default: plugin } = await import('./house.ts')
    const proven = new Set(findings.map(([rule]) => rule))
    expect(Object.keys(plugin().rules.oas3).filter((name) => !proven.has(`house/${name}`))).toEqual([])
  })

  test('a member name that another specification fixed may be in camel case', () => {
    expect(problems.filter((problem) => problem.message.includes('maxNumber'))).toEqual([])
  })

  test('a concrete segment beside a template is no clash', () => {
    expect(problems.filter((problem) => problem.message.includes('/same/fixed'))).toEqual([])
  })

  test('a sound document has no problem, and a webhook needs no caller', async () => {
    expect(await lint('sound', sound)).toEqual([])
  })
})

describe('paths', () => {
  test.each([
    ['/a/{id}', '/a/{other}', true],
    ['/a/{id}', '/a/admin', false],
    ['/a/{id}/b', '/a/{other}/c', false],
    ['/a/{id}.csv', '/a/{id}', true],
    ['/a/{id}', '/a/{id}/b', false],
    ['/{x}/b', '/a/{y}', false],
  ])('%s and %s match the same requests: %s', (one, other, expected) => {
    expect(clash(one, other)).toBe(expected)
    expect(clash(other, one)).toBe(expected)
  })
})
