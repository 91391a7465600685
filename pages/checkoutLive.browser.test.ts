import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import { phone, startBrowser } from '../contract-tests/harness/browser.ts'
import { checkoutStates } from '../contract-tests/harness/checkoutStates.ts'
import { startPayments } from '../contract-tests/harness/payments.ts'
import { openReceiver } from '../contract-tests/harness/tlsReceiver.ts'
import { channelCodes } from '../domain/channels.ts'

/** The head of a PNG of 96 x 96, as large as a logo may be. */
const logo = Buffer.alloc(12_288)
logo.write('\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x60\0\0\0\x60', 'latin1')
const elsewhere = await openReceiver(({ path }, response) => response.writeHead(200).end(path === '/logo.png' ? logo : '<svg/>'))
afterAll(() => elsewhere.close())

const settings = { PROVIDER_TIMEOUT_MS: '5000' }
const bench = await startPayments({ settings })
const { clock, database, settled, simulator, url } = bench
const merchant = await bench.given.merchant()
const { create } = await checkoutStates(bench, merchant)
const browser = await startBrowser()
const hosts = [new URL(url).host]
const desktop = { width: 1280, height: 800 } as const

const pay = async (intentId: string) => {
  const [row] = await database.query((sql) => sql<{ charge_reference: string }[]>`
    select charge_reference from payments.payment_attempts where intent_id = ${intentId} and status = 'pending'`)
  await settled(simulator.pay(row?.charge_reference ?? ''))
}

/** Starts to count what moves on the page without the payer's doing. */
const watchShifts = (page: Page) => page.addInitScript(`
  window.shifts = []
  new PerformanceObserver((list) => { for (const { value } of list.getEntries()) window.shifts.push(value) }).observe({ type: 'layout-shift', buffered: true })`)
const shiftsOf = (page: Page): Promise<number[]> => page.evaluate('window.shifts')

describe('a status that changes', () => {
  test.each([['phone', phone], ['wide screen', desktop]])('moves nothing on a %s, from the first paint to paid', async (_, viewport) => {
    const { checkout_url, id } = await create({ allowed_channels: ['va_bank_a'] })
    const { done, page } = await browser.open({ viewport })
    await watchShifts(page)
    await page.goto(checkout_url ?? '')
    await page.locator('.folds summary').first().waitFor()
    await pay(id)
    await page.getByRole('heading', { name: 'Pembayaran berhasil' }).waitFor()
    expect(await shiftsOf(page)).toEqual([])
    await done(hosts)
  })

  test('is told to screen readers in one sentence, in place, without a new document', async () => {
    const { checkout_url, id } = await create({ allowed_channels: ['va_bank_a'] })
    const { done, page } = await browser.open()
    await page.goto(checkout_url ?? '')
    await page.evaluate('window.sameDocument = true')
    expect(await page.getByRole('status').first().textContent()).toBe('')
    await pay(id)
    await page.getByRole('heading', { name: 'Pembayaran berhasil' }).waitFor()
    expect(await page.getByRole('status').first().textContent()).toBe('Pembayaran berhasil. Terima kasih. Pembayaran Anda sudah diterima.')
    expect(await page.evaluate('window.sameDocument')).toBe(true)
    expect(await page.evaluate('document.activeElement === document.body')).toBe(true)
    await done(hosts)
  })

  test('keeps the payer\'s focus where it is still there, and leads it to the news where it is not', async () => {
    const [kept, gone] = [await create({ allowed_channels: ['va_bank_a'] }), await create({ allowed_channels: ['va_bank_a'] })]
    const { done, page } = await browser.open()
    await page.goto(kept.checkout_url ?? '')
    await page.getByRole('link', { name: 'Kembali ke toko' }).focus()
    await pay(kept.id)
    await page.getByRole('heading', { name: 'Pembayaran berhasil' }).waitFor()
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Kembali ke toko')
    await page.goto(gone.checkout_url ?? '')
    await page.getByRole('button', { name: 'Salin nomor' }).focus()
    await pay(gone.id)
    await page.getByRole('heading', { name: 'Pembayaran berhasil' }).waitFor()
    expect(await page.evaluate('document.activeElement.id')).toBe('state')
    await done(hosts)
  })

  test('is asked for ever more seldom, 15 seconds apart at most, with pauses as long as the service asks for', async () => {
    const { checkout_url } = await create({ allowed_channels: ['va_bank_a'] })
    const { done, page } = await browser.open()
    // Pauses are told, and cut short.
    await page.addInitScript(`
      window.pauses = []
      const wait = window.setTimeout
      window.setTimeout = (act, ms) => { if (ms >= 1500) window.pauses.push(ms); return wait(act, ms >= 1500 ? 10 : ms) }`)
    let asked = 0
    await page.route('**/status*', async (route) => {
      asked += 1
      await (asked === 14 ? route.fulfill({ status: 503, headers: { 'Retry-After': '30' } }) : route.continue())
    })
    await page.goto(checkout_url ?? '')
    await expect.poll(() => page.evaluate('window.pauses.length'), { timeout: 10_000 }).toBeGreaterThanOrEqual(16)
    const pauses: number[] = await page.evaluate('window.pauses.slice(0, 16)')
    expect(pauses[0]).toBe(2000)
    for (const [at, pause] of pauses.entries()) {
      if (at === 14) expect(pause).toBeGreaterThanOrEqual(30_000)
      // Half a second of chance keeps many payers from asking at once.
      else expect([at, pause >= Math.min(15_000, 2000 * 1.3 ** (at - 1)), pause <= 15_500]).toEqual([at, true, true])
    }
    await done(hosts, /503/)
  })
})

describe('the first paint', () => {
  const bytesOf = async (address: string): Promise<number> => {
    const { done, page } = await browser.open()
    const session = await page.context().newCDPSession(page)
    let bytes = 0
    session.on('Network.loadingFinished', ({ encodedDataLength }) => {
      bytes += encodedDataLength
    })
    await session.send('Network.enable')
    await page.goto(address, { waitUntil: 'networkidle' })
    await done(hosts)
    return bytes
  }

  test.each([['the choice of every channel', [...channelCodes], null], ['a QR code', ['qris'], null], ['a virtual account with its steps', ['va_bank_c'], null], ['a barcode', ['otc_store_b'], null]])('%s is under 50,000 bytes over the wire, with headers, uncompressed', async (_, allowed_channels) => {
    const { checkout_url } = await create({ allowed_channels })
    const bytes = await bytesOf(checkout_url ?? '')
    expect(bytes).toBeGreaterThan(5000)
    // What is configured comes on top: a logo of the merchant and those of channels, 12,288 and 8,192 bytes at most.
    expect(bytes).toBeLessThan(50_000 - 12_288 - 8192)
  })
})

test('a merchant\'s logo comes from our own origin; the browser asks no other host, and a picture that is none is left out', async () => {
  const authority = join(mkdtempSync(join(tmpdir(), 'bayar-logo-')), 'ca.pem')
  writeFileSync(authority, elsewhere.certificate)
  const logoUrl = { path: '/logo.png' }
  const branded = await startPayments({
    settings: { WEBHOOK_ALLOW_PRIVATE: 'on', WEBHOOK_CA_FILE: authority },
    tenant: (id) => ({ id, name: 'Toko', status: 'active', branding: { display_name: 'Toko', logo_url: new URL(elsewhere.url).origin + logoUrl.path, accent_hex: '#FDE047' }, modules: ['payments'] }),
  })
  const own = await checkoutStates(branded, await branded.given.merchant())
  const { checkout_url, shortcode } = await own.create({ allowed_channels: ['qris'] })
  const { done, page } = await browser.open()
  await page.goto(checkout_url ?? '')
  expect(await page.locator('.logo').getAttribute('src')).toBe(`/pay/${shortcode}/logo`)
  expect(await page.locator('.monogram').count()).toBe(0)
  const served = await fetch(`${branded.url}/pay/${shortcode}/logo`)
  expect([served.headers.get('content-type'), served.headers.get('x-content-type-options')]).toEqual(['image/png', 'nosniff'])
  expect(Buffer.from(await served.arrayBuffer()).equals(logo)).toBe(true)
  logoUrl.path = '/none'
  const other = await checkoutStates(branded, await branded.given.merchant())
  const { shortcode: without } = await other.create({ allowed_channels: ['qris'] })
  expect(await (await fetch(`${branded.url}/pay/${without}`)).text()).toContain('class="monogram"')
  expect((await fetch(`${branded.url}/pay/${without}/logo`)).status).toBe(404)
  await done([new URL(branded.url).host])
})

describe('the language', () => {
  test('is switched where one is, without script, and remembered for the next page', async () => {
    const { checkout_url } = await create({ allowed_channels: ['va_bank_a', 'card_3ds'] })
    const { done, page } = await browser.open({ javaScriptEnabled: false })
    await page.goto(checkout_url ?? '')
    await page.locator('button[value="card_3ds"]').click()
    await page.getByRole('link', { name: 'Lanjut ke verifikasi kartu' }).click()
    await page.getByRole('link', { name: 'English' }).click()
    await page.getByRole('heading', { name: 'Card verification' }).waitFor()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('heading', { name: 'The last payment was declined' }).waitFor()
    const [cookie, ...others] = await page.context().cookies()
    expect(others).toEqual([])
    expect(cookie).toMatchObject({ value: 'en', path: '/pay', httpOnly: true, sameSite: 'Lax' })
    await page.getByRole('link', { name: 'Bahasa Indonesia' }).click()
    await page.getByRole('heading', { name: 'Pembayaran sebelumnya ditolak' }).waitFor()
    await done(hosts)
  })

  test('an address or cookie that names none of ours changes nothing', async () => {
    const { shortcode } = await create()
    const response = await fetch(`${url}/pay/${shortcode}?lang=fr`, { headers: { Cookie: 'a=1; bayar_language=../x', 'Accept-Language': 'en' } })
    expect(response.headers.get('set-cookie')).toBeNull()
    expect(await response.text()).toContain('<html lang="en">')
  })
})

describe('on paper', () => {
  test.each([['qris', '.qr'], ['va_bank_a', '.number'], ['otc_store_a', '.bars']])('%s: amount, deadline, what to pay with and every step; nothing to press', async (channel, shows) => {
    const { checkout_url } = await create({ allowed_channels: [channel, 'cash'] })
    const { done, page } = await browser.open({ javaScriptEnabled: false, colorScheme: 'dark' })
    await page.goto(checkout_url ?? '')
    await page.locator(`button[value="${channel}"]`).click()
    await page.emulateMedia({ media: 'print' })
    for (const place of ['.amount', 'time', shows]) expect([place, await page.locator(place).first().isVisible()]).toEqual([place, true])
    expect(await page.locator('button:visible, a.button:visible, a:visible, .panel:visible').count()).toBe(0)
    if (channel !== 'qris') expect(await page.locator('.folds li').first().isVisible()).toBe(true)
    expect(await page.evaluate('[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]')).toEqual(['rgb(0, 0, 0)', 'rgb(255, 255, 255)'])
    await done(hosts)
  })

  test('by the print button the folds are open, and closed again after', async () => {
    const { checkout_url } = await create({ allowed_channels: ['va_bank_a'] })
    const { done, page } = await browser.open()
    await page.goto(checkout_url ?? '')
    await page.evaluate('window.dispatchEvent(new Event("beforeprint"))')
    expect(await page.locator('.folds details[open]').count()).toBe(3)
    await page.evaluate('window.dispatchEvent(new Event("afterprint"))')
    expect(await page.locator('.folds details[open]').count()).toBe(0)
    await done(hosts)
  })
})

test('a deadline counts down by the server\'s clock', async () => {
  const { checkout_url } = await create({ allowed_channels: ['qris'] })
  const { done, page } = await browser.open()
  await page.goto(checkout_url ?? '')
  await page.getByText(/^29:5\d$/).waitFor()
  clock.advance(60_000)
  await page.reload()
  expect(await page.getByRole('timer').textContent()).toMatch(/^2[89]:\d\d$/)
  await done(hosts)
})

test('the QR code is drawn by shapes, and can be kept as such', async () => {
  const { checkout_url } = await create({ allowed_channels: ['qris'] })
  const { done, page } = await browser.open()
  await page.goto(checkout_url ?? '')
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'Simpan sebagai SVG' }).click()])
  expect(download.suggestedFilename()).toBe('qris.svg')
  const response = await fetch(`${checkout_url}/qr.svg`)
  expect(response.headers.get('content-type')).toBe('image/svg+xml')
  expect(await response.text()).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg"/)
  await done(hosts)
})

test('addresses carry nothing of the payer', async () => {
  const { checkout_url } = await create({ customer: { name: 'Name-77', email: 'email-77@shop.example' }, reference_id: 'reference-77' })
  const { done, page } = await browser.open()
  const addresses: string[] = []
  page.on('request', (request) => addresses.push(request.url()))
  await page.goto(checkout_url ?? '')
  await page.locator('button[value="va_bank_a"]').click()
  await page.locator('button[value="complete"]').click()
  await page.locator('#state').waitFor()
  expect(addresses.filter((address) => address.includes('77@') || address.includes('-77'))).toEqual([])
  await done(hosts)
})
