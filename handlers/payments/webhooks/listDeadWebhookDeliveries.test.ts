import { expect, test } from 'vitest'
import { startPayments } from '../../../contract-tests/harness/payments.ts'
import { startReceiver } from '../../../contract-tests/harness/receiver.ts'
import { subscribedIn } from '../../../contract-tests/harness/subscribed.ts'
import { answering, trusting, webhooksOf } from '../../../contract-tests/harness/webhooks.ts'

const receiver = await startReceiver()
const bench = await startPayments({ settings: trusting(receiver) })
const { call, clock, given } = bench
const hooks = webhooksOf(bench, receiver)
const subscribed = subscribedIn(bench, hooks)

const list = async (as: string, query: Record<string, string> = {}) => {
  const answer = await call('listDeadWebhookDeliveries', { as, query })
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
  return answer.body
}
const eventsOf = async (as: string, query: Record<string, string> = {}) => (await list(as, query)).deliveries.map(({ event_id }) => event_id)

test('200: what ten failures in a row gave up, with why and the last answer; what is replayed leaves the list', async () => {
  const { as, id, happen, deliveries, update } = await subscribed()
  const event = await happen()
  expect(await list(as)).toEqual({ deliveries: [], total: 0, page: 1, limit: 20, total_pages: 0 })
  const [delivery] = await deliveries()
  if (!delivery) throw new Error('no delivery')
  for (let n = 0; n < 10; n += 1) {
    await hooks.makeDue(delivery.id)
    await hooks.deliver(delivery, { sender: answering({ status: null, error: 'connection_refused' }) })
  }
  expect(await list(as)).toMatchObject({
    deliveries: [{
      id: delivery.id, event_id: event, subscription_id: id, status: 'dead', dead_reason: 'failures', attempt_count: 10, round_failures: 10,
      next_attempt_at: null, last_status: null, last_error: 'connection_refused', ended_at: expect.any(String) as string,
    }], total: 1,
  })
  await update(true)
  expect((await call('replayWebhookDelivery', { as, params: { id: delivery.id } })).status).toBe(200)
  expect(await list(as)).toMatchObject({ deliveries: [], total: 0 })
})

test('200: dead ones only, newest first, by subscription, kind and time, in pages, within reach', async () => {
  const { as, id, merchant, happen, deliveries, die } = await subscribed()
  const other = await subscribed(merchant)
  const sibling = await subscribed(await given.merchant({ tenantId: merchant.tenantId }))
  const first = await happen()
  const from = clock.now().toISOString()
  const second = await happen('payment.failed')
  const third = await happen()
  await sibling.happen()
  for (const of of [{ deliveries, die }, sibling]) for (const delivery of await of.deliveries()) await of.die(delivery)
  const [, ofOther] = await other.deliveries()
  if (!ofOther) throw new Error('no delivery')
  await other.die(ofOther)
  expect(await eventsOf(as, { subscription_id: id })).toEqual([third, second, first])
  expect(await list(as)).toMatchObject({ total: 4 })
  expect(await eventsOf(as, { event: 'payment.failed' })).toEqual([second, second])
  expect(await eventsOf(as, { created_to: new Date(Date.parse(from) + 1).toISOString() })).toEqual([first])
  expect(await eventsOf(as, { created_from: clock.now().toISOString() })).toEqual([])
  expect(await eventsOf(as, { limit: '1', page: '2', subscription_id: id })).toEqual([second])
  expect(await list(await given.token(merchant, 'tenant_admin', '*'))).toMatchObject({ total: 5 })
  expect(await list(await given.token(merchant, 'tenant_admin', '*'), { merchant_id: sibling.merchant.id })).toMatchObject({ total: 1 })
  expect(await list(as, { subscription_id: sibling.id })).toMatchObject({ total: 0 })
})

const wrong = [{ subscription_id: 'x' }, { created_to: 'tomorrow' }, { event: '' }, { status: 'dead' }, { limit: 'x' }]
test.each(wrong)('400 validation_failed: %j', async (query) => {
  const { as } = await subscribed()
  expect(await call('listDeadWebhookDeliveries', { as, query: query })).toMatchObject({ status: 400, body: { error: 'validation_failed' } })
})

test('404 not_found: the merchant named is not within reach', async () => {
  const [{ as }, other] = [await subscribed(), await subscribed()]
  const answer = await call('listDeadWebhookDeliveries', { as, query: { merchant_id: other.merchant.id } })
  expect(answer).toMatchObject({ status: 404, body: { error: 'not_found' } })
})
