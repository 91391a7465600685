import { html } from '../../pages/html.ts'
import type { Html, Part } from '../../pages/html.ts'
import { shortened, visible } from './bodyText.ts'
import type { Delivery } from './deliveries.ts'
import { copyButton, fold, mark } from './pageParts.ts'
import type { SignatureReading } from './signature.ts'
import { snippets } from './snippets.ts'

/** How much of the secret is shown: enough to tell one from another. */
const keyCharacters = 11

/** What a page shows of a secret. */
export function beginningOf(secret: string): string {
  return secret.length > 2 * keyCharacters ? `${secret.slice(0, keyCharacters)}…` : '…'
}

/** The check of the signature, step by step, as somebody who implements it goes through it. */
export function signaturePart(delivery: Delivery, keyBeginning: string): Html {
  const { check, number } = delivery
  const words = check.genuine ? 'right' : check.verdict === 'unread' ? 'not checked' : 'wrong'
  return fold('signature', `Signature: ${words}`, true, html`
${check.remark !== null && html`<p class="${check.genuine ? 'note' : 'note wrong'}">${check.remark}</p>`}
${[check.current, ...(check.previous === null ? [] : [check.previous])].map((reading) => readingPart(reading, delivery, keyBeginning))}
<details class="snippets" data-fold="snippets"><summary>Code that does this</summary>
${snippets.map(({ language, name, text }) => html`<details data-fold="snippet-${name}"><summary>${language}</summary>
<p class="actions">${copyButton(`snippet-${name}-${number}`, `Copy ${language}`, `/snippets/${
    name}`)}</p><pre class="code" tabindex="0" role="group" aria-label="${language}">${text}</pre></details>`)}
</details>`)
}

function readingPart(reading: SignatureReading, delivery: Delivery, keyBeginning: string): Html {
  const step = (name: string): boolean => reading.steps.find((one) => one.name === name)?.passed ?? false
  const { computed, header, parts, t, v1 } = reading
  const isEqual = step('v1 is what was computed')
  const age = reading.steps.find(({ name }) => name === 'age')?.found
  const line = (passed: boolean | null, title: string, content: Part): Html => html`<li>${mark(passed)}<div><h4>${title}</h4>${content}</div></li>`
  if (reading.verdict === 'missing') return html`<ol class="steps" aria-label="${header}">${line(false, header, html`<p>missing</p>`)}</ol>`
  return html`<ol class="steps" aria-label="${header}">
${line(reading.verdict === 'unread' ? null : step(header) && t !== null && step('v1'), `Take ${header} apart at the comma`, html`<p><code class="parts">${
    parts.map((part, at) =>
    html`${at > 0 && ','}<span class="${part.startsWith('t=') ? 'part-t' : part.startsWith('v1=') ? 'part-v1' : 'part'}">${
    visible(part)}</span>`)}</code></p>`)}
${reading.verdict === 'unread' ? null : html`
${line(step('age'), 'Look how old t is', html`<p>${t === null ? 'there is no t' : html`<code>${t}</code> is ${timeOf(t)}: ${age}`}</p>`)}
${t !== null && line(null, 'Write t, a dot and the raw body', signedText(t, delivery, header))}
${line(null, 'Take the key', html`<p><code>${keyBeginning}</code> the whole secret with <code>whsec_</code>, as UTF-8 bytes</p>`)}
${computed !== null && line(null, 'Compute HMAC-SHA256, in lower-case hex', html`<p><code>${compared(computed, v1 ?? '')}</code></p>`)}
${line(isEqual, 'Compare with v1, in constant time', html`<p>${v1 === null ? 'there is no v1' : html`<code>${
    compared(visible(v1), computed ?? '')}</code>`}</p><p>${isEqual ? 'the same' : 'not the same'}</p>`)}`}
</ol>`
}

function timeOf(t: string): string {
  const time = new Date(Number(t) * 1000)
  return Number.isNaN(time.getTime()) ? 'beyond every calendar' : `${time.toISOString().slice(0, 19).replace('T', ' ')} UTC`
}

function signedText(t: string, { body, number }: Delivery, header: string): Html {
  const { first, left, last } = shortened(body.toString(), 48, 24)
  const which = header.endsWith('Previous') ? 'previous' : 'current'
  return html`<p><code class="signed"><span class="part-t">${t}</span><span class="dot">.</span>${visible(first)}${left > 0 && html`<span class="left"> … ${
    left} characters … </span>${visible(last)}`}</code></p>
<p class="actions"><span class="soft">${t.length + 1 + body.length} bytes</span> ${copyButton(`signed-${which}-${
    number}`, 'Copy what is signed', `/deliveries/${number}/signed-${which}`)}</p>`
}

/** The text with what differs from the other set apart, from the first difference on. */
function compared(text: string, other: string): Part {
  const at = [...text].findIndex((sign, index) => sign !== other[index])
  return at === -1 ? text : html`${text.slice(0, at)}<mark>${text.slice(at)}</mark>`
}
