import type { ServerResponse } from 'node:http'
import type { Html } from './html.ts'

/** Nothing from another host, nothing inline, nowhere in a frame; forms and live status go to ourselves alone. */
const contentSecurityPolicy = [
  'default-src \'none\'', 'style-src \'self\'', 'script-src \'self\'', 'img-src \'self\'', 'connect-src \'self\'',
  'form-action \'self\'', 'base-uri \'none\'', 'frame-ancestors \'none\'',
].join('; ')

const always: Readonly<Record<string, string>> = {
  'Content-Security-Policy': contentSecurityPolicy,
  // The address of a page is what lets a payer in.
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Robots-Tag': 'noindex, nofollow',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=()',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
}

/** Answers with bytes under the pages' security headers. */
export function send(response: ServerResponse, status: number, body: Buffer | string, headers: Record<string, string>): void {
  response.statusCode = status
  for (const [name, value] of Object.entries({ 'Cache-Control': 'no-store', ...always, ...headers })) response.setHeader(name, value)
  // Of what was not sent again the length is not ours to say here.
  if (status !== 304) response.setHeader('Content-Length', Buffer.byteLength(body))
  response.end(response.req.method === 'HEAD' ? undefined : body)
}

export function sendPage(response: ServerResponse, status: number, page: Html, headers: Record<string, string> = {}): void {
  send(response, status, page.markup, { 'Content-Type': 'text/html; charset=utf-8', Vary: 'Accept-Language, Cookie', ...headers })
}

/** Sends the browser on by GET, so that nothing is sent twice when the payer reloads. */
export function seeOther(response: ServerResponse, location: string): void {
  send(response, 303, '', { Location: location })
}
