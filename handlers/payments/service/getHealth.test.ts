import { expect, test } from 'vitest'
import { startPayments } from '../../../contract-tests/harness/payments.ts'

test('a process that answers is alive, whoever asks and however often', async () => {
  const { call } = await startPayments({ settings: { RATE_LIMIT_PER_ADDRESS: '1', RATE_LIMIT_PER_CALLER: '1' } })
  for (let count = 0; count < 5; count += 1) {
    const answer = await call('getHealth')
    expect(answer).toMatchObject({ status: 200, body: { status: 'ok' } })
    expect(answer.headers.get('ratelimit-limit')).toBeNull()
  }
})

test('it is alive with its database away and while it drains', async () => {
  const bench = await startPayments({ isDraining: () => true })
  await bench.database.end(0)
  expect((await bench.call('getHealth')).status).toBe(200)
})
