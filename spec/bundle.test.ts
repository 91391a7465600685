import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { breakingChanges } from './compatibility.ts'
import type { RedoclyRun } from './documents.ts'
import { inRepository, redocly } from './documents.ts'
import { dreddDocument } from './dreddDocument.ts'
import { dereferenced, json, operationLines, rules, upgraded, webhookTypes } from './generated.ts'
import type { Document, Operation, Response } from './house/openapi.ts'
import { codesOf } from './house/codes.ts'

const folder = mkdtempSync(join(tmpdir(), 'bayar-bundle-'))
afterAll(() => rmSync(folder, { recursive: true }))

const write = (name: string, content: string): string => {
  writeFileSync(join(folder, name), content)
  return join(folder, name)
}

const thing = {
  type: 'object', description: 'A thing.', additionalProperties: false, required: ['name'],
  properties: {
    name: { type: 'string', description: 'Its name.' },
    note: { type: 'string', nullable: true, description: 'A note.' },
    labels: { type: 'object', description: 'Labels.', additionalProperties: { type: 'string' } },
  },
}

const reference = { $ref: 'schemas.yaml#/Thing' }

const createThing = {
  operationId: 'createThing', tags: ['things'], summary: 'Create a thing', description: 'Creates a thing.',
  'x-caller': { kind: 'merchant', scope: ['payments.payment_intent.create'] }, 'x-idempotency': 'optional',
  'x-errors': ['legal_settings_incomplete', 'invalid_state'],
  requestBody: {
    required: true, description: 'It.',
    content: { 'application/json': { schema: reference, examples: { a: { value: { name: 'a' } } } } },
  },
  responses: { 201: {
    description: 'The thing.',
    content: { 'application/json': { schema: reference, example: { name: 'a', note: 'b', labels: { c: 'd' } } } },
  } },
}

const root = {
  openapi: '3.0.3', info: { title: 'T', version: '1.0.0' }, 'x-service': 'payments',
  servers: [{ url: 'https://t.example/v1' }],
  paths: { '/things': { post: { $ref: 'createThing.yaml' } } },
  'x-webhooks': { 'thing.made': { post: {
    summary: 'Made', responses: { 200: { description: 'Accepted.' } },
    requestBody: { content: { 'application/json': { schema: reference } } },
  } } },
}

const yaml = (value: unknown): string => stringify(value, { aliasDuplicateObjects: false })

const bundled = (root: string, output: string): Promise<RedoclyRun> =>
  redocly(['bundle', root, '-o', output, '--config', inRepository('redocly.yaml')])

const CONFLICT = 'IdempotencyKeyReusedOrInvalidStateOrLegalSettingsIncomplete'

let bundle: Document
let bundlePath: string
beforeAll(async () => {
  write('schemas.yaml', yaml({ Thing: thing }))
  write('createThing.yaml', yaml(createThing))
  bundlePath = join(folder, 'bundle.json')
  const run = await bundled(write('openapi.yaml', yaml(root)), bundlePath)
  expect(run.code, run.stderr).toBe(0)
  bundle = JSON.parse(readFileSync(bundlePath, 'utf8')) as Document
})

const created = (document: Document): Operation => document.paths['/things']?.post as Operation

describe('a bundle', () => {
  test('declares every code that the operation can give, by status, in responses named by their codes', () => {
    const answers = created(bundle).responses as Record<string, { $ref: string }>
    expect(Object.keys(answers)).toEqual(['201', '400', '401', '403', '406', '409', '413', '415', '429', '500', '503'])
    expect(answers['409']?.$ref).toBe(`#/components/responses/${CONFLICT}`)
    const flat = dereferenced(bundle) as Document
    const errors = Object.entries(created(flat).responses).filter(([status]) => status >= '400')
    const declared = errors.flatMap(([, response]) => {
      const schema = (response as Response).content?.['application/json']?.schema
      return schema?.properties?.error?.enum ?? []
    })
    expect(declared.sort()).toEqual(codesOf(created(bundle), bundle))
  })

  test('shows each code with an example and its own members', () => {
    const conflict = bundle.components?.responses?.[CONFLICT]
    expect(conflict).toMatchObject({ content: { 'application/json': {
      schema: { required: ['error', 'message', 'request_id'], properties: { missing_keys: { type: 'array' } } },
      examples: {
        invalid_state: { value: { error: 'invalid_state' } },
        legal_settings_incomplete: { value: { missing_keys: ['operator.legal_name'] } },
      },
    } } })
  })

  test('declares the headers and the security that the rules mean', () => {
    const success = created(bundle).responses['201'] as { headers: Record<string, unknown> }
    expect(Object.keys(success.headers))
      .toEqual(['X-Request-Id', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset', 'Idempotency-Replayed'])
    expect(created(bundle).parameters).toEqual([{ $ref: '#/components/parameters/IdempotencyKey' }])
    expect(created(bundle).security).toEqual([{ apiKey: [] }, { accessToken: [] }])
    expect(bundle.components?.responses?.Unavailable).toMatchObject({ headers: { 'Retry-After': {} } })
  })

  test('keeps the rules, and leaves webhooks alone', () => {
    expect(created(bundle)['x-idempotency']).toBe('optional')
    expect(Object.keys(bundle['x-webhooks']?.['thing.made']?.post?.responses ?? {})).toEqual(['200'])
  })

  test('is refused when a code is not in the catalogue', async () => {
    write('badOperation.yaml', yaml({ ...createThing, 'x-errors': ['no_such_code'] }))
    const bad = write('bad.yaml', yaml({ ...root, paths: { '/things': { post: { $ref: 'badOperation.yaml' } } } }))
    const run = await bundled(bad, join(folder, 'bad.json'))
    expect(run.code).toBe(1)
    expect(run.stdout + run.stderr).toContain('no_such_code is not in spec/http/error-codes.yaml')
  })
})

describe('what is made of a bundle', () => {
  test('the dereferenced form has no reference left, and a schema that contains itself is refused', () => {
    expect(json(dereferenced(bundle))).not.toContain('"$ref"')
    const components = { schemas: { Node: { properties: { next: { $ref: '#/components/schemas/Node' } } } } }
    const circular = { openapi: '3.0.3', info: bundle.info, paths: {}, components }
    expect(() => dereferenced(circular)).toThrow('contains itself')
  })

  test('the 3.1 form has webhooks and lists of types, and the 3.0 document is as it was', () => {
    const before = json(bundle)
    const threeOne = upgraded(bundle)
    expect(threeOne.openapi).toMatch(/^3\.1/)
    expect(Object.keys(threeOne.webhooks as object)).toEqual(['thing.made'])
    expect(json(threeOne)).not.toContain('nullable')
    expect(json(bundle)).toBe(before)
  })

  test('webhook types hold the payloads and no paths', async () => {
    const text = await webhookTypes(upgraded(bundle))
    expect(text).toContain('"thing.made"')
    expect(text).toContain('note?: string | null')
    expect(text).not.toContain('"/things"')
  })

  test('the rules name the codes of the operation and its transaction', () => {
    const text = rules(bundle)
    expect(text).toContain('createThing: \'write\'')
    for (const code of ['invalid_state', 'legal_settings_incomplete', 'validation_failed', 'idempotency_key_reused']) {
      expect(text.slice(0, text.indexOf('Transactions'))).toContain(`'${code}'`)
    }
  })

  test('the index has a line with the whole path, the caller, the rules and the codes', () => {
    const lines = operationLines({ payments: bundle } as Parameters<typeof operationLines>[0])
    const cells = lines.split('\n').find((line) => line.startsWith('createThing'))?.split(/ {2,}/)
    expect(cells?.slice(0, -1)).toEqual([
      'createThing', 'POST', '/v1/things', 'merchant:payments.payment_intent.create', 'tx=write limit=caller idem',
    ])
    expect(cells?.at(-1)).toBe(codesOf(created(bundle), bundle).join(','))
  })

  test('the smoke run gets successes only, with what an answer must have', () => {
    const smoke = dreddDocument(bundle)
    const operation = smoke.paths['/v1/things']?.post
    expect(Object.keys(operation?.responses ?? {})).toEqual(['201'])
    expect(operation?.responses['201']).toMatchObject({ content: { 'application/json': { example: { name: 'a' } } } })
    expect(json(operation?.responses)).not.toContain('"note": "b"')
    expect(operation?.requestBody).toMatchObject({ content: { 'application/json': { example: { name: 'a' } } } })
    expect(operation?.summary).toBe('createThing')
    expect(smoke['x-webhooks']).toBeUndefined()
  })
})

describe('the gate for published documents', () => {
  const against = async (name: string, change: (document: Document) => void): Promise<string[]> => {
    const document = structuredClone(bundle)
    change(document)
    const path = write(`${name}.json`, json(document))
    return breakingChanges({ path: bundlePath, document: bundle }, { path, document })
  }
  const errorsOf = (document: Document): { required: string[]; properties: { error: { enum: string[] } } } => {
    const response = document.components?.responses?.[CONFLICT]
    type Shape = { content: Record<string, { schema: ReturnType<typeof errorsOf> }> }
    return (response as Shape).content['application/json']?.schema as ReturnType<typeof errorsOf>
  }

  test('a further code in a known status passes, and so do added members and scopes', async () => {
    expect(await against('added', (document) => {
      errorsOf(document).properties.error.enum.push('storefront_closed')
      Object.assign((document.components?.schemas?.Thing as typeof thing).properties, { more: { type: 'string' } })
      created(document)['x-caller']?.scope?.push('payments.refund.create')
    })).toEqual([])
  })

  test('a removed member, and an error body without its message, do not', async () => {
    const found = await against('removed', (document) => {
      const schema = document.components?.schemas?.Thing as { properties: { note?: unknown } }
      delete schema.properties.note
      errorsOf(document).required = ['error', 'request_id']
    })
    expect(found.some((line) => line.includes('note') && line.includes('property-removed'))).toBe(true)
    expect(found.some((line) => line.includes('message') && line.includes('required-properties-removed'))).toBe(true)
  })

  test('a rule that narrows what an operation serves does not', async () => {
    expect(await against('narrowed', (document) => {
      const operation = created(document)
      operation['x-step-up'] = true
      operation['x-max-body'] = 1000
      operation['x-caller'] = { kind: 'merchant', scope: ['payments.refund.create'] }
      delete operation['x-idempotency']
    })).toEqual([
      'createThing: x-step-up is now true',
      'createThing: the largest body went from 262144 to 1000 bytes',
      'createThing: x-idempotency is gone',
      'createThing: x-caller no longer admits whom it did',
    ])
  })
})
