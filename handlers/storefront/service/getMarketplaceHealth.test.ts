import { request } from 'node:http'
import { beforeAll, expect, test } from 'vitest'
import type { StorefrontBench } from '../storefrontBench.ts'
import { startStorefront } from '../storefrontBench.ts'

let bench: StorefrontBench
beforeAll(async () => {
  bench = await startStorefront()
})

test('a live process says so, whatever host it is asked for', async () => {
  expect(await bench.call('getMarketplaceHealth')).toMatchObject({ status: 200, body: { status: 'ok' } })
  const status = await new Promise((resolve, reject) => {
    const headers = { Host: 'shop.demo.example' }
    request(`${bench.url}/v1/marketplace/health`, { headers }, (response) => resolve(response.resume().statusCode))
      .on('error', reject).end()
  })
  expect(status).toBe(200)
})

test('an unknown query parameter and an unservable Accept are refused', async () => {
  expect(await bench.send('getMarketplaceHealth', { query: { deep: '1' } }))
    .toMatchObject({ status: 400, body: { error: 'validation_failed' } })
  expect(await bench.send('getMarketplaceHealth', { headers: { Accept: 'text/html' } })).toMatchObject({ status: 406 })
})

test('it lives without its database and while it drains', async () => {
  await bench.database.end(100)
  bench.drain()
  expect((await bench.call('getMarketplaceHealth')).status).toBe(200)
})
