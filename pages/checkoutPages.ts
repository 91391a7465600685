import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { CheckoutMove } from '../handlers/payments/checkoutSandbox.ts'
import type { MakePages } from '../handlers/http/pageHandler.ts'
import type { PageSurroundings } from '../handlers/service.ts'
import { sendAsset } from './assetFiles.ts'
import { readChannelDisplays } from './channelDisplay.ts'
import type { ChannelDisplays } from './channelDisplay.ts'
import { challengePage } from './challengePage.ts'
import { addressOf, checkoutPage } from './checkoutPage.ts'
import type { Consequence } from './checkoutPage.ts'
import { asLanguage, keepLanguage, keptLanguage, languageOf } from './language.ts'
import type { Language } from './language.ts'
import type { Frame } from './layout.ts'
import { publicCheckouts } from './publicCheckout.ts'
import type { Checkout, PublicCheckouts, Refusal } from './publicCheckout.ts'
import { qrImage, qrPicture } from './qrPicture.ts'
import { requestForm } from './requestForm.ts'
import { seeOther, send, sendPage } from './sendPage.ts'
import { messagePage } from './stateParts.ts'
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
  displays: ChannelDisplays
  /** Path and query of this page, by which it is shown in the other language; null where there is none. */
  here: string | null
}

type Answer = (visit: Visit) => Promise<void>
type Methods = Partial<Record<'GET' | 'POST', Answer>>

const routes: Readonly<Record<string, Methods>> = {
  '': { GET: showCheckout, POST: choose },
  '/qr.png': { GET: showQrImage },
  '/qr.svg': { GET: showQrVector },
  '/logo': { GET: showLogo },
  '/3ds': { GET: showChallenge, POST: answerChallenge },
  '/sandbox': { POST: moveInPanel },
}

/** Pages in the sense that they can be shown again in another language. */
const shownAgain: readonly string[] = ['', '/3ds']
const address = /^\/pay\/([^/]+)(\/[^/]+)?$/
const sandboxMoves: readonly string[] = ['complete', 'decline', 'expire', 'late'] satisfies CheckoutMove[]
const strictTransport = 'max-age=63072000; includeSubDomains'

/**
 * The hosted pages `/pay/{shortcode}` and `/pay/{shortcode}/3ds`. They know a payment by the public operations alone,
 * called in this process on behalf of the page's visitor; the sandbox's moves come from the surroundings. Throws where the
 * file of CHANNEL_DISPLAY_FILE is wrong.
 */
export function checkoutPages(surroundings: PageSurroundings): MakePages {
  const displays = readChannelDisplays(surroundings.channelDisplayFile)
  return (pipeline) => async (request, response) => {
    const url = URL.parse(request.url ?? '/', 'http://pages.invalid')
    if (!url?.pathname.startsWith('/pay/')) return false
    if (surroundings.httpsOnly) response.setHeader('Strict-Transport-Security', strictTransport)
    await answer(request, response, pipeline, url, surroundings, displays)
    return true
  }
}

async function answer(
  request: IncomingMessage, response: ServerResponse, pipeline: RequestListener, { pathname, searchParams }: URL,
  surroundings: PageSurroundings, displays: ChannelDisplays,
): Promise<void> {
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  if (isRead && sendAsset(pathname, response, displays)) return
  const asked = asLanguage(searchParams.get('lang'))
  if (asked) response.setHeader('Set-Cookie', keepLanguage(asked, surroundings.httpsOnly))
  const language = asked ?? keptLanguage(request.headers.cookie) ?? languageOf(request.headers['accept-language'])
  const attemptId = searchParams.get('attempt') ?? undefined
  const [, shortcode, rest = ''] = address.exec(pathname) ?? []
  const methods = Object.hasOwn(routes, rest) ? routes[rest] : undefined
  if (shortcode === undefined || !methods) {
    sendPage(response, 404, messagePage({ language, here: null, logoPath: null }, 'missing', texts[language].notFound))
    return
  }
  const shown = shownAgain.includes(rest) ? pathname : `/pay/${shortcode}`
  const visit = {
    request, response, checkouts: publicCheckouts(pipeline, request), language, shortcode, attemptId, surroundings, displays,
    here: attemptId === undefined ? shown : `${shown}?attempt=${encodeURIComponent(attemptId)}`,
  }
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
  const frame: Frame = { language, here: visit.here, logoPath: null }
  if (refusal.status === 404 || refusal.status === 400) sendPage(response, 404, messagePage(frame, 'missing', say.notFound))
  else sendPage(response, refusal.status, messagePage(frame, 'trouble', { title: say.busy.title, text: wordsFor(refusal, language) }), retryAfter(refusal))
  return null
}

/** What stands around the page; the logo where it is known in time. */
async function frameOf({ here, language, surroundings }: Visit, { brand, shortcode }: Checkout): Promise<Frame> {
  const logo = brand.logo_url === null ? null : await surroundings.logos.find(brand.logo_url)
  return { language, here, logoPath: logo && `/pay/${shortcode}/logo` }
}

async function showCheckout(visit: Visit): Promise<void> {
  const checkout = await read(visit)
  if (checkout) await sendCheckout(visit, checkout, 200, null)
}

async function sendCheckout(
  visit: Visit, checkout: Checkout, status: number, consequence: Consequence | null, headers: Record<string, string> = {},
): Promise<void> {
  const { attemptId, displays, response, surroundings: { now, sandbox } } = visit
  const frame = await frameOf(visit, checkout)
  sendPage(response, status, await checkoutPage({ checkout, frame, displays, attemptId, consequence, hasPanel: sandbox !== null, now: now() }), headers)
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
  else {
    const consequence = refusal.code === 'unavailable' ? { troubleWith: channel } : { says: wordsFor(refusal, language) }
    await sendCheckout({ ...visit, attemptId: undefined }, checkout, refusal.status, consequence, retryAfter(refusal))
  }
}

async function qrContent(visit: Visit): Promise<string | null> {
  const checkout = await read(visit)
  if (!checkout) return null
  const content = checkout.attempt?.qr_string
  if (content !== undefined) return content
  const { language, response, here } = visit
  sendPage(response, 404, messagePage({ language, here, logoPath: null }, 'missing', texts[language].notFound))
  return null
}

async function showQrImage(visit: Visit): Promise<void> {
  const content = await qrContent(visit)
  if (content !== null) send(visit.response, 200, await qrImage(content), { 'Content-Type': 'image/png' })
}

async function showQrVector(visit: Visit): Promise<void> {
  const content = await qrContent(visit)
  if (content !== null) send(visit.response, 200, (await qrPicture(content)).markup, { 'Content-Type': 'image/svg+xml' })
}

/** The merchant's logo from our own origin: payers' browsers ask nobody else for anything. */
async function showLogo(visit: Visit): Promise<void> {
  const checkout = await read(visit)
  if (!checkout) return
  const { here, language, response, surroundings } = visit
  const logo = checkout.brand.logo_url === null ? null : await surroundings.logos.find(checkout.brand.logo_url)
  if (logo) send(response, 200, logo.body, { 'Content-Type': logo.type, 'Cache-Control': 'private, max-age=3600' })
  else sendPage(response, 404, messagePage({ language, here, logoPath: null }, 'missing', texts[language].notFound))
}

async function showChallenge(visit: Visit): Promise<void> {
  const checkout = await read(visit)
  if (checkout) await sendChallenge(visit, checkout, 200, null)
}

async function sendChallenge(visit: Visit, checkout: Checkout, status: number, says: string | null, headers: Record<string, string> = {}): Promise<void> {
  const { attemptId, response, surroundings: { sandbox } } = visit
  sendPage(response, status, challengePage({ checkout, frame: await frameOf(visit, checkout), attemptId, codes: sandbox?.codes ?? null, says }), headers)
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
      await sendChallenge(visit, checkout, answered.refusal.status, wordsFor(answered.refusal, language), retryAfter(answered.refusal))
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
    sendPage(response, 404, messagePage({ language, here: null, logoPath: null }, 'missing', texts[language].notFound))
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
  if (checkout) await sendCheckout({ ...visit, attemptId: own }, checkout, outcome === 'refused' ? 409 : 200, { says: outcome === 'refused' ? refused : silent })
}

function wordsFor({ code }: Refusal, language: Language): string {
  const { refusals, refused } = texts[language]
  return Object.hasOwn(refusals, code) ? refusals[code] ?? refused : refused
}

function retryAfter({ retrySeconds }: Refusal): Record<string, string> {
  return retrySeconds === null ? {} : { 'Retry-After': String(retrySeconds) }
}
