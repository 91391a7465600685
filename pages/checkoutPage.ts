import { attemptPart } from './attemptPart.ts'
import { moment, rupiah } from './format.ts'
import { html, linkTo } from './html.ts'
import type { Html, Part } from './html.ts'
import type { Language } from './language.ts'
import { brandHeader, layout } from './layout.ts'
import type { Attempt, Checkout } from './publicCheckout.ts'
import { texts } from './texts.ts'

export interface CheckoutPageOptions {
  checkout: Checkout
  language: Language
  /** The attempt that the address asks for, on a payment for several payers. */
  attemptId: string | undefined
  /** What the payer's last request led to, in words; null: nothing to say. */
  notice: string | null
  /** The server's time. */
  now: Date
  /** Whether a sandbox panel can move the attempt. */
  hasPanel: boolean
}

/** The hosted checkout of one payment. */
export async function checkoutPage(options: CheckoutPageOptions): Promise<Html> {
  const { checkout, language, attemptId, notice, now } = options
  const { shortcode, status, attempt } = checkout
  const say = texts[language]
  const publicUrl = `/v1/public/payments/intents/${shortcode}`
  const query = attemptId === undefined ? '' : `?attempt_id=${attemptId}`
  const pageUrl = addressOf(shortcode, attemptId)
  const isOpen = status === 'open'
  const isWaiting = isOpen && attempt?.status === 'pending'
  const wayBack = checkout.return_url === null ? null : linkTo(checkout.return_url)
  return layout({
    language, title: checkout.brand.display_name, accentHex: checkout.brand.accent_hex,
    content: html`<main data-url="${pageUrl}" data-status-url="${publicUrl}/status${query}" data-status="${status}" data-attempt-id="${attempt?.id}" data-attempt-status="${attempt?.status}">
${brandHeader(checkout, language)}
${checkout.environment === 'sandbox' && html`<p class="notice small">${say.sandbox}</p>`}
${notice !== null && html`<p class="notice bad" role="alert">${notice}</p>`}
${!isOpen && outcome(checkout, language)}
<section class="card">
<div><p class="soft small">${checkout.amount_open ? say.suggestedAmount : say.amount}</p><p class="amount">${rupiah(checkout.amount_idr)}</p></div>
${checkout.description !== null && html`<p class="description"><bdi>${checkout.description}</bdi></p>`}
${isOpen && deadline(attempt?.status === 'pending' ? attempt.attempt_expires_at : checkout.intent_expires_at, now, language)}
</section>
${isWaiting && attempt && html`<section class="card" aria-live="polite">
<h2>${channelName(checkout, attempt.channel, attempt.kind, language)}</h2>
${await attemptPart(attempt, publicUrl, `/pay/${shortcode}`, language)}
${!checkout.amount_open && ['va', 'otc'].includes(attempt.kind) && html`<p class="soft small">${say.exact}</p>`}
<p class="soft small" data-live hidden>${say.waiting}</p><noscript><p class="soft small">${say.waitingByHand}</p></noscript>
<a class="button plain" href="${pageUrl}">${say.refresh}</a>
</section>`}
${isWaiting && options.hasPanel && panel(shortcode, attempt, language)}
${isOpen && choices(options, isWaiting)}
${wayBack !== null && html`<a class="button ${isOpen ? 'plain' : ''}" href="${wayBack}" rel="noreferrer">${say.back}</a>`}
</main>`,
  })
}

/** The page's own address; `attempt` says whose attempt it shows where each payer has their own. */
export function addressOf(shortcode: string, attemptId: string | undefined): string {
  return attemptId === undefined ? `/pay/${shortcode}` : `/pay/${shortcode}?attempt=${attemptId}`
}

/** How a payment that takes no more money has ended. */
function outcome({ late, status }: Checkout, language: Language): Html {
  const say = texts[language]
  const { title, text } = Object.hasOwn(say.states, status) ? say.states[status] ?? say.unknownState : say.unknownState
  return html`<section class="card ${status === 'paid' ? 'good' : status === 'failed' ? 'bad' : ''}" role="status">
<h2>${title}</h2><p>${text}</p>${late && status === 'paid' && html`<p class="soft small">${say.late}</p>`}
</section>`
}

function deadline(time: string | null, now: Date, language: Language): Part {
  if (time === null) return null
  const say = texts[language]
  return html`<p>${say.payBefore} <strong><time datetime="${time}">${moment(time, language)}</time></strong></p>
<p class="soft" data-deadline="${time}" data-now="${now.toISOString()}" data-days="${say.days}" hidden>${say.remaining}: <strong data-left></strong></p>`
}

/** The channels by kind, each a form of its own, so that no script is needed. Folded away beside a live attempt. */
function choices({ checkout, language }: CheckoutPageOptions, isWaiting: boolean): Part {
  const say = texts[language]
  const { attempt, channels, shortcode } = checkout
  const offered = isWaiting ? channels.filter(({ code }) => code !== attempt?.channel) : channels
  if (offered.length === 0) return isWaiting ? null : html`<p class="notice">${say.noChannel}</p>`
  const list = html`<div class="kinds">${[...Map.groupBy(offered, ({ kind }) => kind)].map(([kind, ofKind]) => html`<div class="kind"><h3>${say.kinds[kind] ?? kind}</h3>
${ofKind.map(({ code, name_en, name_id }) => html`<form method="post" action="/pay/${shortcode}"><button class="choice" name="channel" value="${code}">${language === 'id' ? name_id : name_en}</button></form>`)}</div>`)}</div>`
  if (isWaiting) return html`<section class="card fold"><details><summary>${say.otherMethod}</summary>${list}</details></section>`
  const before = attempt?.status === 'failed' ? say.failedAttempt : attempt?.status === 'expired' ? say.expiredAttempt : null
  return html`${before !== null && html`<p class="notice" role="status">${before}</p>`}
<section class="card"><h2>${before === null ? say.choose : say.chooseAgain}</h2>${list}</section>`
}

function channelName({ channels }: Checkout, code: string, kind: string, language: Language): string {
  const found = channels.find((channel) => channel.code === code)
  if (found) return language === 'id' ? found.name_id : found.name_en
  return texts[language].kinds[kind] ?? code
}

/** What only a sandbox has; apart from the page's own parts, so that nobody takes it for one. */
function panel(shortcode: string, { id, kind }: Attempt, language: Language): Html {
  const { panel: say } = texts[language]
  const button = (move: string, name: string, look: string) => html`<button class="${look}" name="move" value="${move}">${name}</button>`
  return html`<aside class="card panel" aria-label="${say.title}"><div><h2>${say.title}</h2><p class="soft small">${say.text}</p></div>
<form method="post" action="/pay/${shortcode}/sandbox"><input type="hidden" name="attempt" value="${id}">
<div class="row">${button('complete', say.complete, '')}${kind !== 'cash' && [button('decline', say.decline, 'plain'), button('expire', say.expire, 'plain')]}</div></form></aside>`
}
