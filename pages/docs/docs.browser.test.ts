import { expect, test } from 'vitest'
import { startBrowser } from '../../contract-tests/harness/browser.ts'
import { startPayments } from '../../contract-tests/harness/payments.ts'
import { accessibilityViolations } from '../../contract-tests/harness/accessibility.ts'
import { guideGroups } from './guides.ts'
import { references } from './references.ts'

const bench = await startPayments()
const browser = await startBrowser()
const host = new URL(bench.url).host
const desktop = { width: 1280, height: 800 }
const paths = ['/docs', '/docs/reference', ...guideGroups.flatMap(({ guides }) => guides.map((slug) => `/docs/${slug}`))]

test.each(['light', 'dark'] as const)('the start and every guide can be used by everybody, in %s', async (colorScheme) => {
  const { done, page } = await browser.open({ viewport: desktop, colorScheme })
  for (const path of paths) {
    await page.goto(bench.url + path)
    expect([path, await accessibilityViolations(page)]).toEqual([path, []])
  }
  await done([host])
})

test('no page is wider than a small phone', async () => {
  const { done, page } = await browser.open()
  for (const path of paths) {
    await page.goto(bench.url + path)
    expect([path, await page.evaluate('document.documentElement.scrollWidth <= innerWidth')]).toEqual([path, true])
  }
  await done([host])
})

test('a guide is read without script, and copied with it', async () => {
  const without = await browser.open({ javaScriptEnabled: false })
  await without.page.goto(`${bench.url}/docs/quickstart`)
  expect(await without.page.getByRole('heading', { level: 1 }).innerText()).toBe('Quickstart')
  expect(await without.page.locator('[data-copy-code]:visible').count()).toBe(0)
  await without.done([host])
  const { done, page } = await browser.open({ permissions: ['clipboard-read', 'clipboard-write'] })
  await page.goto(`${bench.url}/docs/quickstart`)
  await page.locator('[data-copy-code]').first().click()
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe('make run')
  await done([host])
})

test.each(references)('the reference shows every operation of $service, from our own files alone', async ({ groups, service }) => {
  const { done, page } = await browser.open({ viewport: desktop })
  await page.goto(`${bench.url}/docs/reference/${service}`)
  await page.locator('.redoc-wrap').waitFor()
  for (const { id } of groups.flatMap(({ operations }) => operations)) {
    expect([id, await page.locator(`[id$="operation/${id}"]`).count()]).not.toEqual([id, 0])
  }
  // What the page makes itself (data: and blob:) has no host.
  await done([host, ''])
})

test('without script the reference lists the operations', async () => {
  const { done, page } = await browser.open({ javaScriptEnabled: false })
  await page.goto(`${bench.url}/docs/reference/payments`)
  expect(await page.getByText('createPaymentIntent').count()).toBeGreaterThan(0)
  await done([host])
})
