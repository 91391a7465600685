import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { intentActs } from '../../../contract-tests/harness/intentActs.ts'
import { startPayments } from '../../../contract-tests/harness/payments.ts'

const bench = await startPayments()
const { call, clock, given, send, settled, simulator } = bench

const shop = async () => {
  const merchant = await given.merchant()
  const as = await given.apiKey(merchant)
  const list = async (query: Record<string, string> = {}) => {
    const answer = await call('listPayments', { as, query })
    if (answer.status !== 200) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  const intents = async (query: Record<string, string> = {}) => (await list(query)).payments.map(({ intent_id }) => intent_id)
  return { merchant, as, list, intents, ...intentActs(bench, as) }
}
const qris = { amount_idr: 150_000, allowed_channels: ['qris'] }

describe('listPayments', () => {
  test('200: attempts of every state, newest first', async () => {
    const { charged, created, intents, list } = await shop()
    const over = await created({ ...qris, expires_in_seconds: 60 })
    clock.advance(30_000)
    const paid = await charged(qris)
    await settled(simulator.pay(paid.reference))
    clock.advance(1)
    const failed = await charged({ amount_idr: 150_000, allowed_channels: ['card_3ds'] })
    await settled(simulator.move(failed.reference, 'decline'))
    clock.advance(1)
    const reversed = await charged({ amount_idr: 150_000, allowed_channels: ['va_bank_a'] })
    await settled(simulator.pay(reversed.reference))
    await settled(simulator.move(reversed.reference, 'reverse'))
    clock.advance(30_000)
    const pending = await created(qris)
    await created({ ...qris, allowed_channels: ['qris', 'va_bank_a'] })
    expect(await intents()).toEqual([pending.id, reversed.id, failed.id, paid.id, over.id])
    expect(await list()).toMatchObject({ total: 5, page: 1, limit: 20, total_pages: 1 })
    for (const [status, { id }] of Object.entries({ pending, succeeded: paid, failed, expired: over, reversed })) {
      expect(await list({ status }), status).toMatchObject({ payments: [{ intent_id: id, status }], total: 1 })
    }
  })

  test('200: each filter narrows, and all of them together', async () => {
    const { charged, created, intents } = await shop()
    const from = clock.now().toISOString()
    const { id, reference } = await charged({ ...qris, reference_id: 'order-1', metadata: { shop: 'a' }, description: 'Kopi' })
    clock.advance(1000)
    const paidAt = clock.now().toISOString()
    await settled(simulator.pay(reference))
    clock.advance(1000)
    const to = clock.now().toISOString()
    await created({ amount_idr: 150_000, channel: 'cash', reference_id: 'order-2', metadata: { shop: 'b' } })
    const filters = {
      status: 'succeeded', channel: 'qris', created_from: from, created_to: paidAt, paid_from: paidAt, paid_to: to, reference_id: 'order-1', 'metadata[shop]': 'a', search: 'KOPI',
    }
    for (const [name, value] of Object.entries(filters)) {
      const found = await intents({ [name]: value })
      expect(found.includes(id), name).toBe(true)
      if (name !== 'created_from') expect(found, name).toEqual([id])
    }
    expect(await intents(filters)).toEqual([id])
    expect(await intents({ created_from: to, channel: 'qris' })).toEqual([])
  })

  test('200: search finds the provider\'s reference, and takes % and _ literally', async () => {
    const { charged, intents } = await shop()
    const { id, reference } = await charged(qris)
    expect(await intents({ search: reference.toLowerCase() })).toEqual([id])
    for (const search of ['%', '_', `${reference.slice(0, -1)}_`]) expect(await intents({ search }), search).toEqual([])
  })

  test('200: search matches within a member and never across two', async () => {
    const { charged, intents } = await shop()
    const { id, reference } = await charged({ ...qris, description: 'a\u001fb' })
    for (const search of ['a\u001fb', 'A', reference.slice(-3)]) expect(await intents({ search }), search).toEqual([id])
    expect(await intents({ search: `\u001f${reference}` })).toEqual([])
  })

  test('200: search and filters of the attempt and of its intent together', async () => {
    const { charged, intents, list } = await shop()
    const paid = await charged({ ...qris, reference_id: 'order-1', metadata: { shop: 'a' }, description: 'Kopi' })
    await settled(simulator.pay(paid.reference))
    clock.advance(1)
    const open = await charged({ ...qris, reference_id: 'order-2', metadata: { shop: 'a' }, description: 'Kopi' })
    for (const query of [{ search: 'kopi', status: 'succeeded' }, { search: 'kopi', status: 'succeeded', 'metadata[shop]': 'a' }, { status: 'succeeded', 'metadata[shop]': 'a' }, { search: 'order-1' }]) {
      expect(await intents(query), JSON.stringify(query)).toEqual([paid.id])
    }
    expect(await intents({ search: 'kopi', 'metadata[shop]': 'a' })).toEqual([open.id, paid.id])
    expect(await list({ search: 'kopi', 'metadata[shop]': 'a', limit: '1', page: '3' })).toMatchObject({ payments: [], total: 2 })
  })

  test('200: limit and page are moved into range; a page past the end is empty', async () => {
    const { created, list } = await shop()
    await created(qris)
    expect(await list({ limit: '500', page: '0' })).toMatchObject({ limit: 100, page: 1, total: 1 })
    expect(await list({ page: '9' })).toMatchObject({ payments: [], total: 1, page: 9 })
  })

  test('400: a time that is none', async () => {
    const { as } = await shop()
    expect(await send('listPayments', { as, query: { paid_from: 'now' } })).toMatchObject({ status: 400, body: { error: 'validation_failed', fields: { paid_from: expect.any(String) as string } } })
  })

  test('404: a merchant out of reach', async () => {
    const { as } = await shop()
    expect(await call('listPayments', { as, query: { merchant_id: randomUUID() } })).toMatchObject({ status: 404, body: { error: 'not_found' } })
  })
})
