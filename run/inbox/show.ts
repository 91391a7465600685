import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Runtime } from '../../domain/runtime.ts'
import { requestForm } from '../../pages/requestForm.ts'
import { send } from '../../pages/sendPage.ts'
import { readChoice, ruleInWords } from './answers.ts'
import type { AnswerChooser } from './answers.ts'
import { script, style } from './assetFiles.ts'
import { prettyJson } from './bodyText.ts'
import type { Deliveries, Delivery } from './deliveries.ts'
import type { LivePages } from './live.ts'
import { inboxPage } from './page.ts'
import { isDeliveryId } from './resend.ts'
import type { AskForResend } from './resend.ts'
import { isOwnHost, isSameOrigin } from './sameOrigin.ts'
import { beginningOf } from './signaturePart.ts'
import { snippets } from './snippets.ts'
import { hrefOf, readView } from './view.ts'

export interface PagesParts {
  kept: Deliveries
  chooser: AnswerChooser
  live: LivePages
  resend: AskForResend
  runtime: Pick<Runtime, 'now'>
  secret: string
  receiverUrl(): string
  run: string
}

/** Forms carry their origin, so that it can be looked at; nobody else is told an address. */
const referrerPolicy = { 'Referrer-Policy': 'same-origin' }
const plainText = 'text/plain; charset=utf-8'

/** Answers what a browser asks of the page. Nothing is changed by GET. */
export async function show(request: IncomingMessage, response: ServerResponse, parts: PagesParts): Promise<void> {
  const url = URL.parse(request.url ?? '/', 'http://inbox.invalid')
  if (!isOwnHost(request.headers.host)) {
    say(response, 403, 'The inbox is opened at localhost or by address, not by another name.')
  } else if (url === null) {
    say(response, 400, 'That is no address.')
  } else if (request.method === 'POST') {
    if (isSameOrigin(request.headers)) await act(request, response, url.pathname, parts)
    else say(response, 403, 'Another page asked for this: open the inbox itself.')
  } else if (request.method === 'GET' || request.method === 'HEAD') {
    read(request, response, url, parts)
  } else {
    say(response, 405, 'Pages are read by GET; deliveries are received over https.', { Allow: 'GET, HEAD, POST' })
  }
}

function say(response: ServerResponse, status: number, words: string, headers: Record<string, string> = {}): void {
  send(response, status, `${words}\n`, { ...referrerPolicy, 'Content-Type': plainText, ...headers })
}

function read(request: IncomingMessage, response: ServerResponse, url: URL, parts: PagesParts): void {
  const { chooser, kept, live, receiverUrl, run, secret } = parts
  const asset = [style, script].find(({ path }) => path === url.pathname)
  const snippet = snippets.find(({ name }) => url.pathname === `/snippets/${name}`)
  const [, number, what] = /^\/deliveries\/(\d{1,10})\/(body|raw|pretty|signed-current|signed-previous)$/.exec(url.pathname) ?? []
  if (url.pathname === '/') {
    const page = inboxPage({ kept, rules: chooser.rules(), receiverUrl: receiverUrl(), keyBeginning: beginningOf(secret), run }, readView(url.searchParams))
    send(response, 200, page.markup, { ...referrerPolicy, 'Content-Type': 'text/html; charset=utf-8' })
  } else if (url.pathname === '/live' && request.method === 'GET') {
    live.open(response)
  } else if (url.pathname === '/favicon.ico') {
    send(response, 204, '', {})
  } else if (asset) {
    send(response, 200, asset.body, { 'Content-Type': asset.type, 'Cache-Control': 'public, max-age=31536000, immutable' })
  } else if (snippet) {
    say(response, 200, snippet.text.trimEnd())
  } else if (what) {
    sendPiece(response, kept.find(Number(number)), what)
  } else {
    say(response, 404, 'Nothing is here; the inbox is at /.')
  }
}

/** A piece of a delivery, never as something that a browser would run. */
function sendPiece(response: ServerResponse, delivery: Delivery | undefined, what: string): void {
  const bytes = delivery && pieceOf(delivery, what)
  if (!delivery || !bytes) {
    say(response, 404, 'It is no longer kept, or there is no such thing of it.')
    return
  }
  const download = { 'Content-Type': 'application/octet-stream', 'Content-Disposition': `attachment; filename="delivery-${delivery.number}.bin"` }
  send(response, 200, bytes, { ...referrerPolicy, ...(what === 'body' ? download : { 'Content-Type': plainText }) })
}

function pieceOf({ body, check }: Delivery, what: string): Buffer | string | null {
  if (what === 'pretty') return prettyJsonOf(body)
  if (what === 'body' || what === 'raw') return body
  const t = (what === 'signed-previous' ? check.previous : check.current)?.t ?? null
  return t === null ? null : Buffer.concat([Buffer.from(`${t}.`), body])
}

function prettyJsonOf(body: Buffer): string | null {
  try {
    JSON.parse(body.toString())
  } catch {
    return null
  }
  return prettyJson(body.toString())
}

async function act(request: IncomingMessage, response: ServerResponse, path: string, parts: PagesParts): Promise<void> {
  const { kept } = parts
  const done = (words: string, accepted = true, view = {}): void => answerAct(request, response, words, accepted, hrefOf(readView(new URLSearchParams()), view))
  const number = /^\/deliveries\/(\d{1,10})\/resend$/.exec(path)?.[1]
  if (path === '/clear') {
    kept.clear()
    done('The inbox is empty.')
  } else if (path === '/answer') {
    await chooseAnswer(request, response, parts)
  } else if (number !== undefined) {
    const delivery = kept.find(Number(number))
    if (!delivery || !isDeliveryId(delivery.deliveryId)) {
      say(response, 404, 'It is no longer kept, or has no X-Service-Delivery-Id.')
      return
    }
    const { accepted, message } = await parts.resend(delivery.deliveryId)
    kept.resent(delivery.number, { at: parts.runtime.now(), accepted, message })
    done(message, accepted, { delivery: delivery.number })
  } else {
    say(response, 404, 'Nothing is here; the inbox is at /.')
  }
}

async function chooseAnswer(request: IncomingMessage, response: ServerResponse, { chooser, kept }: PagesParts): Promise<void> {
  const form = await requestForm(request)
  const choice = form === null ? { problem: 'send a form: answer=500&kind=&count=' } : readChoice(form)
  if ('problem' in choice) {
    say(response, 400, `This cannot be answered: ${choice.problem}.`)
    return
  }
  if ('rule' in choice) chooser.choose(choice.rule)
  else chooser.reset()
  kept.changed()
  answerAct(request, response, 'rule' in choice ? ruleInWords(choice.rule) : 'Answers are as a receiver\'s should be again.', true, '/')
}

/** To the script and to other programs in words; a browser without script is sent back to the page. */
function answerAct(request: IncomingMessage, response: ServerResponse, words: string, accepted: boolean, location: string): void {
  if (request.headers.accept?.includes('text/html')) send(response, 303, '', { ...referrerPolicy, Location: location })
  else say(response, accepted ? 200 : 409, words)
}
