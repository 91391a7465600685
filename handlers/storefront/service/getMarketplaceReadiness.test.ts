import { beforeEach, expect, test } from 'vitest'
import type { StorefrontBench } from '../storefrontBench.ts'
import { startStorefront } from '../storefrontBench.ts'

let bench: StorefrontBench
beforeEach(async () => {
  bench = await startStorefront()
})

test('a service with a database that takes writes is ready', async () => {
  expect(await bench.call('getMarketplaceReadiness')).toMatchObject({ status: 200, body: { status: 'ready' } })
})

test('without its database it is not, and says when to ask again', async () => {
  await bench.database.end(100)
  const answer = await bench.call('getMarketplaceReadiness')
  expect(answer).toMatchObject({ status: 503, body: { error: 'unavailable' } })
  expect(answer.headers.get('retry-after')).toBe('1')
})

test('a process that is about to end is not, though its database is there', async () => {
  bench.drain()
  expect(await bench.call('getMarketplaceReadiness'))
    .toMatchObject({ status: 503, body: { error: 'unavailable', message: 'The process is about to end.' } })
})

test('an unknown query parameter and an unservable Accept are refused', async () => {
  expect(await bench.send('getMarketplaceReadiness', { query: { deep: '1' } }))
    .toMatchObject({ status: 400, body: { error: 'validation_failed' } })
  expect(await bench.send('getMarketplaceReadiness', { headers: { Accept: 'text/html' } }))
    .toMatchObject({ status: 406 })
})
