import { describe, expect, test } from 'vitest'
import { CALLERS, codesOf, rateLimitOf, transactionOf } from './house/codes.ts'
import { catalogue, headers, permissionsOf, roles } from './house/http.ts'
import type { Document, Operation } from './house/openapi.ts'

const document = (service: string): Document =>
  ({ openapi: '3.0.3', info: { title: 'T', version: '1.0.0' }, paths: {}, 'x-service': service })

const operation = (more: Partial<Operation> = {}): Operation =>
  ({ operationId: 'getThing', responses: { 204: { description: 'Done.' } }, 'x-rate-limit': 'none', ...more })

const always = ['internal_error', 'unavailable', 'validation_failed']

/** What an operation gives beyond what every operation gives. */
const codes = (more: Partial<Operation>, service = 'payments'): string[] =>
  codesOf(operation(more), document(service)).filter((code) => !always.includes(code))

const json = { description: 'It.', content: { 'application/json': { schema: { type: 'object' } } } }

describe('the codes of an operation', () => {
  test('every operation can fail, be unavailable and be asked with a query parameter it does not know', () => {
    expect(codesOf(operation(), document('payments'))).toEqual(always)
  })

  test.each<[string, string[]]>([
    ['merchant', ['env_mismatch', 'forbidden', 'insufficient_scope', 'unauthenticated']],
    ['console', ['env_mismatch', 'forbidden', 'unauthenticated']],
    ['tenant', ['env_mismatch', 'forbidden', 'unauthenticated']],
    ['admin', ['env_mismatch', 'forbidden', 'unauthenticated']],
    ['user', ['env_mismatch', 'unauthenticated']],
    ['credential', ['env_mismatch', 'unauthenticated']],
    ['public', []],
    ['signed-link', ['not_found']],
    ['provider', ['not_found', 'unauthenticated']],
    ['bff', ['forbidden', 'not_found', 'unauthenticated']],
    ['shopper', ['feature_disabled', 'forbidden', 'not_found', 'unauthenticated']],
    ['seller', ['env_mismatch', 'forbidden', 'unauthenticated']],
    ['service', ['env_mismatch', 'forbidden', 'unauthenticated']],
  ])('a %s gives %j', (kind, expected) => {
    expect(codes({ 'x-caller': { kind } })).toEqual(expected)
  })

  test('every kind of caller is in the table above', () => {
    expect(Object.keys(CALLERS)).toHaveLength(13)
  })

  test('identity serves both environments: it knows no env_mismatch', () => {
    expect(codes({ 'x-caller': { kind: 'user' } }, 'identity')).toEqual(['unauthenticated'])
  })

  test.each<[Partial<Operation>, string[]]>([
    [{ 'x-environment': 'sandbox' }, ['not_found']],
    [{ 'x-module': 'disbursements' }, ['forbidden']],
    [{ 'x-step-up': true }, ['insufficient_user_authentication']],
    [{ 'x-rate-limit': 'address' }, ['rate_limited']],
    [{ 'x-idempotency': 'optional' }, ['idempotency_key_reused']],
    [{ 'x-feature': 'reviews' }, ['feature_disabled']],
    [{ 'x-when-closed': 'refuse' }, ['storefront_closed']],
    [{ 'x-captcha': true }, ['captcha_required']],
    [{ 'x-errors': ['invalid_state'] }, ['invalid_state']],
    [{ 'x-body': 'ignored' }, ['payload_too_large']],
    [{ 'x-body': 'raw', requestBody: json }, ['payload_too_large']],
    [{ parameters: [{ name: 'id', in: 'path' }] }, ['not_found']],
    [{ parameters: [{ name: 'page', in: 'query' }] }, []],
    [{ parameters: [{ name: 'X-Marketplace-Captcha-Token', in: 'header' }] }, []],
    [{ requestBody: json }, ['invalid_json', 'payload_too_large', 'unsupported_media_type']],
    [
      { requestBody: { content: { 'multipart/form-data': {} } } },
      ['payload_too_large', 'unsupported_media_type'],
    ],
    [{ responses: { 200: { content: { 'application/json': {} } } } }, ['not_acceptable']],
  ])('%j gives %j', (more, expected) => {
    expect(codes(more)).toEqual(expected)
  })

  test('an x-error in a request schema gives its codes, through references and recursion', () => {
    const whole = document('payments')
    const again = { $ref: '#/components/schemas/Part' }
    const part = { type: 'object', 'x-error': { maxProperties: 'metadata_too_large' }, properties: { again } }
    whole.components = { schemas: { Part: part } }
    const schema = { type: 'object', properties: { list: { type: 'array', items: again } } }
    const body = { content: { 'multipart/form-data': { schema } } }
    expect(codesOf(operation({ requestBody: body }), whole)).toContain('metadata_too_large')
    const code = { type: 'string', 'x-error': 'invalid_auth_code' }
    const parameters = [{ name: 'auth_code', in: 'query' as const, schema: code }]
    expect(codes({ parameters })).toEqual(['invalid_auth_code'])
  })

  test('a bucket is chosen by the caller where the operation says nothing', () => {
    const limit = (kind: string): string => {
      const { 'x-rate-limit': _, ...plain } = operation({ 'x-caller': { kind } })
      return rateLimitOf(plain)
    }
    expect(['merchant', 'public', 'signed-link', 'provider', 'bff', 'shopper'].map(limit))
      .toEqual(['caller', 'address', 'address', 'none', 'none', 'none'])
  })

  test('a read has no transaction and a write has one where the operation says nothing', () => {
    expect([transactionOf(operation(), 'get'), transactionOf(operation(), 'post')]).toEqual(['query', 'write'])
    expect(transactionOf(operation({ 'x-transaction': 'two-step' }), 'post')).toBe('two-step')
  })
})

describe('the catalogue', () => {
  test('every code that a rule implies stands in it', () => {
    const implied = new Set(Object.values(CALLERS).flatMap((caller) => caller.codes))
    expect([...implied].filter((code) => !catalogue[code])).toEqual([])
  })

  test('every code has a status, texts, and headers that are described', () => {
    for (const [code, entry] of Object.entries(catalogue)) {
      expect(code).toMatch(/^[a-z]+(_[a-z]+)*$/)
      expect(entry.status).toBeGreaterThanOrEqual(400)
      for (const text of [entry.message, entry.description, entry.remedy]) expect(text).toMatch(/^[A-Z].*\.$/s)
      expect((entry.headers ?? []).filter((name) => !headers[name])).toEqual([])
    }
  })

  test('retired codes do not return', () => {
    expect(['invalid_api_key', 'scope_forbidden', 'invalid_metadata'].filter((code) => catalogue[code])).toEqual([])
  })
})

describe('roles', () => {
  const reached = (role: string): string[] => permissionsOf(roles.roles[role]?.permissions ?? [])

  test('a pattern reaches whole segments, and never what only clients are given', () => {
    expect(permissionsOf(['identity.team.*'])).toEqual(['identity.team.read', 'identity.team.write'])
    expect(reached('merchant_owner')).not.toContain('payments.legal.read')
    expect(reached('merchant_support')).toContain('payments.payment_intent.read')
    const writes = reached('merchant_support').filter((permission) => !permission.endsWith('.read'))
    expect(writes).toEqual(['payments.case.write'])
  })

  test('a pattern that reaches nothing is refused', () => {
    expect(() => permissionsOf(['payments.nothing.*'])).toThrow('payments.nothing.*')
  })

  test('the marketplace permissions are with the roles that the brief gives them', () => {
    const holders = (permission: string): string[] =>
      Object.keys(roles.roles).filter((role) => reached(role).includes(permission)).sort()
    const keepers = ['merchant_owner', 'merchant_pos_manager', 'pos-manager', 'pos-owner', 'tenant_admin']
    expect(holders('marketplace.storefront.read')).toEqual(keepers)
    expect(holders('marketplace.storefront.write')).toEqual(keepers)
    expect(holders('marketplace.order.read')).toEqual(['merchant_owner', 'merchant_support', 'tenant_admin'])
    expect(holders('marketplace.order.write')).toEqual(['merchant_owner', 'tenant_admin'])
  })
})
