import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { intentActs } from '../../../contract-tests/harness/intentActs.ts'
import { startPayments } from '../../../contract-tests/harness/payments.ts'
import type { components } from '../../../generated/payments.ts'

const bench = await startPayments()
const { call, clock, given, send, settled, simulator } = bench

/** A merchant of its own for each test, so that a list holds what the test has made. */
const shop = async () => {
  const merchant = await given.merchant()
  const as = await given.apiKey(merchant)
  const list = async (query: Record<string, string> = {}) => {
    const answer = await call('listPaymentIntents', { as, query })
    if (answer.status !== 200) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`)
    return answer.body
  }
  const ids = async (query: Record<string, string> = {}) => (await list(query)).intents.map(({ id }) => id)
  return { merchant, as, list, ids, ...intentActs(bench, as) }
}
const qris: components['schemas']['PaymentIntentCreate'] = { amount_idr: 150_000, allowed_channels: ['qris'] }
const cash: components['schemas']['PaymentIntentCreate'] = { amount_idr: 150_000, channel: 'cash' }

describe('200', () => {
  test('newest first, each as getPaymentIntent answers it', async () => {
    const { created, list, read } = await shop()
    const first = await created(qris)
    clock.advance(1)
    const second = await created({ ...qris, allowed_channels: ['va_bank_a'] })
    const { intents, ...envelope } = await list()
    expect(intents).toEqual([await read(second.id), await read(first.id)])
    expect(envelope).toEqual({ total: 2, page: 1, limit: 20, total_pages: 1 })
  })

  test('pages hold each intent once, also those of one instant', async () => {
    const { created, ids, list } = await shop()
    for (let count = 0; count < 5; count += 1) await created(cash)
    const pages = [await ids({ limit: '2' }), await ids({ limit: '2', page: '2' }), await ids({ limit: '2', page: '3' })]
    expect(pages.map(({ length }) => length)).toEqual([2, 2, 1])
    expect(new Set(pages.flat()).size).toBe(5)
    expect(pages.flat()).toEqual([...pages.flat()].sort().reverse())
    expect(await list({ limit: '2', page: '4' })).toEqual({ intents: [], total: 5, page: 4, limit: 2, total_pages: 3 })
  })

  test.each([
    [{ page: '0', limit: '0' }, { page: 1, limit: 1 }], [{ page: '-7', limit: '-1' }, { page: 1, limit: 1 }], [{ limit: '1000' }, { page: 1, limit: 100 }],
  ])('%j is moved into range and echoed', async (query, echoed) => {
    expect(await (await shop()).list(query)).toMatchObject(echoed)
  })

  test('status: what it reads, before any sweep', async () => {
    const { as, charged, created, ids } = await shop()
    const open = await created(cash)
    const cancelled = await created(cash)
    await call('cancelPaymentIntent', { as, params: { id: cancelled.id } })
    const paid = await charged(qris)
    await settled(simulator.pay(paid.reference))
    clock.advance(1)
    const over = await created({ ...qris, expires_in_seconds: 60 })
    expect(await ids({ status: 'open' })).toEqual([over.id, open.id])
    clock.advance(60_000)
    expect(await ids({ status: 'open' })).toEqual([open.id])
    expect(await ids({ status: 'expired' })).toEqual([over.id])
    expect(await ids({ status: 'cancelled' })).toEqual([cancelled.id])
    expect(await ids({ status: 'paid' })).toEqual([paid.id])
    expect(await ids({ status: 'unheard_of' })).toEqual([])
  })

  test('channel: the one of a point of sale, and any that is allowed', async () => {
    const { created, ids } = await shop()
    const several = await created({ ...qris, allowed_channels: ['qris', 'va_bank_a'] })
    const till = await created(cash)
    expect(await ids({ channel: 'va_bank_a' })).toEqual([several.id])
    expect(await ids({ channel: 'cash' })).toEqual([till.id])
    expect(await ids({ channel: 'card_3ds' })).toEqual([])
  })

  test('created_from and paid_from include their instant, created_to and paid_to do not', async () => {
    const { charged, ids } = await shop()
    const at = clock.now().toISOString()
    const { id, reference } = await charged(qris)
    clock.advance(1000)
    const paidAt = clock.now().toISOString()
    await settled(simulator.pay(reference))
    clock.advance(1000)
    const later = clock.now().toISOString()
    for (const query of [{ created_from: at }, { created_to: paidAt }, { paid_from: paidAt }, { paid_to: later }, { created_from: at, created_to: paidAt, paid_from: paidAt, paid_to: later }]) {
      expect(await ids(query), JSON.stringify(query)).toEqual([id])
    }
    for (const query of [{ created_from: paidAt }, { created_to: at }, { paid_from: later }, { paid_to: paidAt }]) {
      expect(await ids(query), JSON.stringify(query)).toEqual([])
    }
  })

  test('reference_id: exactly that one', async () => {
    const { created, ids } = await shop()
    const { id } = await created({ ...cash, reference_id: 'order-1042' })
    await created({ ...cash, reference_id: 'order-10421' })
    expect(await ids({ reference_id: 'order-1042' })).toEqual([id])
    expect(await ids({ reference_id: 'ORDER-1042' })).toEqual([])
  })

  test('metadata[key]: of several entries, all', async () => {
    const { created, ids } = await shop()
    const { id } = await created({ ...cash, metadata: { order: '1', 'a.b[c]': 'x y', note: 'emoji 🛒' } })
    clock.advance(1)
    const other = await created({ ...cash, metadata: { order: '1' } })
    expect(await ids({ 'metadata[order]': '1' })).toEqual([other.id, id])
    expect(await ids({ 'metadata[order]': '1', 'metadata[note]': 'emoji 🛒' })).toEqual([id])
    expect(await ids({ 'metadata[a.b[c]]': 'x y' })).toEqual([id])
    expect(await ids({ 'metadata[order]': '2' })).toEqual([])
    expect(await ids({ 'metadata[__proto__]': '1' })).toEqual([])
  })

  test('search: any part of shortcode, reference, description and customer, in any case', async () => {
    const { created, ids } = await shop()
    const intent = await created({
      ...cash, reference_id: 'Order-1042', description: 'Kopi susu', customer: { name: 'Pelanggan Contoh', email: 'pelanggan@shop.example', phone: '+628120000001' },
    })
    await created(cash)
    for (const search of [intent.shortcode.slice(2, 9).toUpperCase(), 'oRDER-10', 'KOPI', 'contoh', '@SHOP', '8120000001']) expect(await ids({ search }), search).toEqual([intent.id])
  })

  test('search takes %, _ and the backslash literally', async () => {
    const { created, ids } = await shop()
    const percent = await created({ ...cash, description: 'diskon 50% hari ini' })
    const score = await created({ ...cash, description: 'kode a_b' })
    const slash = await created({ ...cash, description: 'c:\\temp' })
    await created({ ...cash, description: 'diskon 50 ribu, kode axb' })
    expect(await ids({ search: '50%' })).toEqual([percent.id])
    expect(await ids({ search: 'a_b' })).toEqual([score.id])
    expect(await ids({ search: '\\t' })).toEqual([slash.id])
    expect(await ids({ search: '%' })).toEqual([percent.id])
  })

  test('search matches within a member and never across two, whatever the text has', async () => {
    const { created, ids } = await shop()
    const { id } = await created({ ...cash, reference_id: 'order-1', description: 'order-2\u001ftwo' })
    for (const search of ['order-2\u001ftwo', '\u001f', 'order-1', '-2']) expect(await ids({ search }), search).toEqual([id])
    for (const search of ['order-1\u001forder-2', '1\u001fo', 'order-1order-2']) expect(await ids({ search }), search).toEqual([])
  })

  test('search of one or two characters, and of any script', async () => {
    const { created, ids } = await shop()
    const { id } = await created({ ...cash, reference_id: 'Öß-7', description: '肉まん ☕' })
    await created({ ...cash, reference_id: 'Ox-8' })
    for (const search of ['ö', 'Ö', '-7', 'ß', '肉', '肉まん', '☕', 'öß-7']) expect(await ids({ search }), search).toEqual([id])
  })

  test('a filter that matches more than a page: each page, the exact total, and nothing past the end', async () => {
    const { created, ids, list } = await shop()
    for (let count = 0; count < 5; count += 1) {
      await created({ ...cash, description: 'Kopi' })
      await created({ ...cash, description: 'Teh' })
    }
    for (const query of [{ search: 'kopi' }, { search: 'ko' }, { search: 'kopi', channel: 'cash', status: 'open' }]) {
      const pages = [await ids({ ...query, limit: '2' }), await ids({ ...query, limit: '2', page: '2' }), await ids({ ...query, limit: '2', page: '3' })]
      expect(pages.map(({ length }) => length)).toEqual([2, 2, 1])
      expect(pages.flat()).toEqual(await ids(query))
      expect(await list({ ...query, limit: '2', page: '4' })).toEqual({ intents: [], total: 5, page: 4, limit: 2, total_pages: 3 })
    }
  })

  test('what several merchants have is in one order, page by page', async () => {
    const first = await given.merchant()
    const second = await given.merchant({ tenantId: first.tenantId })
    const third = await given.merchant({ tenantId: first.tenantId })
    const made: string[] = []
    for (const merchant of [first, second, third, first, second, third]) {
      clock.advance(1)
      const { id } = await intentActs(bench, await given.apiKey(merchant)).created({ ...cash, description: 'Kopi' })
      if (merchant !== third) made.unshift(id)
    }
    const as = await given.token(first, '', '', { bindings: [first, second].map(({ id }) => ({ role: 'merchant_owner', scope: `merchant:${id}` })) })
    const page = async (query: Record<string, string>) => {
      const { body, status } = await call('listPaymentIntents', { as, query: { limit: '3', ...query } })
      return status === 200 ? { ids: body.intents.map(({ id }) => id), total: body.total } : status
    }
    for (const query of [{}, { search: 'kopi' }, { channel: 'cash' }]) {
      expect(await page(query)).toEqual({ ids: made.slice(0, 3), total: 4 })
      expect(await page({ ...query, page: '2' })).toEqual({ ids: made.slice(3), total: 4 })
    }
  })

  test('a console user sees every merchant of its reach, or the one it names', async () => {
    const first = await given.merchant()
    const second = await given.merchant({ tenantId: first.tenantId })
    const one = await intentActs(bench, await given.apiKey(first)).created(cash)
    const two = await intentActs(bench, await given.apiKey(second)).created(cash)
    const as = await given.token(first, 'tenant_admin', '*')
    const idsOf = async (query: Record<string, string>) => {
      const { body, status } = await call('listPaymentIntents', { as, query })
      return status === 200 ? body.intents.map(({ id }) => id).sort() : status
    }
    expect(await idsOf({})).toEqual([one.id, two.id].sort())
    expect(await idsOf({ merchant_id: second.id })).toEqual([two.id])
  })

  test('an intent that is being created, or was refused, is absent', async () => {
    const { as, ids } = await shop()
    await call('createPaymentIntent', { as, body: { ...qris, amount_idr: 111_001 } })
    expect(await ids()).toEqual([])
  })
})

describe('400 validation_failed', () => {
  test.each([
    ['page', { page: 'one' }], ['limit', { limit: '1.5' }], ['page', { page: '10001', limit: '100' }], ['created_from', { created_from: 'yesterday' }],
    ['created_to', { created_to: '2026-11-02' }], ['paid_from', { paid_from: '2016-12-31T23:59:60Z' }], ['paid_to', { paid_to: '0000-01-01T00:00:00Z' }],
    ['metadata', { metadata: 'x' }], ['search', { search: '' }], ['merchant_id', { merchant_id: 'x' }], ['sort', { sort: 'id' }],
  ])('%s: %j', async (field, query) => {
    const { as } = await shop()
    const answer = await send('listPaymentIntents', { as, query: query })
    expect(answer).toMatchObject({ status: 400, body: { error: 'validation_failed', fields: { [field]: expect.any(String) as string } } })
  })

  test('a metadata entry that is given twice', async () => {
    const { as } = await shop()
    expect(await send('listPaymentIntents', { as, query: { 'metadata[a]': ['1', '2'] } })).toMatchObject({ status: 400, body: { fields: { 'metadata.a': expect.any(String) as string } } })
  })
})

test('404: a merchant out of reach', async () => {
  const { as } = await shop()
  expect(await call('listPaymentIntents', { as, query: { merchant_id: randomUUID() } })).toMatchObject({ status: 404, body: { error: 'not_found' } })
})
