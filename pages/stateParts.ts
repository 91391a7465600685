import { rupiah } from './format.ts'
import { html } from './html.ts'
import type { Html, Part } from './html.ts'
import { icon, isIconName } from './icons.ts'
import type { IconName } from './icons.ts'
import type { Frame } from './layout.ts'
import { layout } from './layout.ts'
import type { Language } from './language.ts'
import type { Checkout } from './publicCheckout.ts'
import { texts } from './texts.ts'
import type { Words } from './textTypes.ts'

/** How good or bad a state is, which its colour says beside its words and its icon. */
type Tone = 'good' | 'bad' | 'warn' | 'calm'

const tones: Readonly<Record<string, Tone>> = { paid: 'good', failed: 'bad', expired: 'warn', reversed: 'warn', trouble: 'warn' }

/** A state by words, shape and colour; `level` is that of its heading. */
export function stateHead(name: IconName, { text, title }: Words, level: 1 | 2 = 2): Html {
  const heading = level === 1 ? html`<h1 id="state" tabindex="-1">${title}</h1>` : html`<h2 id="state" tabindex="-1">${title}</h2>`
  return html`<div class="state ${tones[name] ?? 'calm'}"><span class="badge">${icon(name)}</span>${heading}<p>${text}</p></div>`
}

/** The icon and the words of how a payment stands. */
export function stateOf(status: string, language: Language): { icon: IconName, words: Words } {
  const say = texts[language]
  const words = Object.hasOwn(say.states, status) ? say.states[status] : undefined
  return words && isIconName(status) ? { icon: status, words } : { icon: 'unknown', words: say.unknownState }
}

/** Something to know before going on, beside the page's own state. */
export function notice(words: string): Html {
  return html`<p class="notice" role="alert">${icon('trouble')}<span>${words}</span></p>`
}

/** Amount and particulars of the payment, as rows of a name and a value. */
export function summary(checkout: Checkout, language: Language, rows: readonly Part[]): Html {
  const say = texts[language]
  const amount = rupiah(checkout.amount_idr)
  return html`<p class="soft">${checkout.amount_open ? say.suggestedAmount : say.amount}</p>
<p class="amount${amount.length > 13 && ' long'}">${amount}</p>
${checkout.description !== null && html`<p class="description"><bdi>${checkout.description}</bdi></p>`}
<dl class="rows">${checkout.merchant.name !== checkout.brand.display_name && row(say.payTo, html`<bdi>${checkout.merchant.name}</bdi>`)}${rows}${row(say.reference, checkout.shortcode)}</dl>`
}

/** One particular of a payment. */
export function row(name: string, value: Part): Html {
  return html`<div><dt>${name}</dt><dd>${value}</dd></div>`
}

/** A page that has nothing to show but a state. */
export function messagePage(frame: Frame, name: IconName, words: Words): Html {
  return layout({ frame, checkout: null, live: null, announces: words.title, shape: 'single', content: html`<section class="card result">${stateHead(name, words, 1)}</section>` })
}
