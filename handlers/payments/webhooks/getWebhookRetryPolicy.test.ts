import { expect, test } from 'vitest'
import { startPayments } from '../../../contract-tests/harness/payments.ts'

const { call, clock, given } = await startPayments()
const merchant = await given.merchant()
const as = await given.token(merchant, 'merchant_owner', `merchant:${merchant.id}`)

const policy = async (from?: string) => {
  const answer = await call('getWebhookRetryPolicy', { as, ...(from !== undefined && { query: { from } }) })
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
  return answer.body
}

test('200: the numbers of the brief', async () => {
  const { next_attempts: _, ...numbers } = await policy()
  expect(numbers).toEqual({
    delay_base: 2, delay_cap_seconds: 3600, jitter_min: 0.5, jitter_max: 1.5, failures_to_disable: 10, attempts_per_round: 16, timeout_seconds: 30,
    retry_after_statuses: [429, 503], retry_after_cap_seconds: 3600, lease_seconds: 8,
  })
})

test('200: the next ten attempts from a time, each between the shortest and the longest delays added up', async () => {
  const { next_attempts: attempts } = await policy('2026-11-02T10:00:00+07:00')
  const base = [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]
  expect(attempts.map(({ failures }) => failures)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  expect(attempts.map((entry) => entry.base_delay_seconds)).toEqual(base)
  expect(attempts.map((entry) => entry.earliest_delay_seconds)).toEqual(base.map((seconds) => seconds / 2))
  expect(attempts.map((entry) => entry.latest_delay_seconds)).toEqual(base.map((seconds) => seconds * 1.5))
  expect(attempts[0]).toMatchObject({ earliest_at: '2026-11-02T03:00:01.000Z', base_at: '2026-11-02T03:00:02.000Z', latest_at: '2026-11-02T03:00:03.000Z' })
  // 2 + 4 + … + 1024 = 2046 seconds
  expect(attempts[9]).toMatchObject({ earliest_at: '2026-11-02T03:17:03.000Z', base_at: '2026-11-02T03:34:06.000Z', latest_at: '2026-11-02T03:51:09.000Z' })
})

test('200: without a time from now on', async () => {
  expect((await policy()).next_attempts).toEqual((await policy(clock.now().toISOString())).next_attempts)
})

const unusable = ['yesterday', '2026-13-01T00:00:00Z', '2016-12-31T23:59:60Z', '1793588645', '9999-01-01T00:00:00Z']
test.each(unusable)('400 validation_failed: from %j is named', async (from) => {
  expect(await call('getWebhookRetryPolicy', { as, query: { from } }))
    .toMatchObject({ status: 400, body: { error: 'validation_failed', fields: { from: expect.any(String) as string } } })
})

test('401 and 403: no credential, an API key', async () => {
  expect((await call('getWebhookRetryPolicy')).status).toBe(401)
  expect((await call('getWebhookRetryPolicy', { as: await given.apiKey(merchant) })).status).toBe(403)
})
