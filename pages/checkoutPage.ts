import { attemptPart } from './attemptPart.ts'
import { channelAgain, channelList, channelName, picture } from './channelChoices.ts'
import type { ChannelDisplays } from './channelDisplay.ts'
import { moment, timeLeft } from './format.ts'
import { html, linkTo } from './html.ts'
import type { Html, Part } from './html.ts'
import { layout } from './layout.ts'
import type { Frame } from './layout.ts'
import type { Language } from './language.ts'
import type { Checkout } from './publicCheckout.ts'
import { sandboxPanel } from './sandboxPanel.ts'
import { notice, row, stateHead, stateOf, summary } from './stateParts.ts'
import { texts } from './texts.ts'

/** What the payer's last request led to: words beside the page, or a provider without an answer for a channel. */
export type Consequence = { says: string } | { troubleWith: string }

export interface CheckoutPageOptions {
  checkout: Checkout
  frame: Frame
  displays: ChannelDisplays
  /** The attempt that the address asks for, on a payment for several payers. */
  attemptId: string | undefined
  /** Null: nothing to say. */
  consequence: Consequence | null
  /** The server's time. */
  now: Date
  /** Whether a sandbox panel can move the attempt. */
  hasPanel: boolean
}

/** The hosted checkout of one payment. */
export async function checkoutPage(options: CheckoutPageOptions): Promise<Html> {
  const { attemptId, checkout, consequence, frame } = options
  const { attempt, shortcode, status } = checkout
  const isOpen = status === 'open'
  const isWaiting = isOpen && attempt?.status === 'pending' && !(consequence && 'troubleWith' in consequence)
  const query = attemptId === undefined ? '' : `?attempt_id=${attemptId}`
  return layout({
    frame, checkout, shape: isOpen ? 'split' : 'single', announces: announcement(options, isWaiting),
    live: {
      url: addressOf(shortcode, attemptId), statusUrl: `${publicUrlOf(checkout)}/status${query}`, status, attemptId: attempt?.id, attemptStatus: attempt?.status,
    },
    content: isOpen ? await openContent(options, isWaiting) : endedContent(options),
  })
}

/** The page's own address; `attempt` says whose attempt it shows where each payer has their own. */
export function addressOf(shortcode: string, attemptId: string | undefined, path = ''): string {
  return attemptId === undefined ? `/pay/${shortcode}${path}` : `/pay/${shortcode}${path}?attempt=${attemptId}`
}

function publicUrlOf({ shortcode }: Checkout): string {
  return `/v1/public/payments/intents/${shortcode}`
}

function announcement({ checkout, consequence, frame: { language } }: CheckoutPageOptions, isWaiting: boolean): string {
  const say = texts[language]
  if (checkout.status !== 'open') {
    const { title, text } = stateOf(checkout.status, language).words
    return `${title}. ${text}`
  }
  if (consequence) return 'says' in consequence ? consequence.says : say.trouble.title
  if (isWaiting) return say.waiting
  return checkout.attempt?.status === 'failed' ? say.failedAttempt.title : checkout.attempt?.status === 'expired' ? say.expiredAttempt.title : say.choose
}

/** How a payment that takes no more money has ended, and the way back. */
function endedContent({ checkout, displays, frame: { language } }: CheckoutPageOptions): Html {
  const say = texts[language]
  const { attempt, late, status } = checkout
  const { icon, words } = stateOf(status, language)
  const way = wayBack(checkout)
  return html`<section class="card result" aria-labelledby="state">
${stateHead(icon, words)}
${late && status === 'paid' && html`<p class="soft middle">${say.late}</p>`}
<div class="receipt">${summary(checkout, language, attempt ? [row(say.method, channelName(checkout, attempt.channel, attempt.kind, displays, language))] : [])}</div>
${way !== null && html`<a class="button" href="${way}" rel="noreferrer" data-keep="back">${say.back}</a>`}
</section>`
}

async function openContent(options: CheckoutPageOptions, isWaiting: boolean): Promise<Html> {
  const { attemptId, checkout, consequence, frame: { language }, hasPanel, now } = options
  const say = texts[language]
  const { attempt, shortcode } = checkout
  const way = wayBack(checkout)
  const ends = isWaiting ? attempt?.attempt_expires_at ?? null : checkout.intent_expires_at
  return html`<section class="summary" aria-label="${say.summary}">
${summary(checkout, language, deadline(ends, now, language))}
</section>
<div class="steps">
${consequence && 'says' in consequence && notice(consequence.says)}
${isWaiting ? await waiting(options) : choosing(options)}
${isWaiting && hasPanel && attempt && sandboxPanel(`/pay/${shortcode}/sandbox`, attempt, language, addressOf(shortcode, attemptId, '/3ds'))}
${way !== null && html`<a class="quiet" href="${way}" rel="noreferrer" data-keep="back">${say.back}</a>`}
</div>`
}

/** What to pay with, how it stands, and the other channels folded away. */
async function waiting({ attemptId, checkout, displays, frame: { language } }: CheckoutPageOptions): Promise<Part> {
  const say = texts[language]
  const { attempt, channels, shortcode } = checkout
  if (!attempt) return null
  const others = channels.filter(({ code }) => code !== attempt.channel)
  const part = await attemptPart({ attempt, language, displays, publicUrl: publicUrlOf(checkout), below: (path) => addressOf(shortcode, attemptId, path) })
  return html`<section class="card" aria-labelledby="method">
<div class="method">${picture({ code: attempt.channel, kind: attempt.kind }, displays)}<h2 id="method" tabindex="-1">${channelName(checkout, attempt.channel, attempt.kind, displays, language)}</h2></div>
${part}
<div class="status"><span class="pulse" aria-hidden="true"></span><p><span class="scripted-inline">${say.waiting}</span><noscript>${say.waitingByHand}</noscript></p></div>
<div class="asides"><a class="quiet" href="${addressOf(shortcode, attemptId)}" data-keep="refresh">${say.refresh}</a>${['qris', 'va', 'otc'].includes(attempt.kind) && html`<button type="button" class="quiet scripted" data-print>${say.print}</button>`}</div>
</section>
${others.length > 0 && html`<section class="card folded"><details><summary>${say.otherMethod}</summary>${channelList(others, `/pay/${shortcode}`, displays, language)}</details></section>`}`
}

/** The channels to choose from; after a try that led nowhere, that one again first. */
function choosing({ checkout, consequence, displays, frame: { language } }: CheckoutPageOptions): Part {
  const say = texts[language]
  const { attempt, channels, shortcode } = checkout
  const action = `/pay/${shortcode}`
  const trouble = consequence && 'troubleWith' in consequence ? consequence.troubleWith : null
  // What a refusal says of the last try, it says better than its state does.
  const [before, icon] = trouble !== null ? [say.trouble, 'trouble'] as const
    : consequence ? [null, null] : attempt?.status === 'failed' ? [say.failedAttempt, 'failed'] as const
      : attempt?.status === 'expired' ? [say.expiredAttempt, 'expired'] as const : [null, null]
  if (channels.length === 0) return html`<section class="card result">${stateHead('trouble', say.noChannel)}</section>`
  if (before === null) return html`<section class="card"><h2>${say.choose}</h2>${channelList(channels, action, displays, language)}</section>`
  const again = channels.find(({ code }) => code === (trouble ?? attempt?.channel))
  const others = channels.filter((channel) => channel !== again)
  return html`<section class="card result">${stateHead(icon, before)}${again && channelAgain(again, action, displays, language)}</section>
${others.length > 0 && html`<section class="card"><h2>${again ? say.chooseOther : say.chooseAgain}</h2>${channelList(others, action, displays, language)}</section>`}`
}

function deadline(time: string | null, now: Date, language: Language): readonly Part[] {
  if (time === null) return []
  const say = texts[language]
  return [
    row(say.payBefore, html`<time datetime="${time}">${moment(time, language)}</time>`),
    row(say.remaining, html`<span class="left" role="timer" data-deadline="${time}" data-now="${now.toISOString()}" data-day="${say.day}" data-days="${say.days}">${timeLeft(time, now, say)}</span>`),
  ]
}

function wayBack({ return_url }: Checkout): string | null {
  return return_url === null ? null : linkTo(return_url)
}
