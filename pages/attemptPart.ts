import { barcode } from './barcode.ts'
import type { ChannelDisplays } from './channelDisplay.ts'
import { inGroups, rupiah } from './format.ts'
import { html, linkTo } from './html.ts'
import type { Html, Part } from './html.ts'
import type { Language } from './language.ts'
import type { Attempt } from './publicCheckout.ts'
import { qrPicture } from './qrPicture.ts'
import { stepMethods } from './stepMethods.ts'
import { texts } from './texts.ts'

export interface AttemptPlace {
  attempt: Attempt
  language: Language
  displays: ChannelDisplays
  /** The payment in the public operations. */
  publicUrl: string
  /** Addresses below the page, `?attempt=` kept. */
  below(path: string): string
}

/** What a payer needs for a pending attempt, by the kind of its channel. */
export async function attemptPart(place: AttemptPlace): Promise<Html> {
  const { attempt, below, language, publicUrl } = place
  const say = texts[language]
  if (attempt.qr_string !== undefined) {
    return html`<p>${say.qr}</p>
<div class="qr" role="img" aria-label="${say.qrAlt}">${await qrPicture(attempt.qr_string)}</div>
<p class="soft screen">${say.qrPhone}</p>
<a class="button" href="${below('/qr.png')}" download="qris.png">${say.qrSave}</a>
<a class="quiet" href="${below('/qr.svg')}" download="qris.svg">${say.qrSaveVector}</a>`
  }
  if (attempt.va_number !== undefined) {
    const bank = bankName(attempt.va_bank ?? '')
    return html`<p>${say.va}</p>
<dl class="field"><dt>${say.vaBank}</dt><dd>${bank}</dd></dl>
${copyable(say.vaNumber, attempt.va_number, say.copy, language, `${publicUrl}/va-copies`)}
${steps(place, bank, attempt.va_number)}`
  }
  if (attempt.payment_code !== undefined) {
    const bars = barcode(attempt.payment_code, say.barcodeAlt)
    return html`<p>${say.otc}</p>
${bars && html`<div class="bars">${bars}</div>`}
${copyable(say.otcCode, attempt.payment_code, say.copy, language, null)}
${steps(place, '', attempt.payment_code)}`
  }
  if (attempt.redirect_url !== undefined) return goOn(say.ewallet, say.openWallet, attempt.redirect_url)
  if (attempt.payment_url !== undefined) return goOn(say.paylater, say.openPaylater, attempt.payment_url)
  if (attempt.challenge_url !== undefined) return html`<p>${say.card}</p><a class="button" href="${below('/3ds')}">${say.openCard}</a>`
  return html`<p>${attempt.kind === 'cash' ? say.cash : say.unknownChannel}</p>`
}

function goOn(text: string, action: string, address: string): Html {
  const link = linkTo(address)
  return html`<p>${text}</p>${link !== null && html`<a class="button" href="${link}" rel="noreferrer">${action}</a>`}`
}

/** A number to copy: shown in groups, copied without; the button works only with the script, and is not there without. */
function copyable(label: string, value: string, copy: string, language: Language, countUrl: string | null): Part {
  return html`<dl class="field"><dt id="number-name">${label}</dt><dd><output class="number" id="number" aria-labelledby="number-name">${inGroups(value)}</output></dd></dl>
<button type="button" class="scripted" data-copy="${value}" data-of="number" data-copied="${texts[language].copied}" data-count-url="${countUrl ?? ''}">${copy}</button>`
}

/** How to pay, as folds: one for each place where it can be done. */
function steps({ attempt, displays, language }: AttemptPlace, bank: string, number: string): Part {
  const say = texts[language]
  const known = displays.get(attempt.channel)?.steps ?? {}
  const fill: Readonly<Record<string, string>> = { bank, number: inGroups(number).replaceAll(' ', '\u00a0'), amount: rupiah(attempt.amount_idr).replace(' ', '\u00a0') }
  const filled = (line: string): string => line.replace(/\{(bank|number|amount)\}/g, (_, name: string) => fill[name] ?? '')
  const folds = stepMethods.flatMap((method) => {
    const lines = known[method]?.[language]
    return lines ? [html`<details><summary>${say.stepsOf[method]}</summary><ol>${lines.map((line) => html`<li>${filled(line)}</li>`)}</ol></details>`] : []
  })
  return folds.length > 0 && html`<div class="folds"><h3>${say.steps}</h3>${folds}</div>`
}

/** `bank_a` as people write it. */
function bankName(code: string): string {
  return code.split('_').map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join(' ')
}
