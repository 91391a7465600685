import { IncomingMessage, ServerResponse } from 'node:http'
import type { RequestListener } from 'node:http'
import type { Socket } from 'node:net'
import { PassThrough } from 'node:stream'

/**
 * A `fetch` that calls the service's own pipeline inside this process, on behalf of `page`: same guards, same checks,
 * no port and no connection. Who asks is told as it was told to us, by the connection's own address and the
 * X-Forwarded-For that came with the page's request, and judged by the pipeline's rule of trusted proxies as
 * every request is. So the payer's address is what limits are counted by, and nobody can make it another than by lying
 * through a proxy that is trusted anyway. No other header of the page's request is passed on.
 */
export function callInProcess(pipeline: RequestListener, page: IncomingMessage): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init)
    const { pathname, search } = new URL(request.url)
    const body = Buffer.from(await request.arrayBuffer())
    const inner = new IncomingMessage(standIn(page.socket))
    inner.method = request.method
    inner.url = pathname + search
    inner.headers = {
      ...Object.fromEntries(request.headers),
      ...(body.length > 0 && { 'content-length': String(body.length) }),
      ...forwarded(page),
    }
    inner.push(body)
    inner.push(null)
    inner.complete = true
    return answerOf(pipeline, inner)
  }
}

/** What the pipeline reads of a connection, and no way to write to it. */
function standIn({ remoteAddress, remoteFamily, remotePort }: Socket): Socket {
  return Object.assign(new PassThrough(), { remoteAddress, remoteFamily, remotePort, encrypted: false }) as unknown as Socket
}

function forwarded(page: IncomingMessage): Record<string, string> {
  const through = page.headers['x-forwarded-for']
  return through === undefined ? {} : { 'x-forwarded-for': String(through) }
}

function answerOf(pipeline: RequestListener, request: IncomingMessage): Promise<Response> {
  return new Promise((resolve) => {
    const response = new ServerResponse(request)
    const parts: Buffer[] = []
    const keep = (part: unknown): void => {
      if (typeof part === 'string' || part instanceof Uint8Array) parts.push(Buffer.from(part))
    }
    // Own members, since Express gives the answer another prototype.
    Object.assign(response, {
      write: (part: unknown) => {
        keep(part)
        return true
      },
      end: (part: unknown) => {
        keep(part)
        const bytes = Buffer.concat(parts)
        const isEmpty = response.statusCode === 204 || response.statusCode === 304
        resolve(new Response(isEmpty ? null : bytes, { status: response.statusCode, headers: headersOf(response) }))
        return response
      },
    })
    pipeline(request, response)
  })
}

function headersOf(response: ServerResponse): Headers {
  const headers = new Headers()
  for (const [name, value] of Object.entries(response.getHeaders())) {
    for (const entry of [value].flat()) headers.append(name, String(entry))
  }
  return headers
}
