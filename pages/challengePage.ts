import { rupiah } from './format.ts'
import { html } from './html.ts'
import type { Html } from './html.ts'
import type { Language } from './language.ts'
import { brandHeader, layout } from './layout.ts'
import type { Checkout } from './publicCheckout.ts'
import { addressOf } from './checkoutPage.ts'
import { texts } from './texts.ts'

/**
 * The 3-D-Secure challenge of a card payment (decision 3.12): in the sandbox the issuer's answers as buttons; elsewhere
 * the issuer's own page is where the payer answers. `codes` is null outside the sandbox.
 */
export function challengePage(
  checkout: Checkout, attemptId: string | undefined, codes: { approve: string, decline: string } | null, notice: string | null, language: Language,
): Html {
  const say = texts[language]
  const { challenge } = say
  const isWaiting = checkout.status === 'open' && checkout.attempt?.status === 'pending' && checkout.attempt.challenge_url !== undefined
  const code = (value: string, name: string, look: string) =>
    html`<button class="${look}" name="auth_code" value="${value}"><span>${name} <span class="digits">${value}</span></span></button>`
  const answers = codes && html`<form method="post" class="kinds" action="/pay/${checkout.shortcode}/3ds${attemptId !== undefined && `?attempt=${attemptId}`}">
${code(codes.approve, challenge.approve, '')}
${code(codes.decline, challenge.decline, 'plain')}
<button class="plain" name="cancel" value="${checkout.attempt?.id}">${challenge.cancel}</button>
</form>`
  return layout({
    language, title: checkout.brand.display_name, accentHex: checkout.brand.accent_hex,
    content: html`<main>
${brandHeader(checkout, language)}
${checkout.environment === 'sandbox' && html`<p class="notice small">${say.sandbox}</p>`}
${notice !== null && html`<p class="notice bad" role="alert">${notice}</p>`}
<section class="card"><h2>${challenge.title}</h2>
<div><p class="soft small">${say.amount}</p><p class="amount">${rupiah(checkout.amount_idr)}</p></div>
<p>${!isWaiting ? challenge.over : codes ? challenge.text : challenge.elsewhere}</p>
${isWaiting && answers}
<a href="${addressOf(checkout.shortcode, attemptId)}">${challenge.toPayment}</a>
</section>
</main>`,
  })
}
