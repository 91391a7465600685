import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { startPayments } from '../contract-tests/harness/payments.ts'
import { channelCodes, channelOf } from '../domain/channels.ts'
import type { PageSurroundings } from '../handlers/service.ts'
import { readChannelDisplays } from './channelDisplay.ts'
import { hostedPages } from './hostedPages.ts'

const folder = mkdtempSync(join(tmpdir(), 'bayar-display-'))
afterAll(() => rmSync(folder, { recursive: true }))
const path = join(folder, 'channels.json')
const written = (content: unknown): string => {
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
  return path
}
const square = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><path d="M0 0h1v1H0z"/></svg>'
const own = {
  name: { id: 'Virtual account Bank Laut', en: 'Ocean Bank virtual account' }, logo: 'laut.svg',
  steps: { mobile: { id: ['Buka aplikasi Laut.', 'Masukkan {number}, bayar {amount}.'], en: ['Open the Ocean app.', 'Enter {number}, pay {amount}.'] } },
}

test('without a file every channel has its neutral steps, in both languages', () => {
  const displays = readChannelDisplays('')
  expect([...displays.keys()]).toEqual(channelCodes)
  for (const code of channelCodes) {
    const methods = Object.keys(displays.get(code)?.steps ?? {})
    const { kind } = channelOf(code)
    expect([code, methods]).toEqual([code, kind === 'va' ? ['mobile', 'atm', 'internet'] : kind === 'otc' ? ['counter'] : []])
  }
})

test.each([
  ['{', 'it cannot be read'], [[], 'the file must be an object'], [{ crypto: {} }, 'crypto is no channel'], [{ qris: 1 }, 'qris must be an object'],
  [{ qris: { title: 'x' } }, 'qris.title is unknown'], [{ qris: { name: { id: 'x' } } }, 'qris.name.en must be a text'], [{ qris: { name: { id: 'x', en: 'x', fr: 'x' } } }, 'qris.name.fr is no language'],
  [{ qris: { steps: { phone: {} } } }, 'qris.steps.phone is unknown'], [{ qris: { steps: { mobile: { id: [], en: ['x'] } } } }, 'qris.steps.mobile.id must be a list'],
  [{ qris: { steps: { mobile: { id: ['x', 7], en: ['x'] } } } }, 'qris.steps.mobile.id[1] must be a text'], [{ qris: { logo: 'x.gif' } }, 'qris.logo must be a file of .svg, .png, .webp'],
  [{ qris: { logo: 'nowhere.svg' } }, 'qris.logo cannot be read'],
])('%j is refused by the name of the place', (content, words) => {
  expect(() => readChannelDisplays(written(content))).toThrow(`CHANNEL_DISPLAY_FILE ${path}: ${words}`)
})

test('logos larger than a first paint bears are refused', () => {
  writeFileSync(join(folder, 'large.png'), Buffer.alloc(8193))
  expect(() => readChannelDisplays(written({ qris: { logo: 'large.png' } }))).toThrow('qris.logo makes the logos larger than 8192 bytes together')
})

test('a service does not start with a file that is wrong', () => {
  const surroundings: PageSurroundings = {
    sandbox: null, httpsOnly: false, now: () => new Date(0), brandsUnderWay: () => null, logos: { find: () => Promise.resolve(null), close: () => Promise.resolve() },
    channelDisplayFile: written({ crypto: {} }),
  }
  expect(() => hostedPages(surroundings)).toThrow('crypto is no channel')
})

test('names, logo and steps of a channel are shown on the page, the logo from our own origin', async () => {
  writeFileSync(join(folder, 'laut.svg'), square)
  const { call, given, url } = await startPayments({ settings: { CHANNEL_DISPLAY_FILE: written({ va_bank_a: own }) } })
  const as = await given.apiKey(await given.merchant())
  const page = async (allowed_channels: string[], language: string) => {
    const answer = await call('createPaymentIntent', { as, body: { amount_idr: 150_000, allowed_channels } })
    if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
    return (await fetch(`${url}/pay/${answer.body.shortcode}`, { headers: { 'Accept-Language': language } })).text()
  }
  expect(await page(['va_bank_a', 'qris'], 'id')).toContain('Virtual account Bank Laut')
  const text = await page(['va_bank_a'], 'en')
  expect(text).toContain('Ocean Bank virtual account')
  expect(text).toMatch(/<li>Enter 3816\s5\d{3}\s[\d\s]+, pay Rp\s150\.000\.<\/li>/)
  expect(text).not.toContain('Internet banking')
  const logo = await fetch(url + (/src="(\/pay\/assets\/logo-[0-9a-f]{12}\.svg)"/.exec(text)?.[1] ?? ''))
  expect(logo.headers.get('content-type')).toBe('image/svg+xml')
  expect(logo.headers.get('content-security-policy')).toContain('default-src \'none\'')
  expect(await logo.text()).toBe(square)
})
