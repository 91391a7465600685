import chromium from '@sparticuz/chromium'
import { chromium as playwright } from 'playwright-core'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, expect } from 'vitest'

export interface BrowserBench {
  /** A page of a context of its own, on a small phone unless told. Whatever it complains about fails the test at `done`. */
  open(options?: BrowserContextOptions): Promise<OpenedPage>
}

export interface OpenedPage {
  page: Page
  /** Fails on console errors but `expected` ones, violations of the content security policy, and requests to hosts other than `hosts`. */
  done(hosts: readonly string[], expected?: RegExp): Promise<void>
}

/** A small phone. */
export const phone = { width: 360, height: 740 } as const

/** Starts Chromium. Ends with the test file. */
export async function startBrowser(): Promise<BrowserBench> {
  // With all in one process the browser would end with its first page.
  const args = [...chromium.args.filter((arg) => arg !== '--single-process'), '--no-sandbox']
  const browser: Browser = await playwright.launch({ executablePath: await chromium.executablePath(), args, headless: true })
  afterAll(() => browser.close())
  return {
    async open(options = {}) {
      const context = await browser.newContext({ viewport: phone, deviceScaleFactor: 2, locale: 'id-ID', ...options })
      const page = await context.newPage()
      const complaints: string[] = []
      const asked = new Set<string>()
      page.on('console', (message) => {
        if (message.type() === 'error' || message.type() === 'warning') complaints.push(`${message.type()}: ${message.text()}`)
      })
      page.on('pageerror', (error) => complaints.push(`exception: ${error.message}`))
      page.on('request', (request) => asked.add(new URL(request.url()).host))
      return {
        page,
        async done(hosts, expected) {
          expect(complaints.filter((complaint) => !expected?.test(complaint))).toEqual([])
          expect([...asked].filter((host) => !hosts.includes(host))).toEqual([])
          await context.close()
        },
      }
    },
  }
}
