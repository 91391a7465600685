import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { everyRule, syntheticDocument } from '../../contract-tests/harness/syntheticDocument.ts'
import type { SyntheticOperation } from '../../contract-tests/harness/syntheticDocument.ts'
import { everyGuard, startSynthetic } from '../../contract-tests/harness/syntheticService.ts'
import { compileContract } from './contract.ts'
import type { Guard } from './exchange.ts'
import { authenticate } from './guards/authenticate.ts'
import { module } from './guards/module.ts'
import { host } from './guards/storefront.ts'
import { buildPipeline } from './pipeline.ts'

const guards = everyGuard({ environment: 'sandbox' }, {} as never, undefined, {} as never, { perCaller: 1, perAddress: 1 })
const without = (...names: string[]) => guards.filter(({ name }) => !names.includes(name))

/** Why a document of this one operation is refused; empty when it is not. */
async function refusal(operation: Partial<SyntheticOperation>, having: readonly Guard[] = guards): Promise<string> {
  return refusalOf(syntheticDocument([{ id: 'thing', 'x-caller': { kind: 'public' }, ...operation }]), having)
}

async function refusalOf(document: object, having: readonly Guard[] = guards): Promise<string> {
  return compileContract('synthetic', document, having).then(() => '', (error: unknown) => (error as Error).message)
}

const withBody = (schema: object, type = 'application/json') => ({ method: 'post', requestBody: { required: true, content: { [type]: { schema } } } })
const withQuery = (schema: object, more: object = {}) => ({ parameters: [{ name: 'q', in: 'query', schema, ...more }] })

test('a document of every rule starts', async () => {
  expect(await refusalOf(syntheticDocument(everyRule))).toBe('')
})

test('all faults are told at once', async () => {
  const message = await refusalOf(syntheticDocument([{ id: 'one', 'x-wrong': 1, 'x-caller': { kind: 'public' } }, { id: 'two' }]))
  expect(message).toBe('The synthetic document cannot be served:\n  one: nothing enforces x-wrong\n  two: declares no caller')
})

describe('a rule that would not be enforced', () => {
  test('an x- key that nothing enforces', async () => {
    expect(await refusal({ 'x-admin-only': true })).toContain('thing: nothing enforces x-admin-only')
  })

  const needed: [guard: string, operation: Partial<SyntheticOperation>, rule: string][] = [
    ['host', { 'x-caller': { kind: 'bff' } }, 'x-caller'],
    ['environment', { 'x-environment': 'sandbox' }, 'x-environment'],
    ['authenticate', { 'x-caller': { kind: 'user' } }, 'x-caller'],
    ['module', { 'x-caller': { kind: 'user' }, 'x-module': 'disbursement' }, 'x-module'],
    ['authorize', { 'x-caller': { kind: 'admin', permission: 'payments.kyc.review' } }, 'x-caller'],
    ['stepUp', { 'x-caller': { kind: 'user' }, 'x-step-up': true }, 'x-step-up'],
    ['rateLimit', {}, 'x-rate-limit'],
    ['validation', {}, 'its parameters and body'],
    ['clientRateLimit', { 'x-rate-limit': 'client', ...withBody({ type: 'object', properties: { client_id: { type: 'string' } } }) }, 'x-rate-limit'],
    ['replay', { method: 'post', 'x-caller': { kind: 'user' }, 'x-idempotency': 'optional', 'x-transaction': 'write' }, 'x-idempotency'],
    ['feature', { 'x-caller': { kind: 'shopper' } }, 'x-feature'],
    ['openShop', { 'x-caller': { kind: 'bff' }, 'x-when-closed': 'refuse' }, 'x-when-closed'],
    ['captcha', { 'x-caller': { kind: 'bff' }, 'x-captcha': true }, 'x-captcha'],
  ]
  test.each(needed)('one whose guard %s is missing from the service', async (name, operation, rule) => {
    expect(await refusal(operation)).toBe('')
    expect(await refusal(operation, without(name))).toContain(`thing: nothing enforces ${rule}: the service has no guard ${name}`)
  })

  const values: [rule: string, value: unknown][] = [
    ['x-environment', 'test'], ['x-module', ''], ['x-step-up', 'true'], ['x-step-up', false], ['x-rate-limit', 'user'], ['x-idempotency', 'required'],
    ['x-feature', true], ['x-when-closed', 'hide'], ['x-captcha', 'yes'], ['x-transaction', 'serializable'], ['x-body', 'bytes'], ['x-max-body', '1kb'],
    ['x-max-body', 0], ['x-cors', '*'], ['x-ignored-query', 'host'], ['x-errors', 'not_found'], ['x-errors', ['not_a_code']],
  ]
  test.each(values)('%s: %j is no value that its guard knows', async (rule, value) => {
    expect(await refusal({ [rule]: value, responses: { 200: { description: 'done' } } })).toContain(`thing: ${rule} must be`)
  })

  const places: [why: string, operation: Partial<SyntheticOperation>][] = [
    ['x-step-up needs a caller who can step up', { 'x-caller': { kind: 'credential' }, 'x-step-up': true }],
    ['x-feature needs the caller bff or shopper', { 'x-feature': 'reviews' }],
    ['x-when-closed needs the caller bff or shopper', { 'x-caller': { kind: 'user' }, 'x-when-closed': 'refuse' }],
    ['x-captcha needs the caller bff or shopper', { 'x-captcha': true }],
    ['x-module needs a caller of a tenant', { 'x-module': 'disbursement' }],
    ['x-idempotency needs a caller of a tenant', { method: 'post', 'x-idempotency': 'optional', 'x-transaction': 'write' }],
    ['x-idempotency stands on a GET', { 'x-caller': { kind: 'user' }, 'x-idempotency': 'optional', 'x-transaction': 'write' }],
    ['x-idempotency needs a transaction', { method: 'post', 'x-caller': { kind: 'user' }, 'x-idempotency': 'optional', 'x-transaction': 'query' }],
    ['x-idempotency cannot tell', { method: 'post', 'x-caller': { kind: 'user' }, 'x-idempotency': 'optional', 'x-transaction': 'write', 'x-body': 'raw' }],
    ['x-transaction two-step stands on a GET', { 'x-transaction': 'two-step' }],
    ['x-cors open stands on an operation that takes a credential', { 'x-caller': { kind: 'user' }, 'x-cors': 'open' }],
    ['x-rate-limit caller needs a caller with a credential', { 'x-rate-limit': 'caller' }],
    ['x-rate-limit client needs client_id in the body', { 'x-rate-limit': 'client', ...withBody({ type: 'object' }) }],
    ['x-max-body needs a body', { 'x-max-body': 100 }],
    ['a GET takes no body', { 'x-body': 'raw' }],
  ]
  test.each(places)('%s', async (why, operation) => {
    expect(await refusal(operation)).toContain(`thing: ${why}`)
  })
})

describe('a caller', () => {
  const callers: [why: string, caller: unknown][] = [
    ['declares no caller', undefined],
    ['x-caller: customer is no kind of caller', { kind: 'customer' }],
    ['x-caller: undefined is no kind of caller', { scope: ['payments.refund.read'] }],
    ['x-caller: a merchant needs a scope', { kind: 'merchant' }],
    ['x-caller: a merchant needs a scope', { kind: 'merchant', scope: [] }],
    ['x-caller: payments.everything is no registered scope', { kind: 'merchant', scope: ['payments.everything'] }],
    ['x-caller: payments.webhook.read is no registered scope', { kind: 'merchant', scope: ['payments.webhook.read'] }],
    ['x-caller: a console needs a permission', { kind: 'console' }],
    ['x-caller: payments.everything is no permission that a tenant can have', { kind: 'tenant', permission: 'payments.everything' }],
    ['x-caller: payments.webhook.read is no permission that a service can have', { kind: 'service', permission: 'payments.webhook.read' }],
    ['x-caller: identity.check is no permission that a admin can have', { kind: 'admin', permission: 'identity.check' }],
    ['x-caller: a user takes no permission', { kind: 'user', permission: 'payments.webhook.read' }],
    ['x-caller: a seller takes no scope', { kind: 'seller', permission: 'marketplace.order.read', scope: ['payments.refund.read'] }],
  ]
  test.each(callers)('%s', async (why, caller) => {
    const operation = caller === undefined ? { id: 'thing' } : { id: 'thing', 'x-caller': caller, responses: { 200: { description: 'done' } } }
    expect(await refusalOf(syntheticDocument([operation]))).toContain(`thing: ${why}`)
  })

  test('a kind that the service cannot verify', async () => {
    const build = (caller: object, ...having: Guard[]) => buildPipeline({
      document: 'synthetic', bundle: syntheticDocument([{ id: 'thing', 'x-caller': caller }]), handlers: { thing: (async () => undefined) as never },
      guards: guards.map((guard) => having.find(({ name }) => name === guard.name) ?? guard), app: {}, database: {} as never, runtime: {} as never,
      checkResponses: true, httpsOnly: false, trustedProxies: [], observe: () => undefined, report: () => undefined,
    })
    const nothing = authenticate({ environment: 'sandbox' })
    const tokens = authenticate({ environment: 'sandbox', tokens: {} as never })
    await expect(build({ kind: 'merchant', scope: ['payments.refund.read'] }, nothing)).rejects.toThrow('thing: this service cannot verify access tokens and API keys')
    await expect(build({ kind: 'credential' }, tokens)).rejects.toThrow('cannot verify API keys')
    await expect(build({ kind: 'bff' }, tokens)).rejects.toThrow('cannot verify the subjects of the storefront backend')
    await expect(build({ kind: 'shopper' }, tokens)).rejects.toThrow('and shopper sessions')
    await expect(build({ kind: 'provider' }, tokens)).rejects.toThrow('cannot verify provider signatures')
    await expect(build({ kind: 'signed-link' }, tokens)).rejects.toThrow('cannot verify signed links')
    await expect(build({ kind: 'bff' }, host(undefined), authenticate({ environment: 'sandbox', tokens: {} as never, bffSubjects: [] })))
      .rejects.toThrow('thing: this service knows no storefronts')
  })

  test('a module in a service that knows none', async () => {
    expect(() => module(undefined).compile({ id: 'thing', rules: new Map([['x-module', 'x']]) } as never, {} as never)).toThrow('thing: this service knows no modules')
  })
})

describe('guards', () => {
  test('out of the written order', async () => {
    const [first, ...rest] = guards as [Guard, ...Guard[]]
    expect(await refusal({}, [...rest, first])).toContain('the guard host stands after one that it must precede')
  })

  test('twice, and one that is not known', async () => {
    expect(await refusal({}, [...guards, guards.at(-1) as Guard])).toContain('the guard captcha stands after one')
    expect(await refusal({}, [...guards, { name: 'later', enforces: [], compile: () => null }])).toContain('the guard later has no place in the written order')
  })
})

describe('operations and handlers', () => {
  test('without operationId', async () => {
    const document = syntheticDocument([{ id: 'thing', 'x-caller': { kind: 'public' } }]) as { paths: Record<string, { get: { operationId?: string } }> }
    delete document.paths['/thing']?.get.operationId
    expect(await refusalOf(document)).toContain('get /thing: has no operationId')
  })

  test('an operationId twice', async () => {
    const same = { id: 'thing', 'x-caller': { kind: 'public' } }
    expect(await refusalOf(syntheticDocument([{ ...same, path: '/a' }, { ...same, path: '/b' }]))).toContain('thing: stands twice in the document')
  })

  test('an operation without a handler, and a handler without an operation', async () => {
    const one = { id: 'thing', 'x-caller': { kind: 'public' } }
    await expect(startSynthetic({ operations: [one], handlers: { thing: undefined as never } })).rejects.toThrow('thing: has no handler')
    await expect(startSynthetic({ operations: [one], handlers: { thyng: (async () => undefined) as never } })).rejects.toThrow('thyng: a handler without an operation')
  })

  test('idempotency without a place for its keys', async () => {
    const operation = { id: 'thing', method: 'post', 'x-caller': { kind: 'user' }, 'x-idempotency': 'optional', 'x-transaction': 'write' } as const
    const build = buildPipeline({
      document: 'synthetic', bundle: syntheticDocument([operation]), handlers: { thing: (async () => undefined) as never }, guards, app: {},
      database: {} as never, runtime: { now: () => new Date(), randomBytes, fetch, sleep: async () => undefined },
      checkResponses: true, httpsOnly: false, trustedProxies: [], observe: () => undefined, report: () => undefined,
    })
    await expect(build).rejects.toThrow('thing: the service keeps no idempotency keys, so nothing enforces x-idempotency')
  })
})

describe('paths', () => {
  const two = (first: string, second: string) => refusalOf(syntheticDocument([first, second].map((path, index) => ({
    id: `thing${index}`, path, 'x-caller': { kind: 'public' },
    parameters: [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
  }))))

  test.each([['/a/{x}', '/a/{y}'], ['/{x}/a', '/{y}/a'], ['/{x}/{y}', '/{z}/{w}'], ['/a/{x}.json', '/a/{y}']])('%s and %s are ambiguous', async (first, second) => {
    expect(await two(first, second)).toContain(`/v1${first} and /v1${second} match the same requests`)
  })

  test.each([['/a/{x}', '/a/b'], ['/a/{x}/c', '/a/{y}/d'], ['/{x}/a', '/b/{y}'], ['/a/{x}', '/a/{x}/b']])('%s and %s are not', async (first, second) => {
    expect(await two(first, second)).toBe('')
  })
})

describe('parameters, bodies and responses', () => {
  const faults: [why: string, operation: Partial<SyntheticOperation>][] = [
    ['a schema of its request does not compile', withQuery({ type: 'strin' })],
    ['a schema of its request does not compile', withBody({ type: 'object', properties: { a: { type: 'string', pattern: '(' } } })],
    ['body.a: nothing checks the format rupiah', withBody({ type: 'object', properties: { a: { type: 'string', format: 'rupiah' } } })],
    ['body.a: nothing enforces x-max', withBody({ type: 'object', properties: { a: { type: 'string', 'x-max': 1 } } })],
    ['body.a: x-clamp is for query parameters', withBody({ type: 'object', properties: { a: { type: 'integer', 'x-clamp': [1, 2] } } })],
    ['q: x-clamp does not fit this schema', withQuery({ type: 'string', 'x-clamp': [1, 2] })],
    ['q: x-clamp does not fit this schema', withQuery({ type: 'integer', minimum: 1, 'x-clamp': [1, 2] })],
    ['body.a: x-max-bytes does not fit this schema', withBody({ type: 'object', properties: { a: { type: 'string', 'x-max-bytes': 9 } } })],
    ['q: x-error names not_a_code, which no response declares', withQuery({ type: 'string', 'x-error': 'not_a_code' })],
    ['x-error names invalid_auth_code, which no response declares', { ...withBody({ type: 'object', 'x-error': { required: 'invalid_auth_code' } }), responses: { 200: { description: 'done' } } }],
    ['a cookie parameter is not supported', { parameters: [{ name: 'c', in: 'cookie', schema: { type: 'string' } }] }],
    ['the path parameter id is not declared', { path: '/things/{id}' }],
    ['the path parameter id is not in the path', { parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }] }],
    ['nothing reads a body of application/xml', withBody({ type: 'object' }, 'application/xml')],
    ['declares no success', { responses: { 404: errorResponse('not_found') } }],
    ['declares a response whose status is no number', { responses: { 200: { description: 'done' }, default: { description: 'else' } } }],
    ['declares 404 without its error codes', { responses: { 200: { description: 'done' }, 404: { description: 'not there' } } }],
    ['the error code nowhere is not in the catalogue', { responses: { 200: { description: 'done' }, 404: errorResponse('nowhere') } }],
    ['the error code forbidden belongs to 403, not 404', { responses: { 200: { description: 'done' }, 404: errorResponse('forbidden') } }],
    ['x-errors names invalid_state, which no response declares', { 'x-errors': ['invalid_state'], responses: { 200: { description: 'done' } } }],
  ]
  test.each(faults)('%s', async (why, operation) => {
    expect(await refusal(operation)).toContain(why)
  })
})

test('without x-transaction a GET asks without a transaction and everything else writes in one', async () => {
  const document = syntheticDocument(['get', 'post', 'put', 'patch', 'delete'].map((method) => ({ id: method, method, path: '/thing', 'x-caller': { kind: 'public' }, 'x-transaction': undefined })))
  const { operations } = await compileContract('synthetic', document, guards)
  expect(operations.map(({ id, transaction }) => `${id} ${transaction}`).sort()).toEqual(['delete write', 'get query', 'patch write', 'post write', 'put write'])
})

function errorResponse(code: string): object {
  return { description: code, content: { 'application/json': { schema: { type: 'object', properties: { error: { type: 'string', enum: [code] } } } } } }
}
