import type { ServerResponse } from 'node:http'

/** Headers of every answer. There is nothing to render, to frame or to keep. */
const always: readonly (readonly [string, string])[] = [
  ['Cache-Control', 'no-store'],
  ['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'"],
  ['Referrer-Policy', 'no-referrer'],
  ['X-Content-Type-Options', 'nosniff'],
]
const strictTransport = 'max-age=63072000; includeSubDomains'

export interface Responder {
  /** Sends a JSON body with its exact length, so that HEAD is answered alike; undefined sends none. */
  send(response: ServerResponse, status: number, body: unknown, headers?: Record<string, string>): void
}

/** `httpsOnly` adds Strict-Transport-Security. Content-Type has no charset: JSON is UTF-8 (RFC 8259). */
export function responder(httpsOnly: boolean): Responder {
  return {
    send(response, status, body, headers = {}) {
      if (response.headersSent) return
      for (const [name, value] of always) response.setHeader(name, value)
      if (httpsOnly) response.setHeader('Strict-Transport-Security', strictTransport)
      for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
      response.statusCode = status
      if (body === undefined) {
        response.end()
        return
      }
      const text = JSON.stringify(body)
      response.setHeader('Content-Type', 'application/json')
      response.setHeader('Content-Length', Buffer.byteLength(text))
      // As text it goes out in one write with its headers.
      response.end(text)
    },
  }
}
