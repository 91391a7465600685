import { html } from '../../pages/html.ts'
import type { Html, Part } from '../../pages/html.ts'
import { eventKinds, testEventKind } from '../../domain/webhookEvents.ts'
import { retryPolicy } from '../../domain/webhookRetry.ts'
import { answers, limits, ruleInWords } from './answers.ts'
import type { AnswerRule } from './answers.ts'
import { visible } from './bodyText.ts'
import type { Delivery } from './deliveries.ts'

/** Says what is answered while it was chosen, with the way back. */
export function bannerPart(rules: readonly AnswerRule[]): Part {
  if (rules.length === 0) return null
  const fails = rules.some(({ answer, left }) => left === null && !/^(200|204|slow-10|slow-29)$/.test(answer))
  return html`<section class="${rules.every(({ answer }) => answer === '200' || answer === '204') ? 'banner calm' : 'banner'}" aria-label="Chosen answers">
<div>${rules.map((rule) => html`<p><strong>${visible(ruleInWords(rule))}</strong></p>`)}
${fails && html`<p>After ${retryPolicy.failuresToDisable} failures in a row of one delivery the subscription is turned off.</p>`}</div>
<form method="post" action="/answer"><input type="hidden" name="answer" value="receiver"><button id="back">Back to normal</button></form></section>`
}

function answerNow(rules: readonly AnswerRule[]): string {
  if (rules.length === 0) return '204, or 401 if wrong'
  return rules.length === 1 && rules[0]?.kind === null ? answers[rules[0].answer].label : 'as chosen by kind'
}

/** The chooser of what the receiver answers. */
export function answerPart(all: readonly Delivery[], rules: readonly AnswerRule[]): Html {
  const kinds = new Set<string>([...eventKinds, testEventKind, ...all.flatMap(({ kind }) => kind ?? [])])
  return html`<details id="chooser" data-fold="chooser"><summary>Answer: <span id="answer-now">${answerNow(rules)}</span></summary>
<form method="post" action="/answer">
<label>Answer <select name="answer"><option value="receiver">as a receiver should: 204, or 401</option>${
    Object.entries(answers).map(([name, { label }]) => html`<option value="${name}">${label}</option>`)}</select></label>
<label>to <select name="kind" id="answer-kind"><option value="">every kind</option>${[...kinds].map((kind) => html`<option value="${kind}">${
    visible(kind)}</option>`)}</select></label>
<label>for the next <input name="count" inputmode="numeric" pattern="[0-9]*" maxlength="4" placeholder="all" size="4" aria-describedby="count-hint"></label>
<label>Retry-After <input name="retry_after" inputmode="numeric" pattern="[0-9]*" maxlength="4" value="30" size="4" aria-describedby="count-hint"> s</label>
<button id="choose">Answer so</button>
<p class="soft" id="count-hint">Empty: until it is changed, ${
    limits.deliveries} at most otherwise. Retry-After is sent with 429 alone. A restart forgets all of it.</p>
</form></details>`
}
