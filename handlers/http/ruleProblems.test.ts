import { describe, expect, test } from 'vitest'
import { guards, refusal, refusalOf, withBody } from '../../contract-tests/harness/startRefusal.ts'
import { syntheticDocument } from '../../contract-tests/harness/syntheticDocument.ts'
import type { SyntheticOperation } from '../../contract-tests/harness/syntheticDocument.ts'

const without = (...names: string[]) => guards.filter(({ name }) => !names.includes(name))

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
    [
      'clientRateLimit',
      { 'x-rate-limit': 'client', ...withBody({ type: 'object', properties: { client_id: { type: 'string' } } }) },
      'x-rate-limit',
    ],
    [
      'replay',
      { method: 'post', 'x-caller': { kind: 'user' }, 'x-idempotency': 'optional', 'x-transaction': 'write' },
      'x-idempotency',
    ],
    ['feature', { 'x-caller': { kind: 'shopper' } }, 'x-feature'],
    ['openShop', { 'x-caller': { kind: 'bff' }, 'x-when-closed': 'refuse' }, 'x-when-closed'],
    ['captcha', { 'x-caller': { kind: 'bff' }, 'x-captcha': true }, 'x-captcha'],
  ]
  test.each(needed)('one whose guard %s is missing from the service', async (name, operation, rule) => {
    expect(await refusal(operation)).toBe('')
    expect(await refusal(operation, without(name))).toContain(
      `thing: nothing enforces ${rule}: the service has no guard ${name}`,
    )
  })

  const values: [rule: string, value: unknown][] = [
    ['x-environment', 'test'],
    ['x-module', ''],
    ['x-step-up', 'true'],
    ['x-step-up', false],
    ['x-rate-limit', 'user'],
    ['x-idempotency', 'required'],
    ['x-feature', true],
    ['x-when-closed', 'hide'],
    ['x-captcha', 'yes'],
    ['x-transaction', 'serializable'],
    ['x-body', 'bytes'],
    ['x-max-body', '1kb'],
    ['x-max-body', 0],
    ['x-cors', '*'],
    ['x-ignored-query', 'host'],
    ['x-errors', 'not_found'],
    ['x-errors', ['not_a_code']],
  ]
  test.each(values)('%s: %j is no value that its guard knows', async (rule, value) => {
    expect(await refusal({ [rule]: value, responses: { 200: { description: 'done' } } })).toContain(
      `thing: ${rule} must be`,
    )
  })

  const places: [why: string, operation: Partial<SyntheticOperation>][] = [
    ['x-step-up needs a caller who can step up', { 'x-caller': { kind: 'credential' }, 'x-step-up': true }],
    ['x-feature needs the caller bff or shopper', { 'x-feature': 'reviews' }],
    ['x-when-closed needs the caller bff or shopper', { 'x-caller': { kind: 'user' }, 'x-when-closed': 'refuse' }],
    ['x-captcha needs the caller bff or shopper', { 'x-captcha': true }],
    ['x-module needs a caller of a tenant', { 'x-module': 'disbursement' }],
    [
      'x-idempotency needs a caller of a tenant',
      { method: 'post', 'x-idempotency': 'optional', 'x-transaction': 'write' },
    ],
    [
      'x-idempotency stands on a GET',
      { 'x-caller': { kind: 'user' }, 'x-idempotency': 'optional', 'x-transaction': 'write' },
    ],
    [
      'x-idempotency needs a transaction',
      { method: 'post', 'x-caller': { kind: 'user' }, 'x-idempotency': 'optional', 'x-transaction': 'query' },
    ],
    [
      'x-idempotency cannot tell',
      {
        method: 'post',
        'x-caller': { kind: 'user' },
        'x-idempotency': 'optional',
        'x-transaction': 'write',
        'x-body': 'raw',
      },
    ],
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
    [
      'x-caller: payments.everything is no permission that a tenant can have',
      { kind: 'tenant', permission: 'payments.everything' },
    ],
    [
      'x-caller: payments.webhook.read is no permission that a service can have',
      { kind: 'service', permission: 'payments.webhook.read' },
    ],
    [
      'x-caller: identity.check is no permission that a admin can have',
      { kind: 'admin', permission: 'identity.check' },
    ],
    ['x-caller: a user takes no permission', { kind: 'user', permission: 'payments.webhook.read' }],
    [
      'x-caller: a seller takes no scope',
      { kind: 'seller', permission: 'marketplace.order.read', scope: ['payments.refund.read'] },
    ],
  ]
  test.each(callers)('%s', async (why, caller) => {
    const operation =
      caller === undefined
        ? { id: 'thing' }
        : { id: 'thing', 'x-caller': caller, responses: { 200: { description: 'done' } } }
    expect(await refusalOf(syntheticDocument([operation]))).toContain(`thing: ${why}`)
  })
})
