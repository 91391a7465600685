import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import { phone, startBrowser } from '../contract-tests/harness/browser.ts'
import { startPayments } from '../contract-tests/harness/payments.ts'
import type { components } from '../generated/payments.ts'

const bench = await startPayments({ settings: { PROVIDER_TIMEOUT_MS: '5000' } })
const { call, clock, given, settled, simulator } = bench
const browser = await startBrowser()
const merchant = await given.merchant()
const as = await given.apiKey(merchant)
const hosts = [new URL(bench.url).host, new URL(simulator.url).host]
/** Where pictures go for whoever wants to look; none are kept without it. */
const pictures = process.env.BAYAR_SCREENSHOTS

type Create = components['schemas']['PaymentIntentCreate']
const create = async (body: Partial<Create> = {}) => {
  const answer = await call('createPaymentIntent', {
    as, body: { amount_idr: 150_000, description: 'Pesanan 1042: dua bungkus kopi', allowed_channels: ['qris', 'va_bank_a'], ...body },
  })
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
  return answer.body
}
const statusOf = async (id: string) => {
  const answer = await call('getPaymentIntent', { as, params: { id } })
  return answer.status === 200 ? answer.body.status : answer.status
}

/** Nothing is cut off at the side; keeps a picture of the whole page where somebody wants it. */
const look = async (page: Page, name: string) => {
  expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(phone.width)
  if (pictures === undefined) return
  mkdirSync(pictures, { recursive: true })
  await page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true })
}

const everyChannel: NonNullable<Create['allowed_channels']> = ['qris', 'va_bank_a', 'va_bank_b', 'ewallet_wallet_a', 'otc_store_a', 'paylater_a', 'card_3ds', 'cash']

describe('on a small phone, from the choice to paid', () => {
  test.each([
    ['qris', 'img', 'Kode QR pembayaran'],
    ['va_bank_a', 'status', '38165'],
    ['otc_store_a', 'status', '7719'],
    ['cash', 'text', 'Bayar tunai kepada penjual'],
  ])('%s: what to pay with is shown, and the page turns to paid by itself', async (channel, role, shows) => {
    const { id, checkout_url } = await create({ allowed_channels: everyChannel, return_url: 'https://shop.example/done' })
    const { page, done } = await browser.open()
    await page.goto(checkout_url ?? '')
    await look(page, `${channel}-1-choose`)
    await page.locator(`button[value="${channel}"]`).click()
    await page.getByRole('heading', { name: 'Panel uji coba' }).waitFor()
    if (role === 'img') await page.getByRole('img', { name: shows }).waitFor()
    else await page.getByText(role === 'status' ? new RegExp(shows.replace(/(.{4})(?=.)/g, '$1 ')) : shows).first().waitFor()
    await look(page, `${channel}-2-pay`)
    // Beside the page, so that it must find out by itself.
    const [row] = await bench.database.query((sql) => sql<{ charge_reference: string | null }[]>`
      select charge_reference from payments.payment_attempts where intent_id = ${id} and status = 'pending'`)
    if (row?.charge_reference) await settled(simulator.pay(row.charge_reference))
    else await call('confirmCashPayment', { as: await given.token(merchant, 'merchant_owner', `merchant:${merchant.id}`), params: { id }, body: { amount_idr: 150_000 } })
    await page.getByRole('heading', { name: 'Pembayaran berhasil' }).waitFor()
    expect(await page.getByRole('link', { name: 'Kembali ke toko' }).getAttribute('href')).toBe('https://shop.example/done')
    await look(page, `${channel}-3-paid`)
    await done(hosts)
  })

  test.each([['ewallet_wallet_a', 'Buka dompet digital'], ['paylater_a', 'Buka penyedia bayar nanti']])('%s: by the provider\'s own page and back', async (channel, action) => {
    const { id, checkout_url } = await create({ allowed_channels: everyChannel })
    const { page, done } = await browser.open()
    await page.goto(checkout_url ?? '')
    await page.locator(`button[value="${channel}"]`).click()
    await look(page, `${channel}-2-pay`)
    await page.getByRole('link', { name: action }).click()
    await page.getByRole('button', { name: 'Pay' }).click()
    await page.getByRole('heading', { name: 'Pembayaran berhasil' }).waitFor()
    expect(await statusOf(id)).toBe('paid')
    await look(page, `${channel}-3-paid`)
    await done(hosts)
  })

  test.each([
    ['approve', 'Setujui dengan', 'Pembayaran berhasil', 'paid'],
    ['decline', 'Tolak dengan', 'Pembayaran sebelumnya ditolak', 'open'],
    ['cancel', 'Batal', 'Pembayaran sebelumnya ditolak', 'open'],
  ])('card: %s', async (name, button, shows, status) => {
    const { id, checkout_url } = await create({ allowed_channels: everyChannel })
    const { page, done } = await browser.open()
    await page.goto(checkout_url ?? '')
    await page.locator('button[value="card_3ds"]').click()
    await look(page, 'card-2-pay')
    await page.getByRole('link', { name: 'Lanjut ke verifikasi kartu' }).click()
    await look(page, 'card-3-challenge')
    await page.getByRole('button', { name: button }).click()
    await page.getByText(shows).waitFor()
    expect(await statusOf(id)).toBe(status)
    await look(page, `card-4-${name}`)
    await done(hosts)
  })
})

describe('the sandbox panel', () => {
  test.each([['Bayar', 'Pembayaran berhasil'], ['Tolak', 'Pembayaran sebelumnya ditolak'], ['Habiskan waktu', 'Waktu untuk cara bayar sebelumnya sudah habis'], ['Bayar terlambat', 'Uang diterima setelah batas waktu']])('%s', async (button, shows) => {
    const { checkout_url } = await create()
    const { page, done } = await browser.open()
    await page.goto(checkout_url ?? '')
    await page.locator('button[value="qris"]').click()
    await page.getByRole('button', { name: button, exact: true }).click()
    await page.getByText(shows).waitFor()
    await look(page, `panel-${button.replace(' ', '-')}`)
    await done(hosts)
  })
})

test('the copy button copies the bare number, says so, and the copy is counted', async () => {
  const { id, checkout_url, va_number } = await create({ allowed_channels: ['va_bank_a'] })
  const { page, done } = await browser.open({ permissions: ['clipboard-read', 'clipboard-write'] })
  await page.goto(checkout_url ?? '')
  const counted = page.waitForResponse(/va-copies$/)
  await page.getByRole('button', { name: 'Salin nomor' }).click()
  await page.getByRole('button', { name: 'Tersalin' }).waitFor()
  expect((await counted).status()).toBe(204)
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(va_number)
  const [row] = await bench.database.query((sql) => sql<{ copies: number }[]>`
    select c.copies from payments.va_copies c join payments.payment_attempts a on a.id = c.attempt_id where a.intent_id = ${id}`)
  expect(row?.copies).toBe(1)
  await done(hosts)
})

test('text of a merchant is text, however hostile', async () => {
  const hostile = '"><img src=x onerror=alert(1)><script>alert(2)</script>\'`${3}\u202Egnp.exe'
  const own = await given.merchant()
  await bench.database.query((sql) => sql`update payments.merchants set name = ${hostile} where id = ${own.id}`)
  const answer = await call('createPaymentIntent', {
    as: await given.apiKey(own), body: { amount_idr: 999_999_999, description: `${hostile} ${'x'.repeat(300)}`, allowed_channels: ['va_bank_b', 'cash'] },
  })
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
  const { page, done } = await browser.open()
  page.on('dialog', () => expect.unreachable())
  await page.goto(answer.body.checkout_url ?? '')
  expect(await page.locator('h1 bdi, dd bdi').last().textContent()).toBe(hostile)
  expect(await page.locator('img, script:not([src])').count()).toBe(0)
  await look(page, 'hostile')
  await done(hosts)
})

test('without script: the choice, the number, the status and the end', async () => {
  const { id, checkout_url } = await create()
  const { page, done } = await browser.open({ javaScriptEnabled: false, locale: 'en-GB' })
  await page.goto(checkout_url ?? '')
  await page.locator('button[value="va_bank_a"]').click()
  await page.getByText('Virtual account number').first().waitFor()
  expect(await page.getByRole('button', { name: 'Copy number' }).count()).toBe(0)
  await look(page, 'no-script-en')
  await page.getByRole('button', { name: 'Pay', exact: true }).click()
  await page.getByRole('heading', { name: 'Payment received' }).waitFor()
  expect(await statusOf(id)).toBe('paid')
  await done(hosts)
})

test('the page turns to expired by itself, and offers nothing to pay with', async () => {
  const { checkout_url } = await create({ allowed_channels: ['ewallet_wallet_a'] })
  const { page, done } = await browser.open()
  await page.goto(checkout_url ?? '')
  await look(page, 'ewallet-open')
  clock.advance(900_001)
  await page.getByRole('heading', { name: 'Waktu pembayaran habis' }).waitFor()
  expect(await page.getByRole('link', { name: 'Buka dompet digital' }).count()).toBe(0)
  await look(page, 'expired')
  await done(hosts)
})

test('by keyboard alone a channel can be chosen', async () => {
  const { checkout_url } = await create()
  const { page, done } = await browser.open()
  await page.goto(checkout_url ?? '')
  // The other language comes first.
  await page.keyboard.press('Tab')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await page.getByRole('img', { name: 'Kode QR pembayaran' }).waitFor()
  await done(hosts)
})
