import addFormats from 'ajv-formats'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, test } from 'vitest'
import { intentActs } from '../../../contract-tests/harness/intentActs.ts'
import { startPayments } from '../../../contract-tests/harness/payments.ts'
import { startReceiver } from '../../../contract-tests/harness/receiver.ts'
import { trusting, webhooksOf } from '../../../contract-tests/harness/webhooks.ts'
import { eventKinds } from '../../../domain/webhookEvents.ts'
import document from '../../../generated/payments.json' with { type: 'json' }

const receiver = await startReceiver()
const bench = await startPayments({ settings: trusting(receiver) })
const { call, configuration, given, url } = bench
const merchant = await given.merchant()
const as = await given.token(merchant, 'merchant_owner', `merchant:${merchant.id}`)
const { created, event } = intentActs(bench, await given.apiKey(merchant))

const answer = await call('getWebhookEventCatalogue', { as })
if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
const { api_version, events, test_event: testEvent } = answer.body

// Compiled as any receiver's validator would: nothing is known but the schema itself.
const validators = new Ajv2020({ strict: true, allErrors: true, formats: { int64: true }, keywords: ['example'] })
addFormats.default(validators)

/** The situations that the examples show, brought about by operations. */
const situations: Record<string, () => Promise<unknown>> = {
  'payment_intent.created': async () => event((await created({ amount_idr: 150_000, allowed_channels: ['qris', 'va_bank_a'] })).id, 'payment_intent.created'),
  'payment_intent.expired': async () => {
    const { id } = await created({ amount_idr: 150_000, allowed_channels: ['qris', 'va_bank_a'] })
    await call('sandboxExpirePaymentIntent', { as, params: { id } })
    return event(id, 'payment_intent.expired')
  },
  'payment.completed': async () => {
    const { id } = await created({ amount_idr: 150_000, allowed_channels: ['va_bank_a'] })
    await call('sandboxCompletePaymentIntent', { as, params: { id } })
    return event(id, 'payment.completed')
  },
  'payment.failed': async () => {
    const { id } = await created({ amount_idr: 150_000, allowed_channels: ['card_3ds'] })
    await call('completeThreeDsChallenge', { params: { id }, query: { auth_code: configuration.SANDBOX_DECLINE_CODE } })
    return event(id, 'payment.failed')
  },
  'webhook.test': async () => {
    const { id } = await webhooksOf(bench, receiver).subscribe(merchant, ['payment.failed'])
    await call('testWebhookSubscription', { as, params: { id } })
    return JSON.parse(String(receiver.received.at(-1)?.body)) as unknown
  },
}

/** A body without what differs from one event to the next: identifiers, times, codes, the deployment's address. */
function masked(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(masked)
  if (value !== null && typeof value === 'object') return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, masked(member)]))
  if (typeof value !== 'string') return value
  return value.replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<id>').replace(/\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z/g, '<time>')
    .replace('https://api.sandbox.bayar.example', '<address>').replace(url, '<address>')
    .replace(/\/pay\/[0-9a-z]{10}/, '/pay/<code>').replace(/^[0-9a-z]{10}$/, '<code>')
    .replace(/^\d{10,}$/, '<digits>').replace(/^SIM[0-9A-F]{20}/, '<reference>')
}

test('200: the kinds of the document, and the test event apart from them', () => {
  const { 'webhook.test': _, ...told } = document['x-webhooks']
  expect(api_version).toBe('v1')
  expect(events.map(({ kind }) => kind)).toEqual(Object.keys(told))
  expect(testEvent.kind).toBe('webhook.test')
  expect(Object.keys(situations).sort()).toEqual([...events, testEvent].map(({ kind }) => kind).sort())
})

test('every kind in it can be subscribed to; of those that can be, only these two are not sent yet', () => {
  const kinds = events.map(({ kind }) => kind)
  expect(kinds.filter((kind) => !(eventKinds as readonly string[]).includes(kind))).toEqual([])
  expect(eventKinds.filter((kind) => !kinds.includes(kind))).toEqual(['payment.refunded', 'settlement.completed'])
})

describe.each([...events, testEvent].map((entry) => [entry.kind, entry] as const))('%s', (kind, { schema, example, summary, description }) => {
  const validate = validators.compile(schema)

  test('its schema stands alone and says JSON Schema 2020-12, and is told what it is', () => {
    expect(schema).toMatchObject({ $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object' })
    expect(JSON.stringify(schema)).not.toMatch(/\$ref|nullable|"x-/)
    expect(summary.length * description.length).toBeGreaterThan(0)
  })

  test('its example satisfies its schema', () => {
    expect(validate(example), JSON.stringify(validate.errors)).toBe(true)
    expect(example.event).toBe(kind)
  })

  test('its schema refuses a body of another kind, with a member less or with one more', () => {
    const { merchant_id: _, ...less } = example
    for (const wrong of [{ ...example, event: 'payment.sung' }, less, { ...example, more: 1 }]) expect(validate(wrong)).toBe(false)
  })

  test('what is really sent in the situation of the example satisfies the schema and is the example, identifiers and times aside', async () => {
    const sent = await situations[kind]?.()
    expect(validate(sent), JSON.stringify(validate.errors)).toBe(true)
    expect(masked(sent)).toEqual(masked(example))
  })
})

test('401 and 403: no credential, an API key', async () => {
  expect((await call('getWebhookEventCatalogue')).status).toBe(401)
  expect((await call('getWebhookEventCatalogue', { as: await given.apiKey(merchant) })).status).toBe(403)
})
