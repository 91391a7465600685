import { expect, test } from 'vitest'
import { intentActs } from '../contract-tests/harness/intentActs.ts'
import { startPayments } from '../contract-tests/harness/payments.ts'
import { withdrawAttempt } from '../db/payments/chargeWithdrawals.ts'
import { dueWithdrawals, withdrawCharge } from './chargeWithdrawal.ts'

const bench = await startPayments()
const { call, creation, database, given, simulator } = bench
const merchant = await given.merchant()
const as = await given.apiKey(merchant)
const { charged, kinds, read } = intentActs(bench, as)

const withdrawalOf = async (intentId: string) => {
  const [row] = await database.query((sql) => sql<{ attempt_id: string, done: boolean, due: boolean }[]>`
    select w.attempt_id, w.done_at is not null as done, w.next_try_at <= now() as due
    from payments.charge_withdrawals w join payments.payment_attempts a on a.id = w.attempt_id where a.intent_id = ${intentId}`)
  if (!row) throw new Error('nothing is to be withdrawn')
  return row
}
/** What a worker takes of an intent that was cancelled. */
const taken = async (id: string) => {
  await database.query((sql) => sql`update payments.charge_withdrawals set next_try_at = now() where done_at is null`)
  const { attempt_id } = await withdrawalOf(id)
  const withdrawal = (await dueWithdrawals(creation, 'simulator', 100)).find((row) => row.attempt_id === attempt_id)
  if (!withdrawal) throw new Error('the withdrawal is not due')
  return withdrawal
}

test('a withdrawal that is asked for again while it is tried stays due: the later charge is expired too', async () => {
  const { id } = await charged({ amount_idr: 150_000, allowed_channels: ['va_bank_a'] })
  await call('cancelPaymentIntent', { as, params: { id } })
  const withdrawal = await taken(id)
  await database.tx((sql) => withdrawAttempt(sql, merchant.tenantId, merchant.id, withdrawal.attempt_id, 0))
  await withdrawCharge(withdrawal, creation)
  expect(await withdrawalOf(id)).toMatchObject({ done: false, due: true })
  await withdrawCharge(await taken(id), creation)
  expect(await withdrawalOf(id)).toMatchObject({ done: true })
})

test('a withdrawal that another has taken since is theirs to finish', async () => {
  const { id } = await charged({ amount_idr: 150_000, allowed_channels: ['va_bank_a'] })
  await call('cancelPaymentIntent', { as, params: { id } })
  const slow = await taken(id)
  const quick = await taken(id)
  await withdrawCharge(slow, creation)
  expect(await withdrawalOf(id)).toMatchObject({ done: false })
  await withdrawCharge(quick, creation)
  expect(await withdrawalOf(id)).toMatchObject({ done: true })
})

test('payments that nobody told of are all recorded when their standing charge is withdrawn, more than fit into one transaction too', async () => {
  const { id, reference } = await charged({ amount_idr: 150_000, allowed_channels: ['qris'], max_uses: 0 })
  for (let n = 0; n < 120; n += 1) await simulator.pay(reference, { callback: null })
  await call('cancelPaymentIntent', { as, params: { id } })
  await withdrawCharge(await taken(id), creation)
  expect(await withdrawalOf(id)).toMatchObject({ done: true })
  expect(await read(id)).toMatchObject({ uses: 120, paid_idr: 120 * 150_000 })
  expect((await kinds(id)).filter((kind) => kind === 'payment.completed')).toHaveLength(120)
})
