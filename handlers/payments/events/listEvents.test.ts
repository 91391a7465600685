import { expect, test } from 'vitest'
import { startPayments } from '../../../contract-tests/harness/payments.ts'
import { writeEvent } from '../../../jobs/paymentEvents.ts'
import type { EventKind } from '../../../domain/webhookEvents.ts'

const { call, clock, creation, database, given } = await startPayments()
const merchant = await given.merchant()
const sibling = await given.merchant({ tenantId: merchant.tenantId })
const as = await given.apiKey(merchant)
const admin = await given.token(merchant, 'tenant_admin', '*')

const happen = (at: typeof merchant, kind: EventKind, note: string) => {
  clock.advance(1000)
  return database.tx((sql) => writeEvent(sql, { kind, tenantId: at.tenantId, merchantId: at.id, intentId: null, data: { note } }, creation, clock.now()))
}
await happen(merchant, 'payment_intent.created', 'one')
await happen(merchant, 'payment.completed', 'two')
const since = clock.now().toISOString()
await happen(merchant, 'payment.completed', 'three')
await happen(sibling, 'payment.completed', 'sibling')
await happen(await given.merchant(), 'payment.completed', 'stranger')

const list = async (token: string, query: Record<string, string> = {}) => {
  const answer = await call('listEvents', { as: token, query })
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
  const { events, ...envelope } = answer.body
  return { notes: events.map(({ data }) => (data as { note: string }).note), events, ...envelope }
}

test('200: newest first, within reach only, each as it was delivered', async () => {
  const found = await list(as)
  expect(found).toMatchObject({ notes: ['three', 'two', 'one'], total: 3, page: 1, limit: 20, total_pages: 1 })
  expect(found.events[0]).toMatchObject({ event: 'payment.completed', environment: 'sandbox', api_version: 'v1', merchant_id: merchant.id, created_at: new Date(Date.parse(since) + 1000).toISOString() })
  expect((await list(admin)).notes).toEqual(['sibling', 'three', 'two', 'one'])
  expect((await list(admin, { merchant_id: sibling.id })).notes).toEqual(['sibling'])
})

test('200: by kind, and since a time, that time included', async () => {
  expect((await list(as, { kind: 'payment.completed' })).notes).toEqual(['three', 'two'])
  expect(await list(as, { kind: 'settlement.completed' })).toMatchObject({ notes: [], total: 0, total_pages: 0 })
  expect((await list(as, { since })).notes).toEqual(['three', 'two'])
  expect((await list(as, { since: new Date(Date.parse(since) + 1).toISOString() })).notes).toEqual(['three'])
  expect((await list(as, { since: since.replace('Z', '+00:00'), kind: 'payment_intent.created' })).notes).toEqual([])
})

test('200: pages', async () => {
  expect(await list(as, { limit: '2', page: '2' })).toMatchObject({ notes: ['one'], total: 3, page: 2, limit: 2, total_pages: 2 })
  expect(await list(as, { page: '5' })).toMatchObject({ notes: [], total: 3 })
})

test.each([{ since: 'yesterday' }, { page: 'x' }, { page: '20000', limit: '100' }, { unknown: '1' }])('400 validation_failed: %j', async (query) => {
  expect(await call('listEvents', { as, query: query })).toMatchObject({ status: 400, body: { error: 'validation_failed' } })
})

test('403 insufficient_scope: a key without the scope', async () => {
  const key = await given.apiKey(merchant, { scopes: ['payments.refund.create'] })
  expect(await call('listEvents', { as: key })).toMatchObject({ status: 403, body: { error: 'insufficient_scope' } })
})

test('404 not_found: the merchant named is not within reach', async () => {
  expect(await call('listEvents', { as, query: { merchant_id: sibling.id } })).toMatchObject({ status: 404, body: { error: 'not_found' } })
})
