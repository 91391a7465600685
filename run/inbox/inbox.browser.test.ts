import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { accessibilityViolations } from '../../contract-tests/harness/accessibility.ts'
import { phone, startBrowser } from '../../contract-tests/harness/browser.ts'
import { inboxBench } from './inboxBench.ts'

const { start, startAnswering } = await inboxBench()
const browser = await startBrowser()
const desktop = { viewport: { width: 1280, height: 800 } }

const event = (kind = 'payment.completed', changes: object = {}) => ({ id: crypto.randomUUID(), event: kind, data: { intent: { id: crypto.randomUUID(), amount_idr: 25_000 } }, ...changes })
type Bench = Awaited<ReturnType<typeof start>>
const deliverMany = async ({ deliver }: Bench, count: number) => {
  for (let at = 0; at < count; at += 1) await deliver(event())
}
const opened = async (bench: Bench, options: Parameters<typeof browser.open>[0] = desktop, path = '/') => {
  const { page, done } = await browser.open(options)
  await page.goto(bench.page + path)
  if (options.javaScriptEnabled !== false) await page.getByText('live', { exact: true }).waitFor()
  return { page, done: () => done([new URL(bench.page).host]) }
}
const rows = (page: Page) => page.locator('#deliveries .row')
const row = (page: Page, number: number) => page.locator(`#delivery-${number} > .row`)
const topOf = async (page: Page, selector: string) => (await page.locator(selector).boundingBox())?.y

describe('live', () => {
  test('what comes appears on top by itself, and what is unfolded stays as it is', async () => {
    const bench = await start()
    await bench.deliver(event())
    const { page, done } = await opened(bench)
    await row(page, 1).click()
    await page.locator('[data-fold="signature"] > summary').click()
    await bench.deliver(event('payment.failed'), { kind: 'payment.failed' })
    await row(page, 2).waitFor()
    expect(await rows(page).first().textContent()).toContain('payment.failed')
    expect(await page.locator('[data-fold="signature"]').getAttribute('open')).toBeNull()
    await expect.poll(() => page.locator('#said').textContent()).toBe('payment.failed came')
    await done()
  })

  test('a list that is scrolled is not moved: new ones are counted and come when asked for', async () => {
    const bench = await start()
    await deliverMany(bench, 30)
    const { page, done } = await opened(bench)
    await page.evaluate('document.getElementById("scroller").scrollTop = 300')
    const before = await topOf(page, '#delivery-22')
    await deliverMany(bench, 3)
    await page.getByRole('button', { name: '3 new' }).waitFor()
    expect([await rows(page).count(), await topOf(page, '#delivery-22'), await page.title()]).toEqual([30, before, '(3) Webhook inbox'])
    await page.getByRole('button', { name: '3 new' }).click()
    await row(page, 33).waitFor()
    expect(await page.evaluate('document.activeElement.dataset.delivery')).toBe('33')
    expect([await rows(page).count(), await page.title()]).toEqual([33, 'Webhook inbox'])
    await done()
  })

  test('on a phone an unfolded delivery is not moved either', async () => {
    const bench = await start()
    await deliverMany(bench, 3)
    const { page, done } = await opened(bench, {})
    await row(page, 2).click()
    await page.locator('#detail').waitFor()
    const before = await topOf(page, '#detail')
    await bench.deliver(event())
    await page.getByRole('button', { name: '1 new' }).waitFor()
    expect(await topOf(page, '#detail')).toBe(before)
    await done()
  })

  test('pausing holds everything back, and going on shows it', async () => {
    const bench = await start()
    const { page, done } = await opened(bench)
    await page.getByRole('button', { name: 'Pause' }).click()
    await bench.deliver(event())
    await page.getByRole('button', { name: '1 new' }).waitFor()
    expect(await rows(page).count()).toBe(0)
    await page.getByRole('button', { name: 'Pause' }).click()
    await row(page, 1).waitFor()
    await done()
  })

  test('what was asked for is shown while more comes all the time', async () => {
    const bench = await start()
    await bench.deliver(event('payment.failed'), { kind: 'payment.failed' })
    await deliverMany(bench, 20)
    const { page, done } = await opened(bench)
    await page.evaluate('document.getElementById("scroller").scrollTop = 300')
    const coming = deliverMany(bench, 60)
    await page.locator('#filter-kind').selectOption('payment.failed')
    await expect.poll(() => rows(page).count()).toBe(1)
    await row(page, 1).click()
    await page.locator('#delivery-1 #detail').waitFor()
    await coming
    await page.getByRole('link', { name: 'Show all' }).click()
    await expect.poll(() => rows(page).count()).toBe(81)
    await done()
  })

  test('connects again after a restart and begins anew', async () => {
    const bench = await start()
    await deliverMany(bench, 2)
    const { page } = await opened(bench)
    await bench.inbox.close()
    await page.getByText('connection lost').waitFor()
    const again = await start(bench.port)
    await page.getByText('live', { exact: true }).waitFor()
    await again.deliver(event('payment.refunded'), { kind: 'payment.refunded' })
    await row(page, 1).getByText('payment.refunded').waitFor()
    expect(await rows(page).count()).toBe(1)
  })
})

test('without script the filter, the details, the answer and a refresh link work', async () => {
  const bench = await start()
  await bench.deliver(event())
  await bench.deliver(event('payment.failed'), { kind: 'payment.failed' })
  const { page, done } = await opened(bench, { javaScriptEnabled: false })
  await page.getByLabel('Kind', { exact: true }).selectOption('payment.failed')
  await page.getByRole('button', { name: 'Filter' }).click()
  expect(await rows(page).count()).toBe(1)
  await row(page, 2).click()
  await page.getByRole('heading', { name: 'Signature: right' }).waitFor()
  await bench.deliver(event('payment.failed'), { kind: 'payment.failed' })
  await page.getByRole('link', { name: 'Refresh' }).click()
  expect(await rows(page).count()).toBe(2)
  await page.locator('#chooser > summary').click()
  await page.locator('#chooser select[name="answer"]').selectOption('500')
  await page.getByRole('button', { name: 'Answer so' }).click()
  await page.getByText('Every delivery: 500').waitFor()
  await page.getByRole('button', { name: 'Back to normal' }).click()
  expect(await page.locator('#banner').textContent()).toBe('')
  await page.getByRole('button', { name: 'Clear' }).click()
  expect(await rows(page).count()).toBe(0)
  await done()
})

test('is worked by keys: / filters, arrows move, Enter unfolds and folds, Escape leads back', async () => {
  const bench = await start()
  await deliverMany(bench, 3)
  await bench.deliver(event('payment.failed', { note: 'kopi' }), { kind: 'payment.failed' })
  const { page, done } = await opened(bench)
  const focused = () => page.evaluate('document.activeElement.dataset.delivery ?? document.activeElement.id')
  const press = async (...keys: string[]) => {
    for (const key of keys) await page.keyboard.press(key)
  }
  await press('ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowUp')
  expect(await focused()).toBe('3')
  await press('Enter')
  await page.locator('#delivery-3 #detail').waitFor()
  expect([await focused(), await row(page, 3).getAttribute('aria-expanded'), new URL(page.url()).search]).toEqual(['3', 'true', '?delivery=3'])
  await press('Tab')
  expect(await focused()).toBe('resend-3')
  await press('Escape')
  await expect.poll(() => page.locator('#detail').count()).toBe(0)
  expect(await focused()).toBe('3')
  await press('/')
  await page.keyboard.type('kopi')
  await expect.poll(() => rows(page).count()).toBe(1)
  expect(await focused()).toBe('q')
  await press('ArrowDown')
  expect(await focused()).toBe('4')
  await page.goBack()
  await expect.poll(() => page.locator('#delivery-3 #detail').count()).toBe(1)
  await done()
})

test('the answer chosen is given, stands in a banner, and ends by itself', async () => {
  const bench = await start()
  const { page, done } = await opened(bench, {})
  await page.getByText('Answer: 204').click()
  await page.locator('#chooser select[name="answer"]').selectOption('500')
  await page.locator('#answer-kind').selectOption('payment.completed')
  await page.locator('[name="count"]').fill('2')
  await page.getByRole('button', { name: 'Answer so' }).click()
  await page.locator('#banner').getByText('payment.completed: 500 Internal Server Error, for the next 2.').waitFor()
  expect((await bench.deliver(event())).status).toBe(500)
  await page.locator('#banner').getByText('for the next one.').waitFor()
  expect((await bench.deliver(event())).status).toBe(500)
  await expect.poll(() => page.locator('#banner').textContent()).toBe('')
  expect((await bench.deliver(event())).status).toBe(204)
  await done()
})

test('a delivery is sent again, and the attempt that comes of it stands beside the first', async () => {
  const bench = await start()
  const [sent, deliveryId] = [event(), crypto.randomUUID()]
  await startAnswering(bench.credentialsFile, (_, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ status: 'pending' }))
    void bench.deliver(sent)
  })
  await bench.deliver(sent, { deliveryId })
  const { page, done } = await opened(bench)
  await row(page, 1).click()
  await page.getByRole('button', { name: 'Send again' }).click()
  await page.getByText('Payments sends it again now').first().waitFor()
  await page.getByText('Attempts of this event (2 here)').waitFor()
  await page.getByText('the same bytes', { exact: true }).waitFor()
  await row(page, 2).waitFor()
  expect(await page.evaluate('document.activeElement.id')).toBe('resend-1')
  await done()
})

test('what is copied is what was sent, what is signed, and what is read', async () => {
  const bench = await start()
  const body = '{"a":1.50,"b":"é"}'
  await bench.deliver(body)
  const { page, done } = await opened(bench, { ...desktop, permissions: ['clipboard-read', 'clipboard-write'] }, '/?delivery=1')
  const copied = async (name: string) => {
    await page.getByRole('button', { name }).click()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    await page.getByRole('button', { name }).waitFor()
    return page.evaluate('navigator.clipboard.readText()')
  }
  expect(await copied('Copy raw')).toBe(body)
  expect(await copied('Copy pretty')).toBe('{\n  "a": 1.50,\n  "b": "é"\n}')
  expect(await copied('Copy what is signed')).toBe(`${Math.floor(bench.clock.now().getTime() / 1000)}.${body}`)
  await done()
})

describe('anyone can use it', () => {
  const hostile = `<img src=x onerror="document.title='broken'">`
  test.each([['phone, light', phone, 'light'], ['phone, dark', phone, 'dark'], ['desktop, light', desktop.viewport, 'light'], ['desktop, dark', desktop.viewport, 'dark']] as const)(
    'on a %s: nothing is cut off and axe finds nothing, whatever came', async (_name, viewport, colorScheme) => {
      const bench = await start()
      const sent = event('payment.completed', { long: 'x'.repeat(3000), [hostile]: hostile })
      await bench.deliver(sent, { previousSecret: bench.secret })
      await bench.deliver(sent, { secret: `${bench.secret}x` })
      await bench.deliver(hostile.repeat(20), { kind: hostile, deliveryId: 'y'.repeat(500) })
      await bench.deliver(Buffer.from([0xff, 0xfe, 0x00]))
      await bench.post('/answer', { answer: '500', kind: hostile })
      const { page, done } = await opened(bench, { viewport, colorScheme })
      await page.locator('#chooser > summary').click()
      for (const number of [0, 1, 2, 3, 4]) {
        if (number > 0) {
          await row(page, number).click()
          await page.locator(`#delivery-${number} #detail`).waitFor()
          for (const summary of await page.locator('#detail > details:not([open]) > summary').all()) await summary.click()
        }
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(viewport.width)
        expect([number, await accessibilityViolations(page)]).toEqual([number, []])
      }
      expect(await page.title()).toBe('Webhook inbox')
      await done()
    }, 60_000)
})
