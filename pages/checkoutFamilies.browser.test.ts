import { describe, expect, test } from 'vitest'
import { phone, startBrowser } from '../contract-tests/harness/browser.ts'
import { checkoutStates } from '../contract-tests/harness/checkoutStates.ts'
import { startPayments } from '../contract-tests/harness/payments.ts'
import { channelCodes, channelOf } from '../domain/channels.ts'
import { texts } from './texts.ts'

const bench = await startPayments({ settings: { PROVIDER_TIMEOUT_MS: '5000' } })
const merchant = await bench.given.merchant()
const { create } = await checkoutStates(bench, merchant)
const browser = await startBrowser()
const hosts = [new URL(bench.url).host, new URL(bench.simulator.url).host]
const desktop = { width: 1280, height: 800 } as const
const isLong = process.env.BAYAR_LOOKS === 'every'

/** On a phone in Indonesian every family is paid in checkout.browser.test.ts, by its own way. */
const looks = [{ view: 'wide screen', language: 'en' }, ...isLong ? [{ view: 'phone', language: 'id' }, { view: 'phone', language: 'en' }, { view: 'wide screen', language: 'id' }] as const : []] as const
/** One channel of each family; in the long form every channel. */
const channels = isLong ? channelCodes : channelCodes.filter((code, at) => channelCodes.findIndex((other) => channelOf(other).kind === channelOf(code).kind) === at)

describe.each(looks)('on a $view, in $language', ({ language, view }) => {
  const say = texts[language]

  test.each(channels)('%s from the choice to paid', async (channel) => {
    const { checkout_url, id } = await create({ allowed_channels: [channel, channel === 'cash' ? 'qris' : 'cash'] })
    const { done, page } = await browser.open({ viewport: view === 'phone' ? phone : desktop, locale: language === 'id' ? 'id-ID' : 'en-GB' })
    await page.goto(checkout_url ?? '')
    await page.getByRole('heading', { name: say.choose }).waitFor()
    await page.locator(`button[value="${channel}"]`).click()
    await page.locator('#method').waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    switch (channelOf(channel).kind) {
      case 'card':
        await page.getByRole('link', { name: say.openCard }).click()
        await page.getByRole('button', { name: say.challenge.approve }).click()
        break
      case 'ewallet':
      case 'paylater':
        await page.getByRole('link', { name: channelOf(channel).kind === 'ewallet' ? say.openWallet : say.openPaylater }).click()
        await page.getByRole('button', { name: 'Pay' }).click()
        break
      default:
        await page.getByRole('button', { name: say.panel.complete, exact: true }).click()
    }
    await page.getByRole('heading', { name: say.states.paid?.title ?? '' }).waitFor()
    expect(await page.getByRole('link', { name: say.back }).getAttribute('href')).toBe('https://shop.example/done')
    const [row] = await bench.database.query((sql) => sql<{ status: string }[]>`select status from payments.payment_intents where id = ${id}`)
    expect(row?.status).toBe('paid')
    await done(hosts)
  })
})
