import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { CheckoutMove } from '../handlers/payments/checkoutSandbox.ts'
import type { MakePages } from '../handlers/http/pageHandler.ts'
import type { PageSurroundings } from '../handlers/service.ts'
import { sendAsset } from './assetFiles.ts'
import { challengePage } from './challengePage.ts'
import { addressOf, checkoutPage } from './checkoutPage.ts'
import { languageOf } from './language.ts'
import type { Language } from './language.ts'
import { messagePage } from './layout.ts'
import { publicCheckouts } from './publicCheckout.ts'
import type { Checkout, PublicCheckouts, Refusal } from './publicCheckout.ts'
import { qrImage } from './qrPicture.ts'
import { requestForm } from './requestForm.ts'
import { seeOther, send, sendPage } from './sendPage.ts'
import { texts } from './texts.ts'

/** One request for a page. */
interface Visit {
  request: IncomingMessage
  response: ServerResponse
  checkouts: PublicCheckouts
  language: Language
  shortcode: string
  /** The attempt that the address asks for. */
  attemptId: string | undefined
  surroundings: PageSurroundings
}

type Answer = (visit: Visit) => Promise<void>
type Methods = Partial<Record<'GET' | 'POST', Answer>>

const routes: Readonly<Record<string, Methods>> = {
  '': { GET: showCheckout, POST: choose },
  '/qr.png': { GET: showQrImage },
  '/3ds': { GET: showChallenge, POST: answerChallenge },
  '/sandbox': { POST: moveInPanel },
}

const address = /^\/pay\/([^/]+)(\/[^/]+)?$/
const sandboxMoves: readonly string[] = ['complete', 'decline', 'expire'] satisfies CheckoutMove[]
const strictTransport = 'max-age=63072000; includeSubDomains'

/**
 * The hosted pages `/pay/{shortcode}` and `/pay/{shortcode}/3ds`. They know a payment by the public operations alone,
 * called in this process on behalf of the page's visitor; the sandbox's moves come from the surroundings.
 */
export function checkoutPages(surroundings: PageSurroundings): MakePages {
  return (pipeline) => async (request, response) => {
    const url = URL.parse(request.url ?? '/', 'http://pages.invalid')
    if (!url?.pathname.startsWith('/pay/')) return false
    const { pathname, searchParams } = url
    if (surroundings.httpsOnly) response.setHeader('Strict-Transport-Security', strictTransport)
    await answer(request, response, pipeline, pathname, searchParams.get('attempt') ?? undefined, surroundings)
    return true
  }
}

async function answer(
  request: IncomingMessage, response: ServerResponse, pipeline: RequestListener, path: string, attemptId: string | undefined,
  surroundings: PageSurroundings,
): Promise<void> {
  const language = languageOf(request.headers['accept-language'])
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  if (isRead && sendAsset(path, response)) return
  const [, shortcode, rest = ''] = address.exec(path) ?? []
  const methods = Object.hasOwn(routes, rest) ? routes[rest] : undefined
  if (shortcode === undefined || !methods) {
    sendPage(response, 404, messagePage(language, texts[language].notFound))
    return
  }
  const visit = { request, response, checkouts: publicCheckouts(pipeline, request), language, shortcode, attemptId, surroundings }
  const respond = isRead ? methods.GET : request.method === 'POST' ? methods.POST : undefined
  if (respond) await respond(visit)
  else send(response, 405, '', { Allow: Object.keys(methods).flatMap((name) => name === 'GET' ? ['GET', 'HEAD'] : [name]).join(', ') })
}

/** The payment, or null after the visitor was told why there is none to show. */
async function read(visit: Visit): Promise<Checkout | null> {
  const { attemptId, checkouts, language, response, shortcode } = visit
  const first = await checkouts.read(shortcode, attemptId)
  const branding = 'value' in first ? visit.surroundings.brandsUnderWay() : null
  if (branding) await branding
  const found = branding ? await checkouts.read(shortcode, attemptId) : first
  if ('value' in found) return found.value
  const { refusal } = found
  const say = texts[language]
  if (refusal.status === 404 || refusal.status === 400) sendPage(response, 404, messagePage(language, say.notFound))
  else sendPage(response, refusal.status, messagePage(language, { title: say.documentTitle, text: wordsFor(refusal, language) }), retryAfter(refusal))
  return null
}

async function showCheckout(visit: Visit): Promise<void> {
  const checkout = await read(visit)
  if (checkout) await sendCheckout(visit, checkout, 200, null)
}

async function sendCheckout(
  { attemptId, language, response, surroundings: { now, sandbox } }: Visit, checkout: Checkout, status: number, notice: string | null,
  headers: Record<string, string> = {},
): Promise<void> {
  const hasPanel = sandbox !== null && checkout.attempt?.challenge_url === undefined
  sendPage(response, status, await checkoutPage({ checkout, language, attemptId, notice, hasPanel, now: now() }), headers)
}

async function choose(visit: Visit): Promise<void> {
  const { checkouts, language, request, response, shortcode } = visit
  const channel = (await requestForm(request))?.get('channel')
  if (!channel) {
    seeOther(response, addressOf(shortcode, undefined))
    return
  }
  const chosen = await checkouts.choose(shortcode, channel)
  if ('value' in chosen) {
    const shown = await checkouts.read(shortcode, undefined)
    // Where each payer has an attempt of their own, the address must say whose.
    const isShared = !('value' in shown) || shown.value.attempt?.id === chosen.value.id
    seeOther(response, addressOf(shortcode, isShared ? undefined : chosen.value.id))
    return
  }
  const { refusal } = chosen
  const checkout = await read({ ...visit, attemptId: undefined })
  if (!checkout) return
  // What has ended meanwhile says so itself.
  if (refusal.code === 'invalid_state') seeOther(response, addressOf(shortcode, undefined))
  else await sendCheckout({ ...visit, attemptId: undefined }, checkout, refusal.status, wordsFor(refusal, language), retryAfter(refusal))
}

async function showQrImage(visit: Visit): Promise<void> {
  const checkout = await read(visit)
  if (!checkout) return
  const content = checkout.attempt?.qr_string
  if (content === undefined) sendPage(visit.response, 404, messagePage(visit.language, texts[visit.language].notFound))
  else send(visit.response, 200, await qrImage(content), { 'Content-Type': 'image/png' })
}

async function showChallenge(visit: Visit): Promise<void> {
  const { sandbox } = visit.surroundings
  const checkout = await read(visit)
  if (checkout) sendPage(visit.response, 200, challengePage(checkout, visit.attemptId, sandbox?.codes ?? null, null, visit.language))
}

async function answerChallenge(visit: Visit): Promise<void> {
  const { attemptId, checkouts, language, request, response, shortcode, surroundings: { sandbox } } = visit
  const form = await requestForm(request)
  const checkout = await read(visit)
  if (!checkout) return
  const [code, cancelled] = [form?.get('auth_code'), form?.get('cancel')]
  if (code) {
    const answered = await checkouts.answerChallenge(checkout.id, code)
    if ('refusal' in answered && answered.refusal.code !== 'invalid_state') {
      const page = challengePage(checkout, attemptId, sandbox?.codes ?? null, wordsFor(answered.refusal, language), language)
      sendPage(response, answered.refusal.status, page, retryAfter(answered.refusal))
      return
    }
  } else if (cancelled && sandbox && cancelled === checkout.attempt?.id && checkout.attempt.challenge_url !== undefined) {
    await sandbox.move(shortcode, cancelled, 'abandon')
  }
  seeOther(response, addressOf(shortcode, attemptId))
}

/** The sandbox panel. The payment is read first, as every visitor's is: unknown codes and floods end there. */
async function moveInPanel(visit: Visit): Promise<void> {
  const { language, request, response, shortcode, surroundings: { sandbox } } = visit
  if (!sandbox) {
    sendPage(response, 404, messagePage(language, texts[language].notFound))
    return
  }
  const form = await requestForm(request)
  const [attemptId, move] = [form?.get('attempt') ?? undefined, form?.get('move') ?? '']
  const before = await read({ ...visit, attemptId })
  if (!before) return
  const outcome = attemptId !== undefined && sandboxMoves.includes(move) ? await sandbox.move(shortcode, attemptId, move as CheckoutMove) : 'refused'
  const plain = await visit.checkouts.read(shortcode, undefined)
  const own = 'value' in plain && plain.value.attempt?.id !== attemptId ? attemptId : undefined
  if (outcome === 'applied') {
    seeOther(response, addressOf(shortcode, own))
    return
  }
  const checkout = await read({ ...visit, attemptId: own })
  const { refused, silent } = texts[language].panel
  if (checkout) await sendCheckout({ ...visit, attemptId: own }, checkout, outcome === 'refused' ? 409 : 200, outcome === 'refused' ? refused : silent)
}

function wordsFor({ code }: Refusal, language: Language): string {
  const { refusals, refused } = texts[language]
  return Object.hasOwn(refusals, code) ? refusals[code] ?? refused : refused
}

function retryAfter({ retrySeconds }: Refusal): Record<string, string> {
  return retrySeconds === null ? {} : { 'Retry-After': String(retrySeconds) }
}
