import { html } from '../../pages/html.ts'
import type { Html, Part } from '../../pages/html.ts'
import { hexRows, partsOfJson, readBodyText, visible } from './bodyText.ts'
import type { JsonPart } from './bodyText.ts'
import type { Delivery } from './deliveries.ts'
import { copyButton, fold } from './pageParts.ts'

/** Longest JSON that is shown in members to fold, and how much is shown of what is longer or none. */
const longestFolded = 65_536
const mostCharacters = 20_000
const hexBytes = 256

/** The body, folded by members where it is JSON, and the ways to take it away just as it came. */
export function bodyPart({ body, isWhole, number }: Delivery): Html {
  const { isJson, isUtf8, problem, text } = readBodyText(body)
  const parts = isJson && text.length <= longestFolded ? partsOfJson(text) : null
  return fold('body', 'Body', true, html`
${!isWhole ? html`<p class="note">Only the first ${
    body.length} bytes were kept: the body was longer than that.</p>` : problem !== null && html`<p class="note">${problem}</p>`}
<p class="actions">${isUtf8 && body.length > 0 && copyButton(`raw-${number}`, 'Copy raw', `/deliveries/${number}/raw`)}
${parts !== null && copyButton(`pretty-${number}`, 'Copy pretty', `/deliveries/${number}/pretty`)}
<a href="/deliveries/${number}/body" download>Download the bytes</a></p>
${parts !== null ? html`<div class="code json" role="group" aria-label="Body, by members">${partOf(parts, null, false)}</div>` : plain(text)}
${!isUtf8 && html`<pre class="code" tabindex="0" role="group" aria-label="First bytes in hex">${hexRows(body.subarray(0, hexBytes))}</pre>`}`)
}

function plain(text: string): Part {
  if (text === '') return null
  return html`<pre class="code" tabindex="0" role="group" aria-label="Body, as text">${visible(text.slice(0, mostCharacters), true)}</pre>
${text.length > mostCharacters && html`<p class="note">The first ${mostCharacters} of ${text.length} characters; all are in the download.</p>`}`
}

function partOf(part: JsonPart, name: string | null, hasNext: boolean): Html {
  const before = name === null ? null : html`<span class="name">${visible(name)}</span>: `
  const after = hasNext && ','
  if ('written' in part) return html`<div class="line">${before}<span class="${part.kind}">${visible(part.written)}</span>${after}</div>`
  const [open, close] = part.kind === 'object' ? ['{', '}'] : ['[', ']']
  const { members } = part
  if (members.length === 0) return html`<div class="line">${before}${open}${close}${after}</div>`
  const count = `${members.length} ${part.kind === 'object' ? 'member' : 'item'}${members.length === 1 ? '' : 's'}`
  return html`<details open><summary>${before}${open}<span class="folded"> ${count} ${close}${after}</span></summary>
<div class="members">${members.map(({ name: own, value }, at) => partOf(value, own, at < members.length - 1))}</div><div class="line">${close}${
    after}</div></details>`
}
