import { html } from '../../pages/html.ts'
import type { Html, Part } from '../../pages/html.ts'
import { rupiah } from '../../pages/format.ts'
import { bodyPart } from './bodyPart.ts'
import { visible } from './bodyText.ts'
import { answerInWords } from './deliveries.ts'
import type { Delivery } from './deliveries.ts'
import { fold, mark } from './pageParts.ts'
import { isDeliveryId } from './resend.ts'
import { signaturePart } from './signaturePart.ts'

export interface DetailParts {
  /** Every delivery of the same event that is kept, oldest first. */
  attempts: readonly Delivery[]
  keyBeginning: string
  /** Address of the page with another delivery unfolded. */
  hrefOf(number: number): string
}

/** Everything about one delivery. */
export function detailPart(delivery: Delivery, { attempts, hrefOf, keyBeginning }: DetailParts): Html {
  const { check, deliveryId, headers, kind, number, path, receivedAt, told } = delivery
  const mirrors = kind !== null && kind === told.event
  const refused = check.verdict === 'unread' ? 'Signature not checked' : 'Signature wrong'
  return html`<article class="detail" id="detail" aria-label="Delivery ${number}">
<h2 tabindex="-1">${visible(kind ?? 'without X-Service-Event-Kind')}</h2>
<p class="${check.genuine ? 'verdict good' : 'verdict bad'}">${mark(check.genuine)} ${check.genuine ? 'Signature right' : refused}</p>
<dl class="facts">
${fact('Received', html`<time datetime="${receivedAt.toISOString()}">${receivedAt.toISOString().replace('T', ' ').replace('Z', ' UTC')}</time>`)}
${fact('Answered', html`${answerInWords(delivery.answer)}${delivery.answer.milliseconds >= 1000 && ` after ${
    (delivery.answer.milliseconds / 1000).toFixed(1)} s`}${delivery.answer.chosen && ', as chosen'}`)}
${fact('Event', told.eventId === null ? 'the body has no id' : code(told.eventId))}
${fact('Delivery', deliveryId === null ? 'without X-Service-Delivery-Id' : code(deliveryId))}
${told.intentId !== null && fact('Intent', code(told.intentId))}
${told.amountIdr !== null && fact('Amount', rupiah(told.amountIdr))}
${path !== '/' && fact('Path', code(path))}
${fact('Kind', html`${mark(mirrors)} ${mirrors ? 'header and body agree' : html`the body says otherwise: ${
    told.event === null ? 'it has no event' : code(told.event)}`}`)}
</dl>
${resendPart(delivery)}
${attempts.length > 1 && attemptsPart(delivery, attempts, hrefOf)}
${signaturePart(delivery, keyBeginning)}
${bodyPart(delivery)}
${fold('headers', `Headers (${headers.length})`, false, html`<dl class="headers">${headers.map(([name, value]) => fact(visible(name), code(value)))}</dl>`)}
</article>`
}

function fact(name: string, value: Part): Html {
  return html`<div><dt>${name}</dt><dd>${value}</dd></div>`
}

function code(text: string): Html {
  return html`<code>${visible(text)}</code>`
}

function resendPart({ deliveryId, number, resends }: Delivery): Html {
  const [last] = resends
  const result = last && html`<p class="${last.accepted ? 'note' : 'note wrong'}">${mark(last.accepted)} ${last.message} <time datetime="${
    last.at.toISOString()}">${timeOfDay(last.at)}</time></p>`
  if (!isDeliveryId(deliveryId)) return html`<p class="soft resend">It cannot be sent again: payments would need its X-Service-Delivery-Id.</p>`
  return html`<form class="resend" method="post" action="/deliveries/${number}/resend"><button id="resend-${number}">Send again</button>
<p class="soft">Payments delivers the event once more, the same bytes.</p></form>${result}`
}

function attemptsPart({ number }: Delivery, attempts: readonly Delivery[], hrefOf: DetailParts['hrefOf']): Html {
  const [first] = attempts
  return fold('attempts', `Attempts of this event (${attempts.length} here)`, true, html`<ol class="attempts">${attempts.map((one) => {
    const same = first && one !== first ? first.body.equals(one.body) : null
    const words = html`<span>Attempt ${one.attempt}</span> <time datetime="${one.receivedAt.toISOString()}">${timeOfDay(one.receivedAt)}</time> <span>${
    answerInWords(one.answer)}</span>
${same !== null && html`<span class="${same ? 'soft' : 'bad'}">${same ? 'the same bytes' : 'other bytes than the first'}</span>`} ${
    one.deliveryId !== null && code(one.deliveryId)}`
    return one.number === number ? html`<li aria-current="true">${words} <span class="soft">shown here</span></li>`
      : html`<li><a href="${hrefOf(one.number)}" data-delivery="${one.number}">${words}</a></li>`
  })}</ol>`)
}

/** Hours, minutes and seconds where the inbox runs. */
export function timeOfDay(time: Date): string {
  return time.toTimeString().slice(0, 8)
}
