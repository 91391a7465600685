import { afterAll, describe, expect, test } from 'vitest'
import { startCanary } from '../contract-tests/harness/canary.ts'
import { refusedNames } from '../contract-tests/harness/hostileAddresses.ts'
import { startPayments } from '../contract-tests/harness/payments.ts'
import { startReceiver } from '../contract-tests/harness/receiver.ts'
import { webhooksOf } from '../contract-tests/harness/webhooks.ts'
import { webhookSender } from '../providers/webhookSender.ts'
import { writeEvent } from './paymentEvents.ts'

// A deployment as it is by default: nothing private is let through.
const bench = await startPayments()
const { call, clock, creation, database, given } = bench
const hooks = webhooksOf(bench, await startReceiver())
const canary = await startCanary()

/** Says of a name what stands in the list; of another one, that it is this machine. */
const sender = webhookSender({
  allowPrivate: false, timeoutMs: 2000,
  resolve: (name) => Promise.resolve((refusedNames[name] ?? ['127.0.0.1', '::1']).map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))),
})
afterAll(() => sender.close())

const owned = async () => {
  const merchant = await given.merchant()
  const as = await given.token(merchant, 'merchant_owner', `merchant:${merchant.id}`)
  const subscribe = (url: string) => hooks.subscribe(merchant, ['payment.completed'], url)
  const happen = () => database.tx((sql) => writeEvent(sql, {
    kind: 'payment.completed', tenantId: merchant.tenantId, merchantId: merchant.id, intentId: null, data: {},
  }, creation, clock.now()))
  return { as, subscribe, happen }
}

const literals = [
  '127.0.0.1', '127.1', '2130706433', '0x7f.1', '0177.0.0.1', '0', '127.0.0.1.', '[::1]', '[::]', '[::ffff:127.0.0.1]', '[64:ff9b::127.0.0.1]', '[2002:7f00:1::]',
  '[fe80::1%25eth0]', '[fc00::1]', '10.0.0.1', '100.64.0.1', '169.254.169.254', '168.63.129.16', '224.0.0.1', '255.255.255.255', 'user@127.0.0.1',
]

describe.each(literals)('https://%s', (host) => {
  const url = `https://${host}:${canary.port}/`

  test('is refused when a subscription is written', async () => {
    const { as, subscribe } = await owned()
    const named = { status: 400, body: { error: 'validation_failed', fields: { url: expect.any(String) as string } } }
    expect(await call('createWebhookSubscription', { as, body: { url, events: ['payment.completed'] } })).toMatchObject(named)
    const { id } = await subscribe('https://shop.example/')
    expect(await call('updateWebhookSubscription', { as, params: { id }, body: { url } })).toMatchObject(named)
  })

  test('is not connected to when it stands in the row all the same', async () => {
    const { as, subscribe, happen } = await owned()
    const { id } = await subscribe('https://shop.example/')
    await database.query((sql) => sql`update payments.webhook_subscriptions set url = ${url} where id = ${id}`)
    await happen()
    const delivery = await hooks.delivery(id)
    expect(await hooks.deliver(delivery, { sender })).toBe('retrying')
    expect(await hooks.attempts(delivery.id)).toMatchObject([{ outcome: 'failed', status: null, error: 'address_refused' }])
    expect(await call('testWebhookSubscription', { as, params: { id } })).toMatchObject({ status: 200, body: { succeeded: false, error: 'address_refused' } })
    expect(canary.met).toEqual([])
  })
})

const names = [...Object.keys(refusedNames), 'shop.example']
test.each(names)('the name %s can be subscribed and is not connected to: the delivery fails and is tried again', async (name) => {
  const { subscribe, happen } = await owned()
  const { id } = await subscribe(`https://${name}:${canary.port}/hook`)
  await happen()
  const delivery = await hooks.delivery(id)
  expect(await hooks.deliver(delivery, { sender })).toBe('retrying')
  expect(await hooks.attempts(delivery.id)).toMatchObject([{ outcome: 'failed', status: null, error: 'address_refused' }])
  expect(await hooks.delivery(id)).toMatchObject({ status: 'pending', round_failures: 1 })
  expect(canary.met).toEqual([])
})

test('the canary is there: with the guard off the same delivery reaches it', async () => {
  const { subscribe, happen } = await owned()
  const { id } = await subscribe(`https://shop.example:${canary.port}/hook`)
  await happen()
  const open = webhookSender({ allowPrivate: true, timeoutMs: 150, resolve: () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]) })
  await hooks.deliver(await hooks.delivery(id), { sender: open })
  await open.close()
  expect(canary.met).toEqual(['127.0.0.1'])
})
