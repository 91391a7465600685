import { describe, expect, test } from 'vitest'
import { startPayments } from '../../../contract-tests/harness/payments.ts'
import { isWellFormedApiKey } from '../../../domain/apiKeys.ts'
import { defaultScopes } from '../../../generated/roles.ts'

const { call, clock, database, given } = await startPayments()
const merchant = await given.merchant()
const owner = await given.token(merchant, 'merchant_owner', `merchant:${merchant.id}`)

describe('201', () => {
  test('the key works at once, and only its digest is stored', async () => {
    const answer = await call('createApiKey', { as: owner, body: { name: 'Checkout' } })
    if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
    const { key, id, prefix } = answer.body
    expect(isWellFormedApiKey(key)).toBe(true)
    expect(answer.body).toMatchObject({ name: 'Checkout', merchant_id: merchant.id, prefix: key.slice(0, 12), scopes: [...defaultScopes], expires_at: null, revoked_at: null })
    expect((await call('createPaymentIntent', { as: key, body: { amount_idr: 1000, allowed_channels: ['qris', 'va_bank_b'] } })).status).toBe(201)
    const [row] = await database.query((sql) => sql<{ stored: string }[]>`select row_to_json(k)::text as stored from payments.api_keys k where id = ${id}`)
    expect(row?.stored).not.toContain(key.slice(prefix.length))
  })

  test('a key with a scope list and an end does no more, and no longer', async () => {
    const expires_at = new Date(clock.now().getTime() + 60_000).toISOString()
    const answer = await call('createApiKey', { as: owner, body: { name: 'Reader', scopes: ['payments.payment_intent.read'], expires_at } })
    if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
    const { key } = answer.body
    expect(await call('createPaymentIntent', { as: key, body: { amount_idr: 1000, allowed_channels: ['qris'] } })).toMatchObject({ status: 403, body: { error: 'insufficient_scope' } })
    expect((await call('getMe', { as: key })).status).toBe(200)
    clock.advance(60_001)
    expect((await call('getMe', { as: key })).status).toBe(401)
  })

  test('the audit log names who did it and what changed, and no value', async () => {
    const answer = await call('createApiKey', { as: await given.token(merchant, 'tenant_admin', '*'), body: { merchant_id: merchant.id, name: 'Nama Rahasia' } })
    if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
    const [row] = await database.query((sql) => sql`select * from payments.audit_events where target = ${`api_key:${answer.body.id}`}`)
    expect(row).toMatchObject({ action: 'payments.api_key.created', changed_keys: ['name', 'scopes', 'expires_at'], actor: expect.stringMatching(/^user:/) as unknown })
    expect(JSON.stringify(row)).not.toContain('Rahasia')
  })
})

test('400: an unknown scope and an end in the past are named', async () => {
  expect(await call('createApiKey', { as: owner, body: { name: 'a', scopes: ['payments.everything.do'] } }))
    .toMatchObject({ status: 400, body: { fields: { scopes: 'unknown: payments.everything.do' } } })
  expect(await call('createApiKey', { as: owner, body: { name: 'a', expires_at: clock.now().toISOString() } }))
    .toMatchObject({ status: 400, body: { fields: { expires_at: 'must be in the future' } } })
})

test('403: nobody grants a scope that they do not hold', async () => {
  const both = await given.token(merchant, 'merchant_support', `merchant:${merchant.id}`)
  expect(await call('createApiKey', { as: both, body: { name: 'a' } })).toMatchObject({ status: 403, body: { error: 'forbidden' } })
})

test('404: a merchant out of reach', async () => {
  const other = await given.merchant({ tenantId: merchant.tenantId })
  expect(await call('createApiKey', { as: owner, body: { name: 'a', merchant_id: other.id } })).toMatchObject({ status: 404, body: { error: 'not_found' } })
})
