import { html } from '../../pages/html.ts'
import type { Html, Part } from '../../pages/html.ts'
import { rupiah } from '../../pages/format.ts'
import { script, style } from './assetFiles.ts'
import { answerPart, bannerPart } from './answerPart.ts'
import type { AnswerRule } from './answers.ts'
import { visible } from './bodyText.ts'
import { answerInWords, mostBytesKept, mostKept } from './deliveries.ts'
import type { Deliveries, Delivery } from './deliveries.ts'
import { detailPart, timeOfDay } from './detailPart.ts'
import { counted, mark } from './pageParts.ts'
import { filtered, hrefOf, isFiltered, kindOf } from './view.ts'
import type { View } from './view.ts'

export interface PageParts {
  kept: Deliveries
  rules: readonly AnswerRule[]
  receiverUrl: string
  keyBeginning: string
  /** Tells one start of the inbox from another: the numbers begin anew. */
  run: string
}

/** The inbox: what has come, newest first, with the one that the view names unfolded. */
export function inboxPage(parts: PageParts, view: View): Html {
  const all = parts.kept.newest()
  const shown = filtered(all, view)
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Webhook inbox</title>
<link rel="stylesheet" href="${style.path}">
<script src="${script.path}" defer></script>
</head>
<body>
<header>
<div><h1>Webhook inbox</h1><p class="soft receiver">https receiver of the demo merchant: <code>${parts.receiverUrl}</code></p></div>
<div class="tools"><p id="live" class="soft scripted" role="status"></p>
<button type="button" id="pause" class="quiet scripted" aria-pressed="false">Pause</button>
<noscript><a class="button quiet" href="${hrefOf(view)}">Refresh</a></noscript>
<form method="post" action="/clear"><button class="quiet" id="clear">Clear</button></form></div>
</header>
<main data-run="${parts.run}">
<div id="banner">${bannerPart(parts.rules)}</div>
<p class="hidden" id="said" role="status"></p>
<div id="panes"><div id="left">
<div id="controls">${answerPart(all, parts.rules)}${filterPart(all, view)}</div>
<p id="counts">${countsPart(all, shown, view)}</p>
<button type="button" id="pill" hidden></button>
${listPart(shown, all, parts, view)}
<p id="note" class="soft">${parts.kept.dropped() > 0 && `${counted(parts.kept.dropped(), 'older one was', 'older ones were')} dropped: the last ${
    mostKept} are kept, ${mostBytesKept / 1_048_576} MiB of bodies at most.`}</p>
</div>${placePart()}</div>
</main>
</body>
</html>
`
}

function countsPart(all: readonly Delivery[], shown: readonly Delivery[], view: View): Part {
  const events = new Set(all.map(({ number, told }) => told.eventId ?? number)).size
  const wrong = all.filter(({ check }) => !check.genuine).length
  return html`${isFiltered(view) && html`<strong>${shown.length} shown</strong> of `}<strong>${
    counted(all.length, 'delivery', 'deliveries')}</strong> of <strong>${counted(events, 'event', 'events')}</strong>${
    wrong > 0 && html`, ${wrong} with a wrong signature`}`
}

/** Options with how often each occurs; the one that is chosen is there even if nothing has it. */
function options(name: string, any: string, values: readonly string[], chosen: string): Html {
  const counts = new Map<string, number>(chosen === '' ? [] : [[chosen, 0]])
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  return html`<select name="${name}" id="filter-${name}" aria-label="${any}"><option value="">${any}</option>${
    [...counts].toSorted(([a], [b]) => a < b ? -1 : 1).map(([value, count]) => value === chosen
    ? html`<option value="${value}" selected>${visible(value)} (${count})</option>` : html`<option value="${value}">${visible(value)} (${
    count})</option>`)}</select>`
}

function filterPart(all: readonly Delivery[], view: View): Html {
  return html`<form id="filter" method="get" action="/" role="search" aria-label="Filter">
<input type="search" name="q" id="q" value="${view.q}" aria-label="Event, intent or delivery id, or text in the body" placeholder="Id or text in the body" autocomplete="off" spellcheck="false" maxlength="200" aria-keyshortcuts="/">
<div class="selects">${options('kind', 'Kind', all.map(kindOf), view.kind)}
${options('signature', 'Signature', all.map(({ check }) => check.genuine ? 'right' : 'wrong'), view.signature)}
${options('answer', 'Answer', all.map(({ answer }) => answerInWords(answer)), view.answer)}</div>
<p class="actions"><button class="quiet unscripted">Filter</button><span id="reset">${isFiltered(view) && html`<a href="${
    hrefOf(view, { q: '', kind: '', signature: '', answer: '' })}">Show all</a>`}</span></p>
</form>`
}

function listPart(shown: readonly Delivery[], all: readonly Delivery[], parts: PageParts, view: View): Html {
  const empty = all.length === 0
    ? html`<p>Nothing has come yet. Create a payment intent: its first event is here within a second or two.</p>`
    : shown.length === 0 && html`<p>None of the ${all.length} fits the filter. <a href="${
    hrefOf(view, { q: '', kind: '', signature: '', answer: '' })}">Show all</a></p>`
  return html`<div id="empty">${empty}</div>
<div id="scroller"><ol id="deliveries" aria-label="Deliveries, newest first" reversed>${
    shown.map((delivery) => row(delivery, delivery.number === view.delivery, parts, view))}</ol></div>`
}

/** Where details stand on a wide screen, while there are none. */
function placePart(): Html {
  return html`<div id="place"><p>Choose a delivery to see all of it.</p>
<p class="scripted"><kbd>↑</kbd> <kbd>↓</kbd> move, <kbd>Enter</kbd> unfolds and folds, <kbd>/</kbd> filters, <kbd>Esc</kbd> leads back</p></div>`
}

function row(delivery: Delivery, isOpen: boolean, { keyBeginning, kept }: PageParts, view: View): Html {
  const { answer, attempt, check, number, receivedAt, told } = delivery
  const words = html`<span class="kind">${visible(kindOf(delivery))}</span><time datetime="${receivedAt.toISOString()}">${timeOfDay(receivedAt)}</time>
<span class="state"><span class="${check.genuine ? 'good' : 'bad'}">${mark(check.genuine)} signature</span> <span class="${
    isBad(answer) ? 'answer bad' : 'answer'}">${answerInWords(answer)}</span>${
  attempt > 1 && html` <span class="again">attempt ${attempt}</span>`}${told.amountIdr !== null && html` <span class="amount">${
    rupiah(told.amountIdr)}</span>`}</span>`
  if (!isOpen) return html`<li id="delivery-${number}"><a class="row" href="${hrefOf(view, { delivery: number })}" aria-expanded="false" data-delivery="${
    number}">${words}</a></li>`
  const attempts = told.eventId === null ? [delivery] : kept.ofEvent(told.eventId)
  return html`<li id="delivery-${number}" class="open"><a class="row" href="${hrefOf(view, { delivery: null })}" aria-expanded="true" data-delivery="${
    number}">${words}</a>
${detailPart(delivery, { attempts, keyBeginning, hrefOf: (other) => hrefOf(view, { delivery: other }) })}</li>`
}

function isBad({ state, status }: Delivery['answer']): boolean {
  return state === 'answered' ? (status ?? 0) >= 300 : state !== 'answering'
}
