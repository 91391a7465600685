import { deepStrictEqual } from 'node:assert/strict'
import type { Tally } from './tally.ts'
import { expecting, through } from './through.ts'
import type { Ask, Body } from './through.ts'

/** What a payer's own page does: read, choose, wait, without any credential. */
export async function checkoutJourneys(ask: Ask, url: string, check: Tally['check']): Promise<void> {
  const create = (allowed_channels: string[]) =>
    expecting(ask('POST', '/v1/payments/intents', { amount_idr: 150_000, allowed_channels, return_url: 'https://shop.example/orders/1042' }), 201)
  const payer = (shortcode: unknown) => (method: string, path = '', body?: Body) =>
    through(url, method, `/v1/public/payments/intents/${String(shortcode)}${path}`, body)
  await check('a payer chooses a channel, then another, and pays', async () => {
    const { id, shortcode } = await create(['qris', 'va_bank_a', 'ewallet_wallet_a'])
    const page = payer(shortcode)
    const { channels } = await expecting(page('GET'), 200, { id, status: 'open', attempt: null })
    deepStrictEqual((channels as Body[]).map(({ code }) => code), ['qris', 'va_bank_a', 'ewallet_wallet_a'])
    await expecting(page('POST', '/va-copies'), 409, { error: 'invalid_state' })
    await expecting(page('POST', '/attempts', { channel: 'card_3ds' }), 422, { error: 'channel_unavailable' })
    const qris = await expecting(page('POST', '/attempts', { channel: 'qris' }), 201, { channel: 'qris', status: 'pending' })
    deepStrictEqual((await page('POST', '/attempts', { channel: 'qris' })).body, qris)
    const account = await expecting(page('POST', '/attempts', { channel: 'va_bank_a' }), 201, { channel: 'va_bank_a', status: 'pending' })
    await expecting(page('POST', '/va-copies'), 204)
    await expecting(page('GET'), 200, { status: 'open', attempt: account })
    await expecting(page('GET', `?attempt_id=${String(qris.id)}`), 200, { status: 'open' })
    await expecting(page('GET', '/status'), 200, { status: 'open' })
    await expecting(ask('POST', `/v1/payments/intents/${String(id)}/sandbox-complete`), 200, { status: 'paid' })
    await expecting(page('GET', '/status'), 200, { status: 'paid' })
    await expecting(page('POST', '/attempts', { channel: 'qris' }), 409, { error: 'invalid_state' })
  })
  await check('a payment that a payer may not know is unknown', async () => {
    const hidden = await expecting(ask('POST', '/v1/payments/intents', { amount_idr: 150_000, channel: 'cash' }), 201)
    for (const shortcode of [hidden.shortcode, 'zzzzzzzzzz', 'no-code-at-all']) {
      await expecting(payer(shortcode)('GET'), 404, { error: 'not_found' })
      await expecting(payer(shortcode)('GET', '/status'), 404, { error: 'not_found' })
      await expecting(payer(shortcode)('POST', '/attempts', { channel: 'qris' }), 404, { error: 'not_found' })
    }
  })
}
