import { expect, test } from 'vitest'
import { startPayments } from '../../../contract-tests/harness/payments.ts'
import { channelCodes } from '../../../domain/channels.ts'

const { call, given } = await startPayments()
const merchant = await given.merchant({ channels: ['qris', 'card_3ds'] })
const as = await given.apiKey(merchant)

test('200: all 18 channels in the order of the table, and which are on', async () => {
  const answer = await call('listPaymentChannels', { as })
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
  expect(answer.body).toMatchObject({ total: 18, page: 1, limit: 20, total_pages: 1 })
  expect(answer.body.channels.map(({ code }) => code)).toEqual([...channelCodes])
  expect(answer.body.channels.filter(({ enabled }) => enabled).map(({ code }) => code)).toEqual(['qris', 'card_3ds'])
  expect(answer.body.channels.find(({ code }) => code === 'qris')).toMatchObject({ ttl_seconds: 1800, multi_use_ttl_seconds: 86_400, settlement: 'T+0', refund: 'manual' })
  expect(answer.body.channels.find(({ code }) => code === 'cash')).toMatchObject({ ttl_seconds: null, multi_use_ttl_seconds: null })
})

test('200: pages', async () => {
  expect(await call('listPaymentChannels', { as, query: { page: '2', limit: '10' } })).toMatchObject({ body: { total: 18, page: 2, limit: 10, total_pages: 2, channels: { length: 8 } } })
})

test('400: a page too deep', async () => {
  expect((await call('listPaymentChannels', { as, query: { page: '1000000', limit: '2' } })).status).toBe(400)
})

test('404: a merchant out of reach', async () => {
  expect((await call('listPaymentChannels', { as, query: { merchant_id: (await given.merchant()).id } })).status).toBe(404)
})
