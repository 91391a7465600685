import { describe, expect, test } from 'vitest'
import { permissionsOf, placesOf } from './permissions.ts'

const merchant = 'merchant:0192f3c4-7a10-7c3e-9d52-1f6b8a40e001'

describe('a role grants its permissions where it is bound', () => {
  test.each([
    ['tenant_admin', 'payments.refund.approve', true], ['tenant_admin', 'identity.team.write', true], ['tenant_admin', 'identity.tenant.write', false],
    ['merchant_owner', 'payments.webhook.write', true], ['merchant_owner', 'identity.team.read', false],
    ['merchant_support', 'payments.case.write', true], ['merchant_support', 'payments.payment_intent.read', true], ['merchant_support', 'payments.refund.create', false],
    ['merchant_support', 'marketplace.order.read', true], ['merchant_support', 'marketplace.order.write', false],
    ['pos-manager', 'payments.cash.confirm', true], ['pos-manager', 'payments.refund.create', false],
    ['reviewer', 'payments.kyc.review', true], ['reviewer', 'payments.payment_intent.read', false],
    ['no_such_role', 'payments.payment_intent.read', false],
  ])('%s, %s: %s', (role, permission, granted) => {
    expect(placesOf([{ role, scope: merchant }], permission)).toEqual(granted ? [merchant] : [])
  })
})

test('the places of several bindings add up', () => {
  expect(placesOf([{ role: 'merchant_owner', scope: merchant }, { role: 'tenant_admin', scope: '*' }], 'payments.refund.create')).toEqual([merchant, '*'])
})

test('the permissions of several bindings are sorted and stand once', () => {
  const permissions = permissionsOf([{ role: 'pos-owner', scope: merchant }, { role: 'pos-manager', scope: merchant }])
  expect(permissions).toEqual([...new Set(permissions)].sort())
  expect(permissions).toContain('payments.cash.confirm')
  expect(permissions).not.toContain('payments.refund.create')
})
