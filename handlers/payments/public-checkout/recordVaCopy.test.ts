import { expect, test } from 'vitest'
import { startPayments } from '../../../contract-tests/harness/payments.ts'

const { call, clock, database, given } = await startPayments()
const merchant = await given.merchant()
const as = await given.apiKey(merchant)

const create = async (allowed_channels: string[]) => {
  const answer = await call('createPaymentIntent', { as, body: { amount_idr: 150_000, allowed_channels } })
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
  return answer.body
}
const copy = (shortcode: string) => call('recordVaCopy', { params: { shortcode } })

test('204: copies are counted for the attempt, 20 at once too', async () => {
  const { id, shortcode } = await create(['va_bank_a'])
  const answers = await Promise.all(Array.from({ length: 20 }, () => copy(shortcode)))
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([204]))
  const rows = await database.query((sql) => sql`
    select c.copies from payments.va_copies c join payments.payment_attempts a on a.id = c.attempt_id where a.intent_id = ${id}`)
  expect(rows).toMatchObject([{ copies: 20 }])
})

test('409 where no virtual account is shown: none chosen, another channel, or past the deadline', async () => {
  const [unchosen, qris, past] = [await create(['qris', 'va_bank_a']), await create(['qris']), await create(['va_bank_a'])]
  expect(await copy(unchosen.shortcode)).toMatchObject({ status: 409, body: { error: 'invalid_state' } })
  expect(await copy(qris.shortcode)).toMatchObject({ status: 409, body: { error: 'invalid_state' } })
  clock.advance(86_400_001)
  expect(await copy(past.shortcode)).toMatchObject({ status: 409, body: { error: 'invalid_state' } })
})

test('404 for an unknown code', async () => {
  expect(await copy('zzzzzzzzzz')).toMatchObject({ status: 404, body: { error: 'not_found' } })
})
