import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import { startPayments } from '../../../contract-tests/harness/payments.ts'
import { startReceiver } from '../../../contract-tests/harness/receiver.ts'
import { isGenuine, trusting } from '../../../contract-tests/harness/webhooks.ts'

let respond: (response: ServerResponse) => void = (response) => response.writeHead(204).end()
const receiver = await startReceiver((_, response) => respond(response))
const { call, clock, database, given } = await startPayments({ settings: trusting(receiver) })
const merchant = await given.merchant()
const as = await given.token(merchant, 'merchant_owner', `merchant:${merchant.id}`)

const create = async (url = receiver.url) => {
  const answer = await call('createWebhookSubscription', { as, body: { url, events: ['payment.failed'] } })
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
  return answer.body
}
const fire = async (id: string) => {
  const answer = await call('testWebhookSubscription', { as, params: { id } })
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
  return answer.body
}

describe('200', () => {
  test('one synthetic delivery, signed with the secret, and what came back', async () => {
    respond = (response) => response.writeHead(202, { 'X-Seen': 'yes' }).end('body')
    const { id, secret } = await create()
    const before = receiver.received.length
    const result = await fire(id)
    expect(result).toMatchObject({ succeeded: true, status: 202, error: null, response_headers: { 'x-seen': 'yes' } })
    const [request, ...more] = receiver.received.slice(before)
    if (!request || more.length > 0) throw new Error('not one request')
    expect(isGenuine(request, secret, clock.now())).toBe(true)
    expect(request.headers).toMatchObject({ 'x-service-event-kind': 'webhook.test', 'x-service-delivery-id': result.delivery_id, 'content-type': 'application/json' })
    expect(JSON.parse(request.body.toString())).toEqual({
      id: result.event_id, event: 'webhook.test', created_at: clock.now().toISOString(), environment: 'sandbox', api_version: 'v1', merchant_id: merchant.id,
      data: { webhook_id: id },
    })
  })

  test('a failure is told and counts for nothing: no event, no delivery, no time of failure', async () => {
    respond = (response) => response.writeHead(500).end()
    const { id } = await create()
    for (let n = 0; n < 12; n += 1) expect(await fire(id)).toMatchObject({ succeeded: false, status: 500, error: 'status' })
    const [row] = await database.query((sql) => sql`
      select s.active, s.last_failure_at, (select count(*)::int from payments.webhook_deliveries where subscription_id = s.id) as deliveries,
        (select count(*)::int from payments.events where merchant_id = s.merchant_id) as events
      from payments.webhook_subscriptions s where s.id = ${id}`)
    expect(row).toEqual({ active: true, last_failure_at: null, deliveries: 0, events: 0 })
  })

  test('a redirect is told and not followed', async () => {
    respond = (response) => response.writeHead(302, { Location: receiver.url }).end()
    const before = receiver.received.length
    expect(await fire((await create()).id)).toMatchObject({ succeeded: false, status: 302, error: 'redirect' })
    expect(receiver.received).toHaveLength(before + 1)
  })

  test('it goes to the current url, of a paused subscription too', async () => {
    respond = (response) => response.writeHead(204).end()
    const { id } = await create('https://nowhere.example/')
    await call('updateWebhookSubscription', { as, params: { id }, body: { url: `${receiver.url}/moved`, active: false } })
    expect(await fire(id)).toMatchObject({ succeeded: true, status: 204 })
    expect(receiver.received.at(-1)?.path).toBe('/moved')
  })

  test('no answer: the status and head are null', async () => {
    respond = (response) => response.socket?.destroy()
    expect(await fire((await create()).id)).toMatchObject({ succeeded: false, status: null, response_headers: null, error: 'connection_reset' })
  })
})

test('a deployment that lets no private address through connects to none, whatever the url says', async () => {
  const guarded = await startPayments()
  const shop = await guarded.given.merchant()
  const token = await guarded.given.token(shop, 'merchant_owner', `merchant:${shop.id}`)
  const made = await guarded.call('createWebhookSubscription', { as: token, body: { url: 'https://shop.example/', events: ['payment.failed'] } })
  if (made.status !== 201) throw new Error(JSON.stringify(made.body))
  // Past the check of the address when it was written.
  await guarded.database.query((sql) => sql`update payments.webhook_subscriptions set url = ${receiver.url.replace('localhost', '127.0.0.1')} where id = ${made.body.id}`)
  const before = receiver.received.length
  expect(await guarded.call('testWebhookSubscription', { as: token, params: { id: made.body.id } })).toMatchObject({ status: 200, body: { succeeded: false, status: null, error: 'address_refused' } })
  expect(receiver.received).toHaveLength(before)
})

test('404 not_found: unknown or of another merchant, and nothing is sent', async () => {
  const { id } = await create()
  const stranger = await given.merchant()
  const other = await given.token(stranger, 'merchant_owner', `merchant:${stranger.id}`)
  const before = receiver.received.length
  expect(await call('testWebhookSubscription', { as: other, params: { id } })).toMatchObject({ status: 404, body: { error: 'not_found' } })
  expect((await call('testWebhookSubscription', { as, params: { id: randomUUID() } })).status).toBe(404)
  expect(receiver.received).toHaveLength(before)
})
