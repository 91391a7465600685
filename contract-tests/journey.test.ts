import { setTimeout as wait } from 'node:timers/promises'
import createClient from 'openapi-fetch'
import { afterAll, describe, expect, test } from 'vitest'
import type { components, paths } from '../generated/payments.ts'
import { startBoss } from '../jobs/boss.ts'
import { startWebhookWorker } from '../jobs/webhookWorker.ts'
import { phone, startBrowser } from './harness/browser.ts'
import { startPayments } from './harness/payments.ts'
import { startReceiver } from './harness/receiver.ts'
import type { ReceivedRequest } from './harness/receiver.ts'
import { isGenuine, trusting, webhooksOf } from './harness/webhooks.ts'

type Intent = components['schemas']['PaymentIntent']
interface Event {
  id: string
  event: string
  data: { intent: Pick<Intent, 'id' | 'status' | 'paid_idr'>, attempt?: { channel: string, status: string, amount_idr: number } }
}

const receiver = await startReceiver()
const bench = await startPayments({ settings: { ...trusting(receiver), PROVIDER_TIMEOUT_MS: '5000' } })
const { clock, databaseUrl, given } = bench
const hooks = webhooksOf(bench, receiver)
const boss = await startBoss(databaseUrl, { worker: true })
const reported: unknown[] = []
const worker = startWebhookWorker({
  ...hooks.settings, boss, runtime: { ...hooks.settings.runtime, sleep: (milliseconds) => wait(milliseconds, undefined, { ref: false }) },
  report: (error) => reported.push(error),
})
afterAll(async () => {
  await worker.stop()
  await boss.stop(100)
})
const browser = await startBrowser()

const offered = ['qris', 'va_bank_a', 'ewallet_wallet_a', 'otc_store_a', 'paylater_a', 'card_3ds'] as const
const amount = 150_000
const eventOf = ({ body }: ReceivedRequest) => JSON.parse(body.toString()) as Event

/** A merchant with a receiver of its own, an intent made by a client with the generated types, and its checkout on a small phone. */
async function opened(channel: typeof offered[number]) {
  const merchant = await given.merchant()
  const path = `/${merchant.id}`
  const { secret } = await hooks.subscribe(merchant, ['payment_intent.created', 'payment.completed', 'payment.failed'], receiver.url + path)
  const client = createClient<paths>({ baseUrl: bench.url, headers: { Authorization: `Bearer ${await given.apiKey(merchant)}` } })
  const { data: intent, error } = await client.POST('/v1/payments/intents', {
    params: { header: { 'Idempotency-Key': crypto.randomUUID() } },
    body: { amount_idr: amount, description: 'Dua bungkus kopi', reference_id: `order-${channel}`, allowed_channels: [...offered] },
  })
  if (!intent?.checkout_url) throw new Error(`no checkout: ${JSON.stringify(error)}`)
  const { page, done } = await browser.open()
  await page.goto(intent.checkout_url)
  await page.locator(`button[value="${channel}"]`).click()
  return {
    page, intent,
    status: async () => (await client.GET('/v1/payments/intents/{id}', { params: { path: { id: intent.id } } })).data?.status,
    /** The events that have come for this merchant, one of each of `kinds` in that order, each signature judged. */
    async events(...kinds: string[]): Promise<Event[]> {
      const own = () => receiver.received.filter((request) => request.path === path)
      await expect.poll(() => own().map((request) => eventOf(request).event).toSorted(), { timeout: 15_000 }).toEqual(kinds.toSorted())
      for (const request of own()) {
        expect(isGenuine(request, secret, clock.now())).toBe(true)
        expect(request.headers['x-service-event-kind']).toBe(eventOf(request).event)
      }
      expect(new Set(own().map(({ headers }) => headers['x-service-delivery-id'])).size).toBe(kinds.length)
      return own().map(eventOf).toSorted((one, other) => kinds.indexOf(one.event) - kinds.indexOf(other.event))
    },
    async end() {
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(phone.width)
      await done([new URL(bench.url).host])
      expect(reported).toEqual([])
    },
  }
}

describe('created by the generated types, chosen and paid on the page, told by a signed webhook', () => {
  test.each(offered.filter((channel) => channel !== 'card_3ds'))('%s', async (channel) => {
    const { end, events, intent, page, status } = await opened(channel)
    await page.getByRole('heading', { name: 'Panel uji coba' }).waitFor()
    await page.getByRole('button', { name: 'Bayar', exact: true }).click()
    await page.getByRole('heading', { name: 'Pembayaran berhasil' }).waitFor()
    expect(await status()).toBe('paid')
    const [created, completed] = await events('payment_intent.created', 'payment.completed')
    expect(created).toMatchObject({ event: 'payment_intent.created', data: { intent: { id: intent.id, status: 'open' } } })
    expect(completed).toMatchObject({
      event: 'payment.completed',
      data: { intent: { id: intent.id, status: 'paid', paid_idr: amount }, attempt: { channel, status: 'succeeded', amount_idr: amount } },
    })
    await end()
  })

  test.each([
    ['approved', 'Setujui dengan', 'Pembayaran berhasil', 'paid', 'payment.completed', 'succeeded'],
    ['declined', 'Tolak dengan', 'Pembayaran sebelumnya ditolak', 'open', 'payment.failed', 'failed'],
  ])('card_3ds, the challenge being %s', async (_title, button, shows, ends, kind, attempt) => {
    const { end, events, intent, page, status } = await opened('card_3ds')
    await page.getByRole('link', { name: 'Lanjut ke verifikasi kartu' }).click()
    await page.getByRole('button', { name: button }).click()
    await page.getByText(shows).first().waitFor()
    expect(await status()).toBe(ends)
    const [, told] = await events('payment_intent.created', kind)
    expect(told).toMatchObject({ event: kind, data: { intent: { id: intent.id, status: ends }, attempt: { channel: 'card_3ds', status: attempt } } })
    await end()
  })
})
