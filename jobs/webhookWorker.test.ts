import type { ServerResponse } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import { startPayments } from '../contract-tests/harness/payments.ts'
import { startReceiver } from '../contract-tests/harness/receiver.ts'
import { isGenuine, trusting, webhooksOf } from '../contract-tests/harness/webhooks.ts'
import { startBoss } from './boss.ts'
import { startWebhookWorker } from './webhookWorker.ts'

/** Requests that the receiver leaves unanswered until `answerHeld`. */
const held: ServerResponse[] = []
const answerHeld = () => held.splice(0).forEach((response) => response.writeHead(204).end())
const receiver = await startReceiver((request, response) => {
  if (request.path === '/slow') held.push(response)
  else response.writeHead(204).end()
})
const bench = await startPayments({ settings: trusting(receiver) })
const { call, clock, database, databaseUrl, given } = bench
const hooks = webhooksOf(bench, receiver)

const startWorker = async () => {
  const boss = await startBoss(databaseUrl, { worker: true })
  const reported: unknown[] = []
  const worker = startWebhookWorker({
    ...hooks.settings, boss, sender: { send: (message) => hooks.settings.sender.send(message), close: () => Promise.resolve() },
    runtime: { ...hooks.settings.runtime, sleep: (milliseconds) => wait(milliseconds, undefined, { ref: false }) }, report: (error) => reported.push(error),
  })
  return { boss, worker, reported }
}
const workers = [await startWorker(), await startWorker()]
afterAll(async () => {
  for (const { boss } of workers) await boss.stop(100)
})

/** Creates intents a few at a time, so that a busy machine refuses none. */
const create = async (as: Awaited<ReturnType<typeof given.apiKey>>, count: number) => {
  const body = { amount_idr: 150_000, allowed_channels: ['qris', 'va_bank_a'] }
  const rest = Array.from({ length: count }).values()
  await Promise.all(Array.from({ length: 5 }, async () => {
    for (const _ of rest) expect((await call('createPaymentIntent', { as, body })).status).toBe(201)
  }))
}

const idsOf = (requests: { body: Buffer }[]) => requests.map(({ body }) => (JSON.parse(body.toString()) as { id: string }).id)

test('created, delivered: what happens at the API reaches the receiver through two workers, each event once and signed', async () => {
  const merchant = await given.merchant()
  const as = await given.apiKey(merchant)
  const { id, secret } = await hooks.subscribe(merchant, ['payment_intent.created'], `${receiver.url}/fast`)
  await create(as, 40)
  const requests = await receiver.untilReceived(40)
  expect(requests.every((request) => isGenuine(request, secret, clock.now()))).toBe(true)
  const known = await call('listEvents', { as, query: { limit: '100' } })
  if (known.status !== 200) throw new Error('no events')
  expect(idsOf(requests).sort()).toEqual(known.body.events.map((event) => event.id).sort())
  while ((await hooks.deliveries(id)).some(({ status }) => status !== 'delivered'));
  expect(receiver.received).toHaveLength(40)
  expect(workers.flatMap(({ reported }) => reported)).toEqual([])
})

test('a receiver that does not answer holds up nobody else', async () => {
  const [slow, quick] = [await given.merchant(), await given.merchant()]
  const stuck = await hooks.subscribe(slow, ['payment_intent.created'], `${receiver.url}/slow`)
  await hooks.subscribe(quick, ['payment_intent.created'], `${receiver.url}/quick`)
  await create(await given.apiKey(slow), 60)
  while ((await hooks.deliveries(stuck.id)).filter(({ leased }) => leased).length < 10);
  await create(await given.apiKey(quick), 1)
  while (!receiver.received.some(({ path }) => path === '/quick')) await hooks.deliveries(stuck.id)
  const states = await hooks.deliveries(stuck.id)
  // Ten at a time in each of the two workers, and none of them has ended.
  const atWork = states.filter(({ leased }) => leased).length
  expect(atWork === 10 || atWork === 20 ? 'its share' : `${atWork} at work`).toBe('its share')
  expect(states.every(({ status, attempt }) => status === 'pending' && attempt <= 1)).toBe(true)
})

test('a worker that ends finishes what is at work and claims nothing more; what waits is found from the rows by another one', async () => {
  const [first, second] = workers
  const ending = first?.worker.stop()
  answerHeld()
  await ending
  await database.query((sql) => sql`delete from pgboss.job`)
  const pending = async () => {
    answerHeld()
    const [row] = await database.query((sql) => sql<{ count: number }[]>`
      select count(*)::int as count from payments.webhook_deliveries where status = 'pending'`)
    return row?.count
  }
  await expect.poll(pending, { timeout: 15_000 }).toBe(0)
  const ids = idsOf(receiver.received.filter(({ path }) => path === '/slow'))
  expect([ids.length, new Set(ids).size]).toEqual([60, 60])
  await second?.worker.stop()
})
