import { describe, expect, test } from 'vitest'
import { startPayments } from '../contract-tests/harness/payments.ts'
import type { BenchOptions, PaymentsBench } from '../contract-tests/harness/payments.ts'
import type { components } from '../generated/payments.ts'
import { contrast } from './accent.ts'
import { readChannelDisplays } from './channelDisplay.ts'
import { checkoutPage } from './checkoutPage.ts'
import type { Checkout } from './publicCheckout.ts'

type Create = components['schemas']['PaymentIntentCreate']

/** A service with a merchant, and what a browser without script does to its pages. */
const shop = async (options: BenchOptions = {}, environment: 'sandbox' | 'production' = 'sandbox') => {
  const bench: PaymentsBench = await startPayments(options)
  const merchant = await bench.given.merchant()
  const as = await bench.given.apiKey(merchant, { environment })
  const create = async (body: Partial<Create> = {}) => {
    const answer = await bench.call('createPaymentIntent', { as, body: { amount_idr: 150_000, allowed_channels: ['qris', 'va_bank_a', 'cash'], ...body } })
    if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
    return answer.body
  }
  const get = async (path: string, headers: Record<string, string> = {}, method = 'GET') => {
    const response = await fetch(bench.url + path, { method, headers, redirect: 'manual' })
    return { status: response.status, headers: response.headers, text: await response.text() }
  }
  const post = async (path: string, form: Record<string, string>, headers: Record<string, string> = {}) => {
    const response = await fetch(bench.url + path, { method: 'POST', headers, body: new URLSearchParams(form), redirect: 'manual' })
    return { status: response.status, headers: response.headers, text: await response.text() }
  }
  return { ...bench, merchant, as, create, get, post }
}

const bench = await shop({ settings: { PROVIDER_TIMEOUT_MS: '250' } })
const { call, clock, create, database, get, post } = bench

describe('GET /pay/{shortcode}', () => {
  test('is HTML under a strict policy: nothing inline, nothing from elsewhere, kept nowhere, in no frame', async () => {
    const { shortcode } = await create({ allowed_channels: ['qris'] })
    const { headers, status, text } = await get(`/pay/${shortcode}`)
    expect(status).toBe(200)
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(headers.get('content-security-policy')).toBe(
      'default-src \'none\'; style-src \'self\'; script-src \'self\'; img-src \'self\'; connect-src \'self\'; form-action \'self\'; base-uri \'none\'; frame-ancestors \'none\'')
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('referrer-policy')).toBe('no-referrer')
    expect(text).not.toMatch(/<style|\sstyle=|\son[a-z]+=|<script(?![^>]*\ssrc="\/pay\/assets\/)/i)
    expect([...text.matchAll(/(?:src|href|action)="([^"]+)"/g)].map(([, link]) => link).filter((link) => !link?.startsWith('/pay/'))).toEqual([])
  })

  test('says who is paid, how much and until when', async () => {
    const { shortcode } = await create({ description: 'Pesanan 1042' })
    const { text } = await get(`/pay/${shortcode}`)
    for (const words of ['Toko Contoh', 'Warung Contoh', 'Rp 150.000', 'Pesanan 1042', 'WIB', 'Virtual account Bank A', 'Mode uji coba']) expect(text).toContain(words)
  })

  test('knows nothing of the merchant\'s own data and of the customer', async () => {
    const { shortcode } = await create({ reference_id: 'reference-77', metadata: { note: 'metadata-77' }, customer: { name: 'Name-77', email: 'email-77@shop.example' } })
    expect((await get(`/pay/${shortcode}`)).text).not.toMatch(/-77/)
  })

  test('speaks the language that is asked for', async () => {
    const { shortcode } = await create()
    const [id, en] = [await get(`/pay/${shortcode}`), await get(`/pay/${shortcode}`, { 'Accept-Language': 'en-GB,en;q=0.9' })]
    expect(id.text).toContain('<html lang="id">')
    expect(en.text).toContain('<html lang="en">')
    expect(en.text).toContain('Choose how to pay')
    expect(en.headers.get('vary')).toContain('Accept-Language')
  })

  test.each(['/pay/zzzzzzzzzz', '/pay/x', '/pay/%00', '/pay/%E0%A4%A', '/pay/a/b', '/pay/zzzzzzzzzz/3ds', '/pay/zzzzzzzzzz/qr.png', '/pay/'])('%s is a page that says so, 404', async (path) => {
    const { headers, status, text } = await get(path)
    expect(status).toBe(404)
    expect(headers.get('content-type')).toContain('text/html')
    expect(text).toContain('Pembayaran tidak ditemukan')
  })

  test('an attempt of another payment is not shown', async () => {
    const { shortcode } = await create()
    expect((await get(`/pay/${shortcode}?attempt=01a19a44-8acf-755d-be11-0ef82e5272bb`)).status).toBe(404)
    expect((await get(`/pay/${shortcode}?attempt=x`)).status).toBe(404)
  })

  test('HEAD is answered alike, without the page', async () => {
    const { shortcode } = await create()
    expect(await get(`/pay/${shortcode}`, {}, 'HEAD')).toMatchObject({ status: 200, text: '' })
  })

  test('405 with Allow for what a page does not do', async () => {
    const { shortcode } = await create()
    const answer = await get(`/pay/${shortcode}`, {}, 'DELETE')
    expect(answer.status).toBe(405)
    expect(answer.headers.get('allow')).toBe('GET, HEAD, POST')
  })

  test.each([
    ['paid', 'Pembayaran berhasil'], ['failed', 'Pembayaran gagal'], ['cancelled', 'Pembayaran dibatalkan'], ['reversed', 'Pembayaran dikembalikan'], ['expired', 'Waktu pembayaran habis'],
  ])('%s: says so, offers nothing to pay with, and leads back to the shop', async (status, words) => {
    const { id, shortcode } = await create({ allowed_channels: ['va_bank_a'], return_url: 'https://shop.example/done?a=1&b=2' })
    await database.query((sql) => sql`
      update payments.payment_intents set status = ${status}, uses = 1, paid_at = ${clock.now()} where id = ${id}`)
    const { text } = await get(`/pay/${shortcode}`)
    expect(text).toContain(words)
    expect(text).toContain('href="https://shop.example/done?a=1&amp;b=2"')
    expect(text).not.toMatch(/data-copy|name="channel"|Panel uji coba/)
  })
})

describe('POST /pay/{shortcode}', () => {
  test('303 to the page, which then shows what to pay with', async () => {
    const { shortcode } = await create()
    const chosen = await post(`/pay/${shortcode}`, { channel: 'va_bank_a' })
    expect(chosen).toMatchObject({ status: 303, text: '' })
    expect(chosen.headers.get('location')).toBe(`/pay/${shortcode}`)
    expect((await get(`/pay/${shortcode}`)).text).toMatch(/data-copy="38165\d{8}"/)
  })

  test('on a payment for several payers the address then says whose attempt it is', async () => {
    const { shortcode } = await create({ allowed_channels: ['ewallet_wallet_a', 'va_bank_a'], max_uses: 2 })
    const [first, second] = [await post(`/pay/${shortcode}`, { channel: 'ewallet_wallet_a' }), await post(`/pay/${shortcode}`, { channel: 'ewallet_wallet_a' })]
    const [one, two] = [first.headers.get('location') ?? '', second.headers.get('location') ?? '']
    expect(one).toMatch(new RegExp(`^/pay/${shortcode}\\?attempt=[0-9a-f-]{36}$`))
    expect(two).not.toBe(one)
    const linkOf = async (path: string) => /href="(http[^"]+\/pages\/[^"]+)"/.exec((await get(path)).text)?.[1]
    expect(await linkOf(one)).not.toBe(await linkOf(two))
    expect((await post(`/pay/${shortcode}`, { channel: 'va_bank_a' })).headers.get('location')).toBe(`/pay/${shortcode}`)
  })

  test('422 with a page that says so and offers the choice again', async () => {
    const { shortcode } = await create({ amount_idr: 111_001 })
    const { status, text } = await post(`/pay/${shortcode}`, { channel: 'va_bank_a' })
    expect(status).toBe(422)
    expect(text).toContain('Penyedia pembayaran menolak cara bayar ini')
    expect(text).toContain('value="qris"')
  })

  test('503 with Retry-After while the provider is silent; the same again is answered', async () => {
    const { shortcode } = await create({ amount_idr: 111_002 })
    const silent = await post(`/pay/${shortcode}`, { channel: 'va_bank_a' })
    expect(silent.status).toBe(503)
    expect(silent.headers.get('retry-after')).toBe('2')
    expect(silent.text).toContain('tidak akan ditagih dua kali')
    expect((await post(`/pay/${shortcode}`, { channel: 'va_bank_a' })).status).toBe(303)
  })

  test('what has ended meanwhile is shown as it is', async () => {
    const { shortcode } = await create({ expires_in_seconds: 60 })
    clock.advance(60_001)
    expect((await post(`/pay/${shortcode}`, { channel: 'qris' })).status).toBe(303)
    expect((await get(`/pay/${shortcode}`)).text).toContain('Waktu pembayaran habis')
  })

  test('a form that is none of ours changes nothing', async () => {
    const { id, shortcode } = await create()
    for (const form of [{}, { channel: '' }, { channel: 'x'.repeat(5000) }] as Record<string, string>[]) {
      expect((await post(`/pay/${shortcode}`, form)).status).toBeLessThan(500)
    }
    expect((await fetch(`${bench.url}/pay/${shortcode}`, { method: 'POST', body: '{}', headers: { 'Content-Type': 'application/json' }, redirect: 'manual' })).status).toBe(303)
    expect(await database.query((sql) => sql`select from payments.payment_attempts where intent_id = ${id}`)).toHaveLength(0)
  })
})

describe('the sandbox panel', () => {
  const panelOf = async (shortcode: string) => /name="attempt" value="([^"]+)"/.exec((await get(`/pay/${shortcode}`)).text)?.[1] ?? ''

  test.each([['complete', 'paid'], ['decline', 'open'], ['expire', 'open']])('%s goes through the provider and its signed callback', async (move, status) => {
    const { id, shortcode } = await create()
    await post(`/pay/${shortcode}`, { channel: 'va_bank_a' })
    expect((await post(`/pay/${shortcode}/sandbox`, { attempt: await panelOf(shortcode), move })).status).toBe(303)
    expect((await call('getPublicCheckoutStatus', { params: { shortcode } })).body).toMatchObject({ status })
    expect(await database.query((sql) => sql`select from payments.provider_callbacks where intent_id = ${id}`)).toHaveLength(1)
  })

  test('cash is taken by it, and is neither declined nor expired', async () => {
    const { shortcode } = await create()
    await post(`/pay/${shortcode}`, { channel: 'cash' })
    expect((await post(`/pay/${shortcode}/sandbox`, { attempt: await panelOf(shortcode), move: 'decline' })).status).toBe(409)
    expect((await post(`/pay/${shortcode}/sandbox`, { attempt: await panelOf(shortcode), move: 'complete' })).status).toBe(303)
    expect((await call('getPublicCheckoutStatus', { params: { shortcode } })).body).toMatchObject({ status: 'paid' })
  })

  test('moves no attempt of another payment, none that has ended, and knows no other move', async () => {
    const [one, other] = [await create(), await create({ allowed_channels: ['qris'] })]
    const foreign = await panelOf(other.shortcode)
    expect((await post(`/pay/${one.shortcode}/sandbox`, { attempt: foreign, move: 'complete' })).status).toBe(404)
    expect((await post(`/pay/${other.shortcode}/sandbox`, { attempt: foreign, move: 'reverse' })).status).toBe(409)
    expect((await post(`/pay/${other.shortcode}/sandbox`, { attempt: foreign, move: 'complete' })).status).toBe(303)
    expect((await post(`/pay/${other.shortcode}/sandbox`, { attempt: foreign, move: 'complete' })).status).toBe(409)
  })

  test('an amount that means silence says so', async () => {
    const { shortcode } = await create({ amount_idr: 111_015, allowed_channels: ['va_bank_a'] })
    const { status, text } = await post(`/pay/${shortcode}/sandbox`, { attempt: await panelOf(shortcode), move: 'complete' })
    expect({ status, said: text.includes('Penyedia simulasi belum melapor') }).toEqual({ status: 200, said: true })
  })

  test('is not there in production, nor are channels that nobody serves', async () => {
    const production = await shop({ settings: { BAYAR_ENV: 'production' } }, 'production')
    const { shortcode } = await production.create()
    await production.post(`/pay/${shortcode}`, { channel: 'cash' })
    const { text } = await production.get(`/pay/${shortcode}`)
    expect(text).toContain('Bayar tunai kepada penjual')
    expect(text).not.toMatch(/Panel|sandbox|uji coba|value="qris"/)
    const { body } = await production.call('getPublicCheckoutStatus', { params: { shortcode } })
    const answer = await production.post(`/pay/${shortcode}/sandbox`, { attempt: String((body as { attempt_id: string }).attempt_id), move: 'complete' })
    expect(answer.status).toBe(404)
    expect((await production.call('getPublicCheckoutStatus', { params: { shortcode } })).body).toMatchObject({ status: 'open' })
  })
})

describe('/pay/{shortcode}/3ds', () => {
  const challenge = async (allowed_channels = ['card_3ds', 'qris']) => {
    const intent = await create({ allowed_channels })
    if (allowed_channels.length > 1) await post(`/pay/${intent.shortcode}`, { channel: 'card_3ds' })
    return intent
  }

  test('shows the two test codes and Cancel', async () => {
    const { shortcode } = await challenge()
    const { text } = await get(`/pay/${shortcode}/3ds`)
    for (const words of ['value="4000000000001091"', 'value="4000000000001109"', 'name="cancel"']) expect(text).toContain(words)
  })

  test.each([['4000000000001091', 'paid', 'succeeded'], ['4000000000001109', 'open', 'failed']])('%s makes it %s', async (auth_code, status, attempt_status) => {
    const { shortcode } = await challenge()
    const answer = await post(`/pay/${shortcode}/3ds`, { auth_code })
    expect(answer.status).toBe(303)
    expect(answer.headers.get('location')).toBe(`/pay/${shortcode}`)
    expect((await call('getPublicCheckoutStatus', { params: { shortcode } })).body).toMatchObject({ status, attempt_status })
  })

  test.each([
    ['and the payment with it, of a card alone', ['card_3ds'], 'failed'], ['and leaves a payment with another channel open', ['card_3ds', 'qris'], 'open'],
  ])('Cancel fails the attempt, %s', async (_, channels, status) => {
    const { id, shortcode } = await challenge(channels)
    const cancel = /name="cancel" value="([^"]+)"/.exec((await get(`/pay/${shortcode}/3ds`)).text)?.[1] ?? ''
    expect((await post(`/pay/${shortcode}/3ds`, { cancel })).status).toBe(303)
    expect(await database.query((sql) => sql`select status, failure_code from payments.payment_attempts where intent_id = ${id}`))
      .toMatchObject([{ status: 'failed', failure_code: 'CHALLENGE_ABANDONED' }])
    expect((await call('getPublicCheckoutStatus', { params: { shortcode } })).body).toMatchObject({ status, attempt_status: 'failed' })
    expect(await database.query((sql) => sql`select kind from payments.events where intent_id = ${id} order by position`))
      .toMatchObject([{ kind: 'payment_intent.created' }, { kind: 'payment.failed' }])
  })

  test('another code is refused on the page', async () => {
    const { shortcode } = await challenge()
    expect((await post(`/pay/${shortcode}/3ds`, { auth_code: '1234' })).status).toBe(400)
    expect((await call('getPublicCheckoutStatus', { params: { shortcode } })).body).toMatchObject({ attempt_status: 'pending' })
  })

  test('without a challenge it says that none waits', async () => {
    const { shortcode } = await create()
    const { status, text } = await get(`/pay/${shortcode}/3ds`)
    expect(status).toBe(200)
    expect(text).toContain('Tidak ada verifikasi kartu yang menunggu')
    expect(text).not.toContain('auth_code')
  })
})

describe('limits', () => {
  const flood = async (made: Awaited<ReturnType<typeof shop>>, path: string, address: (at: number) => string) => {
    const answers = await Promise.all(Array.from({ length: 12 }, (_, at) => made.get(path, { 'X-Forwarded-For': address(at) })))
    return answers.map(({ status }) => status)
  }

  test('count the payer\'s address through a trusted proxy, not the page\'s', async () => {
    const proxied = await shop({ settings: { RATE_LIMIT_PER_ADDRESS: '3', TRUSTED_PROXIES: '127.0.0.1' } })
    const { shortcode } = await proxied.create()
    expect(await flood(proxied, `/pay/${shortcode}`, (at) => `203.0.113.${at}`)).not.toContain(429)
    expect(await flood(proxied, `/pay/${shortcode}`, () => '203.0.113.200')).toContain(429)
    expect((await proxied.get(`/pay/${shortcode}`, { 'X-Forwarded-For': '203.0.113.201' })).status).toBe(200)
  })

  test('are not escaped by a header that nobody trusted has set, and a 429 is a page with Retry-After', async () => {
    const open = await shop({ settings: { RATE_LIMIT_PER_ADDRESS: '3' } })
    const { shortcode } = await open.create()
    expect(await flood(open, `/pay/${shortcode}`, (at) => `203.0.113.${at}`)).toContain(429)
    const answers = await Promise.all(Array.from({ length: 8 }, () => open.get(`/pay/${shortcode}`)))
    const refused = answers.find(({ status }) => status === 429)
    expect(refused?.text).toContain('Terlalu banyak permintaan')
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0)
  })
})

describe('files', () => {
  test('style and script are kept for ever under names that change with them', async () => {
    const { shortcode } = await create()
    const { text } = await get(`/pay/${shortcode}`)
    for (const [, path = ''] of text.matchAll(/(?:src|href)="(\/pay\/assets\/[^"]+)"/g)) {
      const { headers, status } = await get(path)
      expect(status).toBe(200)
      expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
      expect(headers.get('content-type')).toMatch(path.endsWith('.js') ? /^text\/javascript/ : /^text\/css/)
    }
  })

  test.each([['ffffff', '#000'], ['000000', '#fff'], ['0f766e', '#fff'], ['fde047', '#000'], ['808080', '#000']])('on the accent #%s text is %s, and the accent as text is readable in light and in dark', async (accent, ink) => {
    const { text } = await get(`/pay/assets/accent-${accent}.css`)
    expect(text).toMatch(new RegExp(`^:root \\{ --accent: #${accent}; --on-accent: ${ink}; `))
    const [light = '', dark = ''] = [...text.matchAll(/--accent-ink: (#[0-9a-f]{6})/g)].map(([, colour]) => colour)
    for (const ground of ['#ffffff', '#f4f6f8']) expect(contrast(light, ground)).toBeGreaterThanOrEqual(4.5)
    for (const ground of ['#0f1318', '#181d25']) expect(contrast(dark, ground)).toBeGreaterThanOrEqual(4.5)
  })

  test.each(['accent-red.css', 'accent-ffffff}.css', '../checkoutPages.ts', '%2e%2e%2fcheckoutPages.ts', 'checkout.css'])('%s is not there', async (name) => {
    expect((await get(`/pay/assets/${name}`)).status).toBe(404)
  })

  test('the QR code can be kept as a picture', async () => {
    const { shortcode } = await create({ allowed_channels: ['qris'] })
    const response = await fetch(`${bench.url}/pay/${shortcode}/qr.png`)
    expect(response.headers.get('content-type')).toBe('image/png')
    expect(Buffer.from(await response.arrayBuffer()).subarray(1, 4).toString()).toBe('PNG')
    expect((await get(`/pay/${(await create()).shortcode}/qr.png`)).status).toBe(404)
  })
})

describe('whatever a payment says', () => {
  const checkout: Checkout = {
    id: 'i', shortcode: 'k7m2x9q4ta', environment: 'production', status: 'open', late: false, amount_idr: 1, amount_open: false, description: null,
    merchant: { name: 'M' }, brand: { display_name: 'M', logo_url: null, accent_hex: '#0F766E' }, channels: [], attempt: null, intent_expires_at: null, return_url: null,
  }
  const render = async (changes: Partial<Checkout>) => (await checkoutPage({
    checkout: { ...checkout, ...changes }, frame: { language: 'en', here: '/pay/k7m2x9q4ta', logoPath: null }, displays: readChannelDisplays(''), attemptId: undefined, consequence: null, hasPanel: false, now: new Date(0),
  })).markup
  const hostile = '</script><script>alert(1)</script>" onload="x\' style=\'x'

  test('its text is text, in every place', async () => {
    const attempt = { id: hostile, channel: hostile, kind: hostile, status: 'pending', amount_idr: 1, attempt_expires_at: null, va_number: hostile, va_bank: hostile }
    const markup = await render({
      status: 'open', description: hostile, merchant: { name: hostile }, brand: { display_name: hostile, logo_url: hostile, accent_hex: hostile },
      channels: [{ code: hostile, kind: hostile, name_en: hostile, name_id: hostile }], attempt,
    })
    expect(markup).not.toContain('<script>')
    // What stands in quotes is a value, and holds no quote of its own.
    expect(markup.replace(/"[^"]*"/g, '""')).not.toMatch(/<[^>]*\s(?:onload|style)=/)
    expect(markup).toContain('&lt;/script&gt;')
  })

  test('a state that the page does not know is explained neutrally', async () => {
    for (const status of ['on_hold', 'constructor', '__proto__']) expect(await render({ status })).toContain('cannot be explained here yet')
  })

  test('a channel that the page does not know is told so', async () => {
    const attempt = { id: 'a', channel: 'crypto', kind: 'crypto', status: 'pending', amount_idr: 1, attempt_expires_at: null }
    expect(await render({ attempt })).toContain('cannot be shown on this page yet')
  })

  test.each(['javascript:alert(1)', 'data:text/html,x'])('%s is no way back and no deeplink', async (address) => {
    const attempt = { id: 'a', channel: 'w', kind: 'ewallet', status: 'pending', amount_idr: 1, attempt_expires_at: null, redirect_url: address }
    expect(await render({ return_url: address, attempt })).not.toContain(address)
  })

  test('money that came late is told so', async () => {
    expect(await render({ status: 'paid', late: true })).toContain('The money arrived after the deadline')
  })

  test('with nothing to choose it says so', async () => {
    expect(await render({})).toContain('There is no way to pay at present')
  })
})
