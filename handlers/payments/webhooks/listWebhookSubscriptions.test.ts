import { expect, test } from 'vitest'
import { startPayments } from '../../../contract-tests/harness/payments.ts'

const bench = await startPayments()
const { call, clock, given } = bench
const merchant = await given.merchant()
const sibling = await given.merchant({ tenantId: merchant.tenantId })
const stranger = await given.merchant()
const owner = await given.token(merchant, 'merchant_owner', `merchant:${merchant.id}`)
const admin = await given.token(merchant, 'tenant_admin', '*')

const create = async (at: typeof merchant, url: string, description: string | null = null) => {
  clock.advance(1000)
  const answer = await call('createWebhookSubscription', {
    as: await given.token(at, 'merchant_owner', `merchant:${at.id}`), body: { url, events: ['payment.completed'], description },
  })
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
  return answer.body.id
}
const first = await create(merchant, 'https://a.example/one', '100% Kopi_Susu')
const second = await create(merchant, 'https://b.example/two')
const third = await create(merchant, 'https://c.example/three')
const ofSibling = await create(sibling, 'https://s.example/')
await create(stranger, 'https://x.example/')

const list = async (as: string, query: Record<string, string> = {}) => {
  const answer = await call('listWebhookSubscriptions', { as, query })
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
  return { ids: answer.body.webhooks.map(({ id }) => id), total: answer.body.total, page: answer.body.page, limit: answer.body.limit, pages: answer.body.total_pages, body: answer.body }
}

test('200: newest first, within reach only, without secrets', async () => {
  const own = await list(owner)
  expect(own).toMatchObject({ ids: [third, second, first], total: 3, page: 1, limit: 20, pages: 1 })
  expect(JSON.stringify(own.body)).not.toMatch(/"secret"|whsec_/)
  expect((await list(admin)).ids).toEqual([ofSibling, third, second, first])
  expect((await list(admin, { merchant_id: sibling.id })).ids).toEqual([ofSibling])
})

test('200: pages, clamped limits, and a page past the end', async () => {
  expect(await list(owner, { limit: '2' })).toMatchObject({ ids: [third, second], total: 3, pages: 2 })
  expect(await list(owner, { limit: '2', page: '2' })).toMatchObject({ ids: [first], page: 2 })
  expect(await list(owner, { page: '9' })).toMatchObject({ ids: [], total: 3, page: 9 })
  expect(await list(owner, { limit: '1000', page: '-4' })).toMatchObject({ limit: 100, page: 1 })
})

test('200: search looks at url and description, whatever the case, and takes % and _ literally', async () => {
  expect((await list(owner, { search: 'B.EXAMPLE' })).ids).toEqual([second])
  expect((await list(owner, { search: 'kopi_' })).ids).toEqual([first])
  expect((await list(owner, { search: '100%' })).ids).toEqual([first])
  expect((await list(owner, { search: '%' })).ids).toEqual([first])
  expect((await list(owner, { search: 'a_example' })).ids).toEqual([])
})

test('200: what is deleted is not listed', async () => {
  const gone = await create(merchant, 'https://gone.example/')
  await call('deleteWebhookSubscription', { as: owner, params: { id: gone } })
  expect((await list(owner)).ids).not.toContain(gone)
})

test('400 validation_failed: too deep a page, a page that is no number', async () => {
  expect(await call('listWebhookSubscriptions', { as: owner, query: { page: '10001', limit: '100' } })).toMatchObject({ status: 400, body: { fields: { page: expect.any(String) as string } } })
  expect((await call('listWebhookSubscriptions', { as: owner, query: { page: 'x' } })).status).toBe(400)
})

test('404 not_found: the merchant named is not within reach', async () => {
  expect(await call('listWebhookSubscriptions', { as: owner, query: { merchant_id: sibling.id } })).toMatchObject({ status: 404, body: { error: 'not_found' } })
  expect((await call('listWebhookSubscriptions', { as: admin, query: { merchant_id: stranger.id } })).status).toBe(404)
})
