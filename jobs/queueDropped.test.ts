import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { startPayments } from '../contract-tests/harness/payments.ts'
import { startReceiver } from '../contract-tests/harness/receiver.ts'
import { trusting, webhooksOf } from '../contract-tests/harness/webhooks.ts'
import { startBoss } from './boss.ts'
import { installQueues } from './queues.ts'
import { startWebhookWorker } from './webhookWorker.ts'

const receiver = await startReceiver()
const bench = await startPayments({ settings: trusting(receiver) })
const { call, database, databaseUrl, given } = bench
const hooks = webhooksOf(bench, receiver)
const boss = await startBoss(databaseUrl, { worker: true })
const reported: unknown[] = []
const worker = startWebhookWorker({
  ...hooks.settings, boss, sender: { send: (message) => hooks.settings.sender.send(message), close: () => Promise.resolve() },
  runtime: { ...hooks.settings.runtime, sleep: (milliseconds) => wait(milliseconds, undefined, { ref: false }) }, report: (error) => reported.push(error),
})
afterAll(async () => {
  await worker.stop()
  await boss.stop(100)
})

const merchant = await given.merchant()
const as = await given.apiKey(merchant)
const { id } = await hooks.subscribe(merchant, ['payment_intent.created', 'payment.completed'])
const create = async () => {
  const answer = await call('createPaymentIntent', { as, body: { amount_idr: 150_000, allowed_channels: ['qris', 'va_bank_a'] } })
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
  return answer.body.id
}
const toldOf = () => receiver.received.map(({ body }) => (JSON.parse(body.toString()) as { data: { intent: { id: string } } }).data.intent.id)
const allDelivered = async () => (await hooks.deliveries(id)).every(({ status }) => status === 'delivered')

test('a dropped queue schema fails no change and loses no event: what happens is told all the same, and as before once the queues are installed again', async () => {
  const before = await create()
  await expect.poll(toldOf, { timeout: 10_000 }).toEqual([before])
  await database.query((sql) => sql`drop schema pgboss cascade`)
  const without = [await create(), await create()]
  await expect.poll(() => toldOf().toSorted(), { timeout: 15_000 }).toEqual([before, ...without].toSorted())
  await expect.poll(allDelivered, { timeout: 10_000 }).toBe(true)
  await installQueues(databaseUrl)
  const after = await create()
  const [job] = await database.query((sql) => sql`select from pgboss.job where name = 'deliver-webhook'`)
  expect(job).toBeDefined()
  await expect.poll(toldOf, { timeout: 10_000 }).toContain(after)
  await expect.poll(allDelivered, { timeout: 10_000 }).toBe(true)
  expect(toldOf()).toHaveLength(4)
  expect(reported).toEqual([])
})

test('a charge that the provider is to expire is written without its job, and the intent ends', async () => {
  await database.query((sql) => sql`drop schema pgboss cascade`)
  const created = await call('createPaymentIntent', { as, body: { amount_idr: 150_000, allowed_channels: ['qris'] } })
  if (created.status !== 201) throw new Error('not created')
  const ended = await call('cancelPaymentIntent', { as, params: { id: created.body.id } })
  expect(ended).toMatchObject({ status: 200, body: { status: 'cancelled' } })
  const [withdrawal] = await database.query((sql) => sql<{ done_at: Date | null }[]>`select done_at from payments.charge_withdrawals`)
  expect(withdrawal).toEqual({ done_at: null })
  await installQueues(databaseUrl)
})
