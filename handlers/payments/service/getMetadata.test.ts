import { expect, test } from 'vitest'
import manifest from '../../../package.json' with { type: 'json' }
import { startPayments } from '../../../contract-tests/harness/payments.ts'

const { call } = await startPayments({
  settings: {
    RATE_LIMIT_PER_CALLER: '50',
    RATE_LIMIT_PER_ADDRESS: '10',
    BAYAR_EGRESS_ADDRESSES: '192.0.2.10, 192.0.2.0/28',
  },
})

test('200: it tells the version, the environment and the limits that are in force', async () => {
  const answer = await call('getMetadata')
  expect(answer).toMatchObject({
    status: 200,
    body: {
      service: 'payments',
      version: manifest.version,
      environment: 'sandbox',
      egress_addresses: ['192.0.2.10', '192.0.2.0/28'],
      limits: {
        requests_per_second: 50,
        burst: 100,
        public_requests_per_second: 10,
        body_bytes: 262_144,
        page_limit_max: 100,
      },
    },
  })
})

test('the releases are those of the brief, the newest first, each with what changed', async () => {
  const { body } = await call('getMetadata')
  if (!('releases' in body)) throw new Error('no releases')
  const dates = body.releases.map(({ date }) => date)
  expect(dates).toEqual([...dates].sort().reverse())
  expect(body.releases.map(({ version }) => version)).toContain('v0.35.1')
  for (const { version, changes } of body.releases) {
    expect(version).toMatch(/^v\d+\.\d+\.\d+$/)
    expect(changes.length, version).toBeGreaterThan(0)
  }
})

test('the limits that it tells are those that hold', async () => {
  const { call: ask, given } = await startPayments({ settings: { RATE_LIMIT_PER_CALLER: '3' } })
  const { body } = await ask('getMetadata')
  const as = await given.apiKey(await given.merchant())
  const { headers } = await ask('getMe', { as })
  expect('limits' in body && body.limits.burst).toBe(Number(headers.get('ratelimit-limit')))
})
