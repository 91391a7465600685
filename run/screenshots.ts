// `make screenshots`: every state of the hosted checkout in a real browser, against a service of its own, into docs/screenshots/.
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { node, root } from './steps.ts'

const target = join(root, 'docs', 'screenshots')
const pages = join(target, 'checkout')
/** What is kept of all: every state on a phone, and enough of dark, of English and of a wide screen to judge those. */
const kept = [
  /-phone-light-id\.png$/, /^(choose|pay-qris|pay-va-steps|paid|attempt-declined)-phone-dark-en\.png$/, /^(choose|pay-va-steps|challenge|paid)-desktop-light-id\.png$/,
  /^(pay-qris|expired)-desktop-dark-en\.png$/,
]
/** Stands in the README. */
const forReadme = 'pay-qris-phone-light-id.png'

const folder = mkdtempSync(join(tmpdir(), 'bayar-screenshots-'))
try {
  process.env.BAYAR_SCREENSHOTS = folder
  const { code } = await node('node_modules/vitest/vitest.mjs', ['run', 'pages/checkoutStates.browser.test.ts'], true)
  if (code !== 0) throw new Error('a state is not as it should be: see above')
  rmSync(pages, { recursive: true, force: true })
  mkdirSync(pages, { recursive: true })
  const chosen = readdirSync(folder).filter((name) => kept.some((pattern) => pattern.test(name)))
  for (const name of chosen) copyFileSync(join(folder, name), join(pages, name))
  copyFileSync(join(folder, forReadme), join(target, 'checkout.png'))
  const bytes = chosen.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
  console.log(`${chosen.length} pictures in docs/screenshots/checkout, ${Math.round(bytes / 1024)} KiB in all, and docs/screenshots/checkout.png`)
} finally {
  rmSync(folder, { recursive: true })
}
