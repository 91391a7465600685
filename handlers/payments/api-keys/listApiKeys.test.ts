import { expect, test } from 'vitest'
import { startPayments } from '../../../contract-tests/harness/payments.ts'

const { call, clock, given } = await startPayments()
const merchant = await given.merchant()
const owner = await given.token(merchant, 'merchant_owner', `merchant:${merchant.id}`)

test('200: newest first, with prefix and metadata and never the key; pages, search and totals agree', async () => {
  const keys: string[] = []
  for (const name of ['Checkout', 'Refunds 50%', 'Reports']) {
    clock.advance(1000)
    const answer = await call('createApiKey', { as: owner, body: { name } })
    if (answer.status === 201) keys.push(answer.body.key)
  }
  const all = await call('listApiKeys', { as: owner })
  expect(all).toMatchObject({ status: 200, body: { total: 3, page: 1, limit: 20, total_pages: 1, api_keys: [{ name: 'Reports' }, { name: 'Refunds 50%' }, { name: 'Checkout' }] } })
  for (const key of keys) expect(JSON.stringify(all.body)).not.toContain(key)
  expect(await call('listApiKeys', { as: owner, query: { page: '2', limit: '2' } }))
    .toMatchObject({ body: { total: 3, page: 2, limit: 2, total_pages: 2, api_keys: [{ name: 'Checkout' }] } })
  expect(await call('listApiKeys', { as: owner, query: { search: '50%' } })).toMatchObject({ body: { total: 1, api_keys: [{ name: 'Refunds 50%' }] } })
  expect(await call('listApiKeys', { as: owner, query: { search: '%' } })).toMatchObject({ body: { total: 1 } })
  expect(await call('listApiKeys', { as: owner, query: { search: 'CHECK' } })).toMatchObject({ body: { total: 1 } })
})

test('200: shows the merchants within reach, or the one that is named', async () => {
  const sibling = await given.merchant({ tenantId: merchant.tenantId })
  await given.apiKey(sibling)
  const admin = await given.token(merchant, 'tenant_admin', '*')
  expect(await call('listApiKeys', { as: admin })).toMatchObject({ body: { total: 4 } })
  expect(await call('listApiKeys', { as: admin, query: { merchant_id: sibling.id } })).toMatchObject({ body: { total: 1 } })
  expect(await call('listApiKeys', { as: owner })).toMatchObject({ body: { total: 3 } })
})

test('200: the millionth row is the deepest that is looked for; past the end a page is empty', async () => {
  expect(await call('listApiKeys', { as: owner, query: { page: '10000', limit: '100' } }))
    .toMatchObject({ status: 200, body: { api_keys: [], page: 10_000, limit: 100, total: 3 } })
})

test('400: a page too deep names page', async () => {
  expect(await call('listApiKeys', { as: owner, query: { page: '10001', limit: '100' } })).toMatchObject({ status: 400, body: { fields: { page: expect.any(String) as unknown } } })
})

test('404: a merchant out of reach', async () => {
  const stranger = await given.merchant()
  expect(await call('listApiKeys', { as: owner, query: { merchant_id: stranger.id } })).toMatchObject({ status: 404 })
})
