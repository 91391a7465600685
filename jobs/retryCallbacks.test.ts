import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { startPayments } from '../contract-tests/harness/payments.ts'
import { retryCallbacks } from './retryCallbacks.ts'

const bench = await startPayments()
const { call, clock, creation, database, given, simulator } = bench
const as = await given.apiKey(await given.merchant())

/** A charge whose payment the simulator has reported while the key it echoes was not known here. */
const reportedTooEarly = async () => {
  const reference_id = `order-${randomUUID()}`
  const made = await call('createPaymentIntent', { as, body: { amount_idr: 150_000, allowed_channels: ['va_bank_a'], reference_id } })
  if (made.status !== 201) throw new Error(JSON.stringify(made.body))
  const { charges: [charge] } = await simulator.charges({ merchant_reference: reference_id })
  await hide('elsewhere')
  await simulator.pay(charge?.reference ?? '')
  await hide('simulator')
  return made.body.id
  async function hide(provider: string) {
    await database.query((sql) => sql`update payments.provider_operations set provider = ${provider} where id = ${charge?.key ?? ''}`)
  }
}
const callbacks = () => database.query((sql) => sql<{ outcome: string, tries: number, waits: number | null }[]>`
  select outcome, tries, round(extract(epoch from next_try_at - ${clock.now()}))::int as waits from payments.provider_callbacks order by received_at desc, id desc`)
const statusOf = async (id: string) => (await call('getPaymentIntent', { as, params: { id } })).body

test('a callback that matched nothing is applied by a later try, once', async () => {
  const id = await reportedTooEarly()
  expect((await callbacks())[0]).toEqual({ outcome: 'unmatched', tries: 1, waits: 30 })
  await retryCallbacks(creation)
  expect(await statusOf(id)).toMatchObject({ status: 'open' })
  clock.advance(30_000)
  await Promise.all([retryCallbacks(creation), retryCallbacks(creation)])
  expect(await statusOf(id)).toMatchObject({ status: 'paid', uses: 1, paid_idr: 150_000 })
  expect((await callbacks())[0]).toEqual({ outcome: 'applied', tries: 2, waits: null })
})

test('one that never matches is tried for a day and more, then stays unmatched for a person to see', async () => {
  await reportedTooEarly()
  await database.query((sql) => sql`update payments.provider_operations set provider = 'elsewhere'`)
  const waits: (number | null | undefined)[] = []
  for (let tries = 0; tries < 6; tries += 1) {
    clock.advance(((await callbacks())[0]?.waits ?? 0) * 1000)
    await retryCallbacks(creation)
    waits.push((await callbacks())[0]?.waits)
  }
  expect(waits).toEqual([120, 600, 3600, 21_600, 86_400, null])
  expect((await callbacks())[0]).toMatchObject({ outcome: 'unmatched', tries: 7 })
})
