import { deepStrictEqual, ok } from 'node:assert/strict'
import { isGenuine } from '../harness/tlsReceiver.ts'
import type { ReceivedRequest } from '../harness/tlsReceiver.ts'
import { logIn } from '../../run/signIn.ts'
import { verify } from '../../sdk/webhooks/dist/index.js'
import type { RunningSystem } from './system.ts'
import type { Tally } from './tally.ts'
import { askAs, expecting } from './through.ts'
import type { Ask, Body } from './through.ts'

const settings = '/v1/payments/settings'
const deliveryLimitMs = 20_000

/** What the owner of a merchant sets up: keys, channels, webhooks that are really delivered by the worker. */
export async function settingsJourneys(ask: Ask, url: string, system: RunningSystem, check: Tally['check']): Promise<void> {
  await check('an API key is made, used, rotated and revoked', () => keys(ask, url))
  await check('a channel is switched off and on', () => channels(ask, url, system))
  await check('a webhook is made, tested, paused, told of a payment and removed', () => webhooks(ask, system))
  await check('a signing secret is rotated, and a receiver with either secret verifies the delivery', () => rotation(ask, system))
}

async function keys(ask: Ask, url: string): Promise<void> {
  const name = `Journey ${String(Date.now())}`
  const scopes = ['payments.payment_intent.read']
  const made = await expecting(ask('POST', `${settings}/api-keys`, { name, scopes }), 201, { name, scopes, revoked_at: null })
  const own = askAs(url, String(made.key))
  await expecting(own('GET', '/v1/payments/events'), 200)
  await expecting(own('POST', '/v1/payments/intents', { amount_idr: 150_000, allowed_channels: ['qris'] }), 403, { error: 'insufficient_scope' })
  await expecting(own('GET', `${settings}/api-keys`), 403, { error: 'forbidden' })
  const { api_keys: found } = await expecting(ask('GET', `${settings}/api-keys?search=${encodeURIComponent(name)}`), 200, { total: 1 })
  const { key: _, ...shown } = made
  deepStrictEqual((found as Body[]).map(({ id }) => id), [shown.id])
  await expecting(ask('GET', `${settings}/api-keys/${String(made.id)}/requests`), 200, { page: 1 })
  const path = `${settings}/api-keys/${String(made.id)}`
  const next = await expecting(ask('POST', `${path}/rotate`, { overlap_minutes: 0 }), 201, { name, scopes })
  await expecting(own('GET', '/v1/me'), 401, { error: 'unauthenticated' })
  await expecting(ask('POST', `${path}/rotate`, {}), 409, { error: 'invalid_state' })
  await expecting(askAs(url, String(next.key))('GET', '/v1/me'), 200)
  await expecting(ask('DELETE', `${settings}/api-keys/${String(next.id)}`), 204)
  await expecting(askAs(url, String(next.key))('GET', '/v1/me'), 401, { error: 'unauthenticated' })
}

async function channels(ask: Ask, url: string, system: RunningSystem): Promise<void> {
  const administrator = askAs(url, (await logIn(system.urls.identity, await system.newAdministrator())).accessToken)
  const path = `/v1/payments/merchants/${system.merchantId}/channels/ewallet_wallet_b`
  const input = { amount_idr: 150_000, allowed_channels: ['ewallet_wallet_b'], return_url: 'https://shop.example/orders/1042' }
  await expecting(ask('PUT', path, { enabled: false }), 403, { error: 'forbidden' })
  const off = await expecting(administrator('PUT', path, { enabled: false }), 200, { code: 'ewallet_wallet_b', enabled: false })
  const { channels: listed } = await expecting(ask('GET', '/v1/payments/channels?limit=100'), 200)
  deepStrictEqual((listed as Body[]).find(({ code }) => code === 'ewallet_wallet_b'), off)
  await expecting(ask('POST', '/v1/payments/intents', input), 422, { error: 'channel_unavailable' })
  await expecting(administrator('PUT', path, { enabled: true }), 200, { enabled: true })
  await expecting(ask('POST', '/v1/payments/intents', input), 201)
}

async function webhooks(ask: Ask, { receiver }: RunningSystem): Promise<void> {
  const [kind, address] = ['payment.completed', `${receiver.url}/journey`]
  const { secret, ...made } = await expecting(ask('POST', `${settings}/webhooks`, { url: address, events: [kind], description: 'Journey' }), 201, { active: true })
  const path = `${settings}/webhooks/${String(made.id)}`
  await expecting(ask('GET', path), 200, made)
  await expecting(ask('POST', `${settings}/webhooks`, { url: 'http://shop.example', events: ['payment.sung'] }), 400, { error: 'validation_failed' })
  const { event_id: tested } = await expecting(ask('POST', `${path}/test`), 200, { succeeded: true, status: 204, error: null })
  const found = (request: ReceivedRequest) => request.path === '/journey' && isGenuine(request, String(secret), new Date())
  deepStrictEqual(receiver.received.filter(found).map(({ body }) => (JSON.parse(body.toString()) as Body).id), [tested])
  await expecting(ask('PATCH', path, { active: false }), 200, { active: false })
  const { id: missed } = await pay(ask)
  await expecting(ask('PATCH', path, { active: true, description: null }), 200, { active: true, description: null })
  const { id } = await pay(ask)
  const delivered = await arrived(() => receiver.received.find((request) => found(request) && request.headers['x-service-event-kind'] === kind))
  const event = JSON.parse(delivered.body.toString()) as Body & { data: { intent: Body } }
  deepStrictEqual(event.data.intent.id, id)
  await expecting(ask('GET', `/v1/payments/events/${String(event.id)}`), 200, event)
  const { events } = await expecting(ask('GET', `/v1/payments/events?kind=${kind}&limit=1`), 200)
  deepStrictEqual(events, [event])
  const { webhooks: listed } = await expecting(ask('GET', `${settings}/webhooks?limit=100`), 200)
  ok((listed as Body[]).some((entry) => entry.id === made.id))
  await resending(ask, String(made.id), () => receiver.received.filter(found).find(({ body }) => body.toString().includes(String(missed))))
  await expecting(ask('DELETE', path), 204)
  await expecting(ask('GET', path), 404, { error: 'not_found' })
}

/** What happened while the subscription was paused comes by a resend; its delivery is found, and replayed by the id that the receiver was told. */
async function resending(ask: Ask, id: string, find: () => ReceivedRequest | undefined): Promise<void> {
  const since = new Date(Date.now() - 60_000).toISOString()
  const { id: job } = await expecting(ask('POST', `${settings}/webhooks/${id}/resend`, { since }), 202, { kind: 'resend', subscription_id: id })
  const { body, headers } = await arrived(find)
  await expecting(ask('GET', `${settings}/webhook-replays/${String(job)}`), 200, { kind: 'resend', failure_reason: null })
  const { id: event } = JSON.parse(body.toString()) as Body
  const { deliveries } = await expecting(ask('GET', `${settings}/webhook-deliveries?subscription_id=${id}&event_id=${String(event)}`), 200, { total: 1 })
  const [delivery] = deliveries as Body[]
  const told = `${settings}/webhook-deliveries/${String(headers['x-service-delivery-id'])}`
  await expecting(ask('GET', told), 200, { id: delivery?.id, origin: 'resend', event_body: body.toString() })
  await expecting(ask('POST', `${told}/replay`), 200, { id: delivery?.id, event_id: event })
  await expecting(ask('GET', `${settings}/webhook-dead-letters?subscription_id=${id}`), 200, { deliveries: [], total: 0 })
}

async function rotation(ask: Ask, { receiver }: RunningSystem): Promise<void> {
  const address = `${receiver.url}/rotated`
  const { id, secret: old } = await expecting(ask('POST', `${settings}/webhooks`, { url: address, events: ['payment.failed'] }), 201, { previous_secret_expires_at: null })
  const path = `${settings}/webhooks/${String(id)}`
  const { secret } = await expecting(ask('POST', `${path}/rotate-secret`), 200, { id })
  await expecting(ask('POST', `${path}/test`), 200, { succeeded: true })
  const request = receiver.received.find((entry) => entry.path === '/rotated')
  ok(request)
  for (const [known, signedBy] of [[secret, 'current'], [old, 'previous']] as const) {
    const result = await verify(request.body, request.headers, String(known))
    deepStrictEqual(result.ok && [result.signedBy, result.event.event], [signedBy, 'webhook.test'])
  }
  await expecting(ask('GET', `${settings}/webhook-events`), 200, { api_version: 'v1' })
  await expecting(ask('GET', `${settings}/webhook-retry-policy?from=2026-11-02T00:00:00Z`), 200, { failures_to_disable: 10 })
  await expecting(ask('DELETE', path), 204)
}

async function pay(ask: Ask): Promise<Body> {
  const { id } = await expecting(ask('POST', '/v1/payments/intents', { amount_idr: 150_000, allowed_channels: ['qris'] }), 201)
  return expecting(ask('POST', `/v1/payments/intents/${String(id)}/sandbox-complete`), 200, { status: 'paid' })
}

/** What is found within the time in which the worker must have delivered. */
async function arrived<T>(find: () => T | undefined): Promise<T> {
  const until = performance.now() + deliveryLimitMs
  while (performance.now() < until) {
    const found = find()
    if (found !== undefined) return found
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error('the worker has delivered nothing')
}
