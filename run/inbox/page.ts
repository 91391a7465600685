import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { html } from '../../pages/html.ts'
import type { Html } from '../../pages/html.ts'
import { mostKept } from './deliveries.ts'
import type { Deliveries, Delivery } from './deliveries.ts'

/** The page's stylesheet; its address changes with its content. */
export const style = styleFile('./inbox.css')

function styleFile(name: string): { path: string, body: Buffer } {
  const body = readFileSync(new URL(name, import.meta.url))
  return { path: `/inbox-${createHash('sha256').update(body).digest('hex').slice(0, 12)}.css`, body }
}

const refreshSeconds = 3

/**
 * The inbox: each delivery newest first. `isHeld`: nothing is loaded again by itself and everything is unfolded, for
 * reading; else it is loaded again every few seconds with the newest's check and body unfolded.
 */
export function inboxPage(deliveries: Deliveries, receiverUrl: string, isHeld: boolean): Html {
  const newest = deliveries.newest()
  const events = new Set(newest.map(({ eventId }) => eventId).filter((id) => id !== null)).size
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${!isHeld && html`<meta http-equiv="refresh" content="${refreshSeconds}">`}
<title>Inbox · ${newest.length === 0 ? 'empty' : counted(newest.length, 'delivery', 'deliveries')}</title>
<link rel="stylesheet" href="${style.path}">
</head>
<body>
<header>
<h1>Webhook inbox</h1>
<p>What the demo merchant's subscription has sent to <code>${receiverUrl}</code></p>
<p class="counts"><strong>${counted(newest.length, 'delivery', 'deliveries')}</strong> of <strong>${counted(events, 'event', 'events')}</strong>${deliveries.total() > newest.length
  && html`, the last ${mostKept} of ${deliveries.total()}`}</p>
<nav>${isHeld ? html`<a href="/">Look for new ones every ${refreshSeconds} s</a>` : html`<a href="/?hold">Hold still and unfold all</a>`}</nav>
</header>
<main>
${newest.length === 0 && html`<p class="empty">Nothing has come yet. Create a payment intent: its first event is here within a second or two.</p>`}
${newest.map((delivery, at) => entry(delivery, isHeld, at === 0, isRepeated(delivery, newest)))}
</main>
</body>
</html>
`
}

function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`
}

/** Whether the event has come before, as it does when it is delivered again. */
function isRepeated({ eventId, number }: Delivery, all: readonly Delivery[]): boolean {
  return eventId !== null && all.some((other) => other.eventId === eventId && other.number < number)
}

function entry(delivery: Delivery, isHeld: boolean, isNewest: boolean, repeated: boolean): Html {
  const { check, deliveryId, eventId, eventInBody, headers, kind, number, receivedAt, text } = delivery
  const mirrors = kind !== null && kind === eventInBody
  return html`<article class="${check.genuine ? 'good' : 'bad'}" id="delivery-${number}">
<h2>${kind ?? 'without X-Service-Event-Kind'}</h2>
<p class="verdict">${check.genuine ? 'Signature right' : 'Signature wrong: refused with 401'}${repeated && html` <span class="again">event seen before</span>`}</p>
<dl>
<dt>received</dt><dd><time datetime="${receivedAt.toISOString()}">${receivedAt.toISOString().replace('T', ' ').replace('Z', ' UTC')}</time></dd>
<dt>delivery</dt><dd><code>${deliveryId ?? 'without X-Service-Delivery-Id'}</code></dd>
<dt>event</dt><dd><code>${eventId ?? 'the body has no id'}</code></dd>
</dl>
${fold('Signature check', isHeld || isNewest, html`<dl>${check.steps.map(({ name, found, passed }) => html`<dt>${name}</dt><dd class="${mark(passed)}"><code>${found}</code></dd>`)}
<dt>X-Service-Event-Kind mirrors event of the body</dt><dd class="${mark(mirrors)}"><code>${mirrors ? 'yes' : `no: ${eventInBody ?? 'it has none'}`}</code></dd></dl>`)}
${fold('Headers', isHeld, html`<dl>${headers.map(([name, value]) => html`<dt>${name}</dt><dd><code>${value}</code></dd>`)}</dl>`)}
${fold('Body', isHeld || isNewest, html`<pre tabindex="0">${text}</pre>`)}
</article>`
}

function mark(passed: boolean | null): string {
  return passed === null ? 'looked' : passed ? 'passed' : 'failed'
}

function fold(title: string, isOpen: boolean, content: Html): Html {
  return isOpen ? html`<details open><summary>${title}</summary>${content}</details>` : html`<details><summary>${title}</summary>${content}</details>`
}
