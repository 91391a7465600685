import { html } from './html.ts'
import type { Html } from './html.ts'
import { layout } from './layout.ts'
import type { Frame } from './layout.ts'
import type { Checkout } from './publicCheckout.ts'
import { addressOf } from './checkoutPage.ts'
import { icon } from './icons.ts'
import { panelAround } from './sandboxPanel.ts'
import { notice, stateHead, summary } from './stateParts.ts'
import { texts } from './texts.ts'

export interface ChallengePageOptions {
  checkout: Checkout
  frame: Frame
  attemptId: string | undefined
  /** The issuer's answers in the sandbox; null elsewhere, where the issuer's own page is where the payer answers. */
  codes: { approve: string, decline: string } | null
  /** What the payer's last request led to, in words; null: nothing to say. */
  says: string | null
}

/** The 3-D-Secure challenge of a card payment (decision 3.12). */
export function challengePage({ attemptId, checkout, codes, frame, says }: ChallengePageOptions): Html {
  const say = texts[frame.language]
  const { challenge } = say
  const { attempt, shortcode, status } = checkout
  const isWaiting = status === 'open' && attempt?.status === 'pending' && attempt.challenge_url !== undefined
  const action = addressOf(shortcode, attemptId, '/3ds')
  const back = addressOf(shortcode, attemptId)
  const query = attemptId === undefined ? '' : `?attempt_id=${attemptId}`
  if (!isWaiting) {
    return layout({
      frame, checkout, shape: 'single', announces: challenge.over, live: null,
      content: html`<section class="card result">${stateHead('unknown', { title: challenge.title, text: challenge.over })}<a class="button" href="${back}">${challenge.toPayment}</a></section>`,
    })
  }
  return layout({
    frame, checkout, shape: 'split', announces: challenge.title,
    // What ends the payment elsewhere ends the challenge: then the payment's own page says so.
    live: { url: back, statusUrl: `/v1/public/payments/intents/${shortcode}/status${query}`, status, attemptId: attempt.id, attemptStatus: attempt.status },
    content: html`<section class="summary" aria-label="${say.summary}">${summary(checkout, frame.language, [])}</section>
<div class="steps">
${says !== null && notice(says)}
<section class="card" aria-labelledby="method">
<div class="method"><span class="tile">${icon('card')}</span><h2 id="method" tabindex="-1">${challenge.title}</h2></div>
<p>${codes ? challenge.text : challenge.elsewhere}</p>
${codes ? html`<form method="post" action="${action}"><button class="plain" name="cancel" value="${attempt.id}">${challenge.cancel}</button></form>` : html`<a class="button plain" href="${back}">${challenge.toPayment}</a>`}
</section>
${codes && panelAround(frame.language, challenge.panel, html`<form method="post" action="${action}"><div class="moves wide">
<button name="auth_code" value="${codes.approve}">${challenge.approve} ${codes.approve}</button>
<button class="plain" name="auth_code" value="${codes.decline}">${challenge.decline} ${codes.decline}</button></div></form>
<form method="post" action="/pay/${shortcode}/sandbox"><input type="hidden" name="attempt" value="${attempt.id}"><div class="moves">
<button class="plain" name="move" value="late">${say.panel.late}</button><button class="plain" name="move" value="expire">${say.panel.expire}</button></div></form>`)}
</div>`,
  })
}
