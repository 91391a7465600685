import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { startPayments } from './harness/payments.ts'
import { startReceiver } from './harness/receiver.ts'
import type { ReceivedRequest } from './harness/receiver.ts'
import { startServiceProcess } from './harness/serviceProcess.ts'
import { isGenuine, trusting, webhooksOf } from './harness/webhooks.ts'

/** Requests that are left without an answer, as long as the test says so. */
const held: ServerResponse[] = []
let holding = true
const receiver = await startReceiver((_, response) => {
  if (holding) held.push(response)
  else response.writeHead(204).end()
})
const bench = await startPayments({ settings: trusting(receiver) })
const webhooks = webhooksOf(bench, receiver)
const { call, environment, given } = bench
const merchant = await given.merchant()
const as = await given.apiKey(merchant)

const eventOf = ({ body }: ReceivedRequest) => (JSON.parse(body.toString()) as { id: string }).id
const deliveryOf = ({ headers }: ReceivedRequest) => String(headers['x-service-delivery-id'])

test('a worker killed with deliveries in flight loses none: another one delivers each, the same event under a new delivery id', async () => {
  const events = 10
  const { id, secret } = await webhooks.subscribe(merchant, ['payment_intent.created'])
  const doomed = await startServiceProcess('worker', environment)
  for (let made = 0; made < events; made += 1) {
    expect((await call('createPaymentIntent', { as, body: { amount_idr: 1000, allowed_channels: ['qris', 'va_bank_b'] } })).status).toBe(201)
  }
  const first = await receiver.untilReceived(events)
  await doomed.kill()
  holding = false
  for (const response of held) response.destroy()
  // The leases of the killed worker would lapse by themselves within 8 s.
  for (const delivery of await webhooks.deliveries(id)) await webhooks.lapse(delivery.id)
  const successor = await startServiceProcess('worker', environment)
  const all = await receiver.untilReceived(events * 2)
  await expect.poll(async () => (await webhooks.deliveries(id)).map(({ status }) => status), { timeout: 15_000 }).toEqual(first.map(() => 'delivered'))
  await successor.end()
  const again = all.slice(events)
  expect(again.map(eventOf).sort()).toEqual(first.map(eventOf).sort())
  expect(new Set(all.map(deliveryOf)).size).toBe(events * 2)
  for (const request of all) expect(isGenuine(request, secret, new Date())).toBe(true)
}, 60_000)
