import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { guards, refusal, refusalOf } from '../../contract-tests/harness/startRefusal.ts'
import { everyRule, syntheticDocument } from '../../contract-tests/harness/syntheticDocument.ts'
import { startSynthetic } from '../../contract-tests/harness/syntheticService.ts'
import { compileContract } from './contract.ts'
import type { Guard } from './exchange.ts'
import { authenticate } from './guards/authenticate.ts'
import { module } from './guards/module.ts'
import { host } from './guards/storefront.ts'
import { buildPipeline } from './pipeline.ts'

test('a document of every rule starts', async () => {
  expect(await refusalOf(syntheticDocument(everyRule))).toBe('')
})

test('all faults are told at once', async () => {
  const message = await refusalOf(
    syntheticDocument([{ id: 'one', 'x-wrong': 1, 'x-caller': { kind: 'public' } }, { id: 'two' }]),
  )
  expect(message).toBe(
    'The synthetic document cannot be served:\n  one: nothing enforces x-wrong\n  two: declares no caller',
  )
})

describe('a service', () => {
  test('a kind that the service cannot verify', async () => {
    const build = (caller: object, ...having: Guard[]) =>
      buildPipeline({
        document: 'synthetic',
        bundle: syntheticDocument([{ id: 'thing', 'x-caller': caller }]),
        handlers: { thing: (async () => undefined) as never },
        guards: guards.map((guard) => having.find(({ name }) => name === guard.name) ?? guard),
        app: {},
        database: {} as never,
        runtime: {} as never,
        checkResponses: true,
        httpsOnly: false,
        trustedProxies: [],
        observe: () => undefined,
        report: () => undefined,
      })
    const nothing = authenticate({ environment: 'sandbox' })
    const tokens = authenticate({ environment: 'sandbox', tokens: {} as never })
    await expect(build({ kind: 'merchant', scope: ['payments.refund.read'] }, nothing)).rejects.toThrow(
      'thing: this service cannot verify access tokens and API keys',
    )
    await expect(build({ kind: 'credential' }, tokens)).rejects.toThrow('cannot verify API keys')
    await expect(build({ kind: 'bff' }, tokens)).rejects.toThrow('cannot verify the subjects of the storefront backend')
    await expect(build({ kind: 'shopper' }, tokens)).rejects.toThrow('and shopper sessions')
    await expect(build({ kind: 'provider' }, tokens)).rejects.toThrow('cannot verify provider signatures')
    await expect(build({ kind: 'signed-link' }, tokens)).rejects.toThrow('cannot verify signed links')
    await expect(
      build(
        { kind: 'bff' },
        host(undefined),
        authenticate({ environment: 'sandbox', tokens: {} as never, bffSubjects: [] }),
      ),
    ).rejects.toThrow('thing: this service knows no storefronts')
  })

  test('a module in a service that knows none', async () => {
    expect(() =>
      module(undefined).compile({ id: 'thing', rules: new Map([['x-module', 'x']]) } as never, {} as never),
    ).toThrow('thing: this service knows no modules')
  })
})

describe('guards', () => {
  test('out of the written order', async () => {
    const [first, ...rest] = guards as [Guard, ...Guard[]]
    expect(await refusal({}, [...rest, first])).toContain('the guard host stands after one that it must precede')
  })

  test('twice, and one that is not known', async () => {
    expect(await refusal({}, [...guards, guards.at(-1) as Guard])).toContain('the guard captcha stands after one')
    expect(await refusal({}, [...guards, { name: 'later', enforces: [], compile: () => null }])).toContain(
      'the guard later has no place in the written order',
    )
  })
})

describe('operations and handlers', () => {
  test('without operationId', async () => {
    const document = syntheticDocument([{ id: 'thing', 'x-caller': { kind: 'public' } }]) as {
      paths: Record<string, { get: { operationId?: string } }>
    }
    delete document.paths['/thing']?.get.operationId
    expect(await refusalOf(document)).toContain('get /thing: has no operationId')
  })

  test('an operationId twice', async () => {
    const same = { id: 'thing', 'x-caller': { kind: 'public' } }
    expect(
      await refusalOf(
        syntheticDocument([
          { ...same, path: '/a' },
          { ...same, path: '/b' },
        ]),
      ),
    ).toContain('thing: stands twice in the document')
  })

  test('an operation without a handler, and a handler without an operation', async () => {
    const one = { id: 'thing', 'x-caller': { kind: 'public' } }
    await expect(startSynthetic({ operations: [one], handlers: { thing: undefined as never } })).rejects.toThrow(
      'thing: has no handler',
    )
    await expect(
      startSynthetic({ operations: [one], handlers: { thyng: (async () => undefined) as never } }),
    ).rejects.toThrow('thyng: a handler without an operation')
  })

  test('idempotency without a place for its keys', async () => {
    const operation = {
      id: 'thing',
      method: 'post',
      'x-caller': { kind: 'user' },
      'x-idempotency': 'optional',
      'x-transaction': 'write',
    } as const
    const build = buildPipeline({
      document: 'synthetic',
      bundle: syntheticDocument([operation]),
      handlers: { thing: (async () => undefined) as never },
      guards,
      app: {},
      database: {} as never,
      runtime: { now: () => new Date(), randomBytes, fetch, sleep: async () => undefined },
      checkResponses: true,
      httpsOnly: false,
      trustedProxies: [],
      observe: () => undefined,
      report: () => undefined,
    })
    await expect(build).rejects.toThrow(
      'thing: the service keeps no idempotency keys, so nothing enforces x-idempotency',
    )
  })
})

describe('paths', () => {
  const two = (first: string, second: string) =>
    refusalOf(
      syntheticDocument(
        [first, second].map((path, index) => ({
          id: `thing${index}`,
          path,
          'x-caller': { kind: 'public' },
          parameters: [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
            name,
            in: 'path',
            required: true,
            schema: { type: 'string' },
          })),
        })),
      ),
    )

  test.each([
    ['/a/{x}', '/a/{y}'],
    ['/{x}/a', '/{y}/a'],
    ['/{x}/{y}', '/{z}/{w}'],
    ['/a/{x}.json', '/a/{y}'],
  ])('%s and %s are ambiguous', async (first, second) => {
    expect(await two(first, second)).toContain(`/v1${first} and /v1${second} match the same requests`)
  })

  test.each([
    ['/a/{x}', '/a/b'],
    ['/a/{x}/c', '/a/{y}/d'],
    ['/{x}/a', '/b/{y}'],
    ['/a/{x}', '/a/{x}/b'],
  ])('%s and %s are not', async (first, second) => {
    expect(await two(first, second)).toBe('')
  })
})

test('without x-transaction a GET asks without a transaction and everything else writes in one', async () => {
  const document = syntheticDocument(
    ['get', 'post', 'put', 'patch', 'delete'].map((method) => ({
      id: method,
      method,
      path: '/thing',
      'x-caller': { kind: 'public' },
      'x-transaction': undefined,
    })),
  )
  const { operations } = await compileContract('synthetic', document, guards)
  expect(operations.map(({ id, transaction }) => `${id} ${transaction}`).sort()).toEqual([
    'delete write',
    'get query',
    'patch write',
    'post write',
    'put write',
  ])
})
