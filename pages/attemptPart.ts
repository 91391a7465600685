import { html, linkTo } from './html.ts'
import type { Html, Part } from './html.ts'
import { inGroups } from './format.ts'
import type { Language } from './language.ts'
import type { Attempt } from './publicCheckout.ts'
import { qrPicture } from './qrPicture.ts'
import { texts } from './texts.ts'

/** What a payer needs for a pending attempt, by the kind of its channel. `publicUrl` is the payment in the public operations. */
export async function attemptPart(attempt: Attempt, publicUrl: string, pageUrl: string, language: Language): Promise<Html> {
  const say = texts[language]
  if (attempt.qr_string !== undefined) {
    return html`<p>${say.qr}</p>
<div class="qr" role="img" aria-label="${say.qrAlt}">${await qrPicture(attempt.qr_string)}</div>
<a class="button plain" href="${pageUrl}/qr.png" download="qris.png">${say.qrSave}</a>`
  }
  if (attempt.va_number !== undefined) {
    return html`<p>${say.va}</p>
<p class="soft">${say.vaBank}: <strong>${bankName(attempt.va_bank ?? '')}</strong></p>
${copyable(say.vaNumber, attempt.va_number, language, `${publicUrl}/va-copies`)}`
  }
  if (attempt.payment_code !== undefined) return html`<p>${say.otc}</p>${copyable(say.otcCode, attempt.payment_code, language, null)}`
  if (attempt.redirect_url !== undefined) return goOn(say.ewallet, say.openWallet, attempt.redirect_url)
  if (attempt.payment_url !== undefined) return goOn(say.paylater, say.openPaylater, attempt.payment_url)
  if (attempt.challenge_url !== undefined) return html`<p>${say.card}</p><a class="button" href="${pageUrl}/3ds">${say.openCard}</a>`
  return html`<p>${attempt.kind === 'cash' ? say.cash : say.unknownChannel}</p>`
}

function goOn(text: string, action: string, address: string): Html {
  const link = linkTo(address)
  return html`<p>${text}</p>${link !== null && html`<a class="button" href="${link}" rel="noreferrer">${action}</a>`}`
}

/** A number to copy: shown in groups, copied without; the button works only with the script, and is hidden without. */
function copyable(label: string, value: string, language: Language, countUrl: string | null): Part {
  const { copy, copied } = texts[language]
  return html`<div class="field"><h3>${label}</h3><div class="code"><output id="to-copy">${inGroups(value)}</output>
<button type="button" class="plain" hidden data-copy="${value}" data-of="to-copy" data-copied="${copied}" data-count-url="${countUrl ?? ''}">${copy}</button></div></div>`
}

/** `bank_a` as people write it. */
function bankName(code: string): string {
  return code.split('_').map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join(' ')
}
