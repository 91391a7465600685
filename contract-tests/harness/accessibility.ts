import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

/**
 * What axe-core finds wrong with the page as it is, by WCAG 2.2 A and AA and its best practices: one line for each place. The tool is put in
 * from outside of the page, past its content security policy, which stays as it is.
 */
export async function accessibilityViolations(page: Page): Promise<string[]> {
  const session = await page.context().newCDPSession(page)
  try {
    await session.send('Runtime.evaluate', { expression: readFileSync(axe, 'utf8') })
    const { result } = await session.send('Runtime.evaluate', {
      expression: 'axe.run(document, { resultTypes: ["violations"] }).then((results) => JSON.stringify(results.violations))', awaitPromise: true,
    })
    const violations = JSON.parse(String(result.value)) as AxeResults['violations']
    return violations.flatMap(({ id, nodes }) => nodes.map(({ failureSummary = '', target }) => `${id} at ${target.join(' ')}: ${failureSummary.replace(/\s+/g, ' ')}`))
  } finally {
    await session.detach()
  }
}
