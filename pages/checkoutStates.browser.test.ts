import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Page } from 'playwright-core'
import { accessibilityViolations } from '../contract-tests/harness/accessibility.ts'
import { phone, startBrowser } from '../contract-tests/harness/browser.ts'
import { checkoutStates } from '../contract-tests/harness/checkoutStates.ts'
import { startPayments } from '../contract-tests/harness/payments.ts'

const bench = await startPayments({ settings: { PROVIDER_TIMEOUT_MS: '400' } })
const browser = await startBrowser()
const states = await checkoutStates(bench, await bench.given.merchant())
const host = new URL(bench.url).host
const desktop = { width: 1280, height: 800 } as const
/** Where pictures go (`make screenshots`); none are kept without it. */
const pictures = process.env.BAYAR_SCREENSHOTS
const isLong = process.env.BAYAR_LOOKS === 'every'

interface Look {
  locale: 'id-ID' | 'en-GB'
  view: 'phone' | 'desktop'
  schemes: readonly ('light' | 'dark')[]
}

/** Every state in both languages, in light and in dark, on a phone and a wide screen. */
const everyLook: readonly Look[] = (['id-ID', 'en-GB'] as const).flatMap((locale) => (['phone', 'desktop'] as const).map((view) => ({ locale, view, schemes: ['light', 'dark'] as const })))
/** Each value of each at least once. */
const someLooks: readonly Look[] = [{ locale: 'id-ID', view: 'phone', schemes: ['light', 'dark'] }, { locale: 'en-GB', view: 'desktop', schemes: ['light'] }]
/** Those whose pictures are kept: light in Indonesian, dark in English. */
const picturedLooks: readonly Look[] = (['phone', 'desktop'] as const).flatMap((view) => [{ locale: 'id-ID', view, schemes: ['light'] }, { locale: 'en-GB', view, schemes: ['dark'] }])

const keep = async (page: Page, name: string) => {
  if (pictures === undefined) return
  mkdirSync(pictures, { recursive: true })
  await page.screenshot({ path: join(pictures, `${name}.png`), fullPage: true, animations: 'disabled' })
}

/** Sizes of type in use, in pixels, the amount's aside. */
const sizesOfType = async (page: Page): Promise<number[]> => await page.evaluate(`(() => {
  const sizes = new Set()
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    const element = node.parentElement
    if (node.textContent.trim() === '' || element.closest('.amount, .unseen') || !element.checkVisibility()) continue
    sizes.add(Number.parseFloat(getComputedStyle(element).fontSize))
  }
  return [...sizes]
})()`)

test.each(pictures !== undefined ? picturedLooks : isLong ? everyLook : someLooks)('every state in $locale on a $view, $schemes: for everybody, nothing cut off, two sizes of type and a larger amount', { timeout: 180_000 }, async ({ locale, schemes, view }) => {
  const { done, page } = await browser.open({ locale, viewport: view === 'phone' ? phone : desktop, deviceScaleFactor: 1 })
  const seen: string[] = []
  const problems: string[] = []
  await states.visit(page, async (name) => {
    seen.push(name)
    for (const colorScheme of schemes) {
      await page.emulateMedia({ colorScheme })
      problems.push(...(await accessibilityViolations(page)).map((line) => `${name}, ${colorScheme}: ${line}`))
      await keep(page, `${name}-${view}-${colorScheme}-${locale.slice(0, 2)}`)
    }
    await page.emulateMedia({ colorScheme: 'light' })
    if (await page.evaluate('document.documentElement.scrollWidth > innerWidth')) problems.push(`${name}: wider than the screen`)
    const sizes = await sizesOfType(page)
    if (sizes.length > 2) problems.push(`${name}: type in ${sizes.join(', ')} px`)
    const amount: number | null = await page.evaluate('(() => { const place = document.querySelector(".amount"); return place && Number.parseFloat(getComputedStyle(place).fontSize) })()')
    if (amount !== null && amount <= Math.max(...sizes)) problems.push(`${name}: the amount is not the largest`)
    if (await page.locator('button:not(.plain):not(.quiet):not(.choice):visible, a.button:not(.plain):visible').count() > 1) problems.push(`${name}: more than one primary action`)
  })
  expect(problems).toEqual([])
  expect(seen).toEqual([
    'choose', 'pay-qris', 'pay-va', 'pay-va-steps', 'pay-otc', 'pay-ewallet', 'pay-later', 'pay-card', 'challenge', 'pay-cash', 'attempt-declined', 'attempt-expired', 'paid-late',
    'paid', 'failed', 'expired', 'cancelled', 'reversed', 'refused', 'trouble', 'unknown',
  ])
  // The page of a state that is an error is answered with its status, which the browser's console tells of.
  await done([host], /^error: Failed to load resource: the server responded with a status of (404|422|503) /)
})
