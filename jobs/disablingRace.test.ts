import { expect, test } from 'vitest'
import { startPayments } from '../contract-tests/harness/payments.ts'
import { startReceiver } from '../contract-tests/harness/receiver.ts'
import { subscribedIn } from '../contract-tests/harness/subscribed.ts'
import { trusting, webhooksOf } from '../contract-tests/harness/webhooks.ts'

const receiver = await startReceiver()
const bench = await startPayments({ settings: trusting(receiver) })
const { clock, database } = bench
const hooks = webhooksOf(bench, receiver)
const subscribed = subscribedIn(bench, hooks)

const once = async () => {
  const of = await subscribed()
  await of.happen()
  const [delivery] = await of.deliveries()
  if (!delivery) throw new Error('no delivery')
  return { of, delivery }
}
/** Runs `work` while a transaction that disables the subscription is not committed yet. */
const whileDisabling = async (id: string, work: () => Promise<unknown>) => {
  const [locked, commit] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const disabling = database.tx(async (sql) => {
    await sql`select from payments.webhook_subscriptions where id = ${id} for no key update`
    await sql`update payments.webhook_subscriptions set active = false, disabled_at = ${clock.now()}, disabled_reason = 'failures' where id = ${id}`
    locked.resolve()
    await commit.promise
  })
  await locked.promise
  const worked = work()
  await Promise.race([worked, database.query((sql) => sql`select pg_sleep(0)`)])
  commit.resolve()
  await disabling
  return worked
}

test('an attempt that is to begin while its subscription is being disabled does not begin', async () => {
  const { of, delivery } = await once()
  const before = receiver.received.length
  expect(await whileDisabling(of.id, () => hooks.deliver(delivery))).toBe('idle')
  expect(await hooks.attempts(delivery.id)).toEqual([])
  expect(receiver.received).toHaveLength(before)
})

test('attempts and disablings at once: no attempt starts after the disabling', async () => {
  for (let round = 0; round < 25; round += 1) {
    const { of, delivery } = await once()
    await Promise.all([hooks.deliver(delivery), of.update(false)])
    const late = await database.query((sql) => sql`
      select a.id from payments.webhook_attempts a
      join payments.webhook_deliveries d on d.id = a.delivery_id
      join payments.webhook_subscriptions s on s.id = d.subscription_id
      where s.id = ${of.id} and a.started_at > s.inactive_since`)
    expect(late).toEqual([])
  }
})

test('a replay while its subscription is being disabled makes nothing due: it waits and is refused', async () => {
  const { of, delivery } = await once()
  await hooks.deliver(delivery)
  const answer = await whileDisabling(of.id, () => bench.call('replayWebhookDelivery', { as: of.as, params: { id: delivery.id } }))
  expect(answer).toMatchObject({ status: 409, body: { error: 'invalid_state' } })
  expect(await of.deliveries()).toMatchObject([{ status: 'delivered' }])
})
