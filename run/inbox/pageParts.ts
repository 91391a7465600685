import { html } from '../../pages/html.ts'
import type { Html, Part } from '../../pages/html.ts'

/** Something to fold; by `name` the script knows it again when the page changes. */
export function fold(name: string, title: Part, isOpen: boolean, content: Part): Html {
  const inside = html`<summary><h3>${title}</h3></summary><div class="inside">${content}</div>`
  return isOpen ? html`<details class="fold" data-fold="${name}" open>${inside}</details>` : html`<details class="fold" data-fold="${name}">${inside}</details>`
}

/** Copies the text that is at `address`. Script shows it: without one nothing can be copied. */
export function copyButton(id: string, label: string, address: string): Html {
  return html`<button type="button" class="quiet scripted" id="copy-${id}" data-copy="${address}">${label}</button>`
}

/** Passed, failed or looked at, by sign and word. */
export function mark(passed: boolean | null): Html {
  if (passed === null) return html`<span class="mark looked" aria-hidden="true">=</span>`
  return passed ? html`<span class="mark passed" role="img" aria-label="right">✓</span>`
    : html`<span class="mark failed" role="img" aria-label="wrong">✗</span>`
}

export function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`
}
