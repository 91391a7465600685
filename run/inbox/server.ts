import { createServer as createPlainServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { deliveries, readBody } from './deliveries.ts'
import type { Deliveries } from './deliveries.ts'
import { inboxPage, style } from './page.ts'
import { checkSignature } from './signature.ts'

export interface InboxSettings {
  /** 0: any free port. */
  port: number
  host: string
  /** PEM. */
  certificate: string
  key: string
  /** Secret of the subscription. */
  secret: string
  now(): Date
}

export interface RunningInbox {
  port: number
  close(): Promise<void>
}

const mostBodyBytes = 262_144
/** First byte of a TLS connection: a handshake record (RFC 8446, 5.1). No HTTP request begins with it. */
const tlsHandshake = 0x16
const firstByteMs = 10_000
/** Nothing from another host, nothing inline, no script at all. */
const contentSecurityPolicy = 'default-src \'none\'; style-src \'self\'; base-uri \'none\'; form-action \'none\'; frame-ancestors \'none\''

/**
 * Starts the inbox: on one port the receiver, to whoever speaks TLS, and the page, to whoever speaks plain HTTP. Rejects
 * when the port is taken or the certificate is none.
 */
export async function startInbox({ certificate, host, key, now, port, secret }: InboxSettings): Promise<RunningInbox> {
  const kept = deliveries()
  const state = { url: '' }
  const receiver = createTlsServer({ cert: certificate, key }, (request, response) => void receive(request, response, kept, secret, now))
  const page = createPlainServer((request, response) => show(request, response, kept, state.url))
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket)).on('error', () => socket.destroy())
    socket.setTimeout(firstByteMs, () => socket.destroy())
    socket.once('readable', () => {
      const first = socket.read(1) as Buffer | null
      socket.setTimeout(0)
      socket.removeAllListeners('timeout')
      if (first === null) return
      socket.unshift(first)
      const next = first[0] === tlsHandshake ? receiver : page
      next.emit('connection', socket)
    })
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve))
  const taken = (server.address() as AddressInfo).port
  state.url = `https://localhost:${taken}/`
  return {
    port: taken,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

/** Takes a delivery as a receiver should: 204 at once, 401 where the signature is wrong. It is listed either way. */
async function receive(request: IncomingMessage, response: ServerResponse, kept: Deliveries, secret: string, now: () => Date): Promise<void> {
  if (request.method !== 'POST') {
    response.writeHead(405, { Allow: 'POST' }).end()
    return
  }
  const body = await bodyOf(request).catch(() => null)
  if (body === null) {
    response.writeHead(413, { Connection: 'close' }).end()
    return
  }
  const header = (name: string): string | null => [request.headers[name]].flat().join(', ') || null
  const receivedAt = now()
  const check = checkSignature(header('x-service-signature') ?? undefined, body, secret, receivedAt)
  const pairs = Array.from({ length: request.rawHeaders.length / 2 }, (_, at) => [request.rawHeaders[at * 2] ?? '', request.rawHeaders[at * 2 + 1] ?? ''] as const)
  kept.add({
    receivedAt, check, headers: pairs, kind: header('x-service-event-kind'), deliveryId: header('x-service-delivery-id'), ...readBody(body),
  })
  response.writeHead(check.genuine ? 204 : 401).end()
}

/** The bytes of a body. Throws when there are too many, or the sender went away. */
async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = []
  let length = 0
  for await (const part of request as AsyncIterable<Buffer>) {
    length += part.length
    if (length > mostBodyBytes) throw new RangeError('the body is too long')
    parts.push(part)
  }
  return Buffer.concat(parts)
}

function show(request: IncomingMessage, response: ServerResponse, kept: Deliveries, receiverUrl: string): void {
  const url = URL.parse(request.url ?? '/', 'http://inbox.invalid')
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  const [status, type, body] = !isRead ? [405, 'text/plain', 'The page is read by GET; deliveries are received over https.\n']
    : url?.pathname === '/' ? [200, 'text/html', inboxPage(kept, receiverUrl, url.searchParams.has('hold')).markup]
      : url?.pathname === style.path ? [200, 'text/css', style.body] : [404, 'text/plain', 'Nothing is here; the inbox is at /.\n']
  response.writeHead(status, {
    'Content-Type': `${String(type)}; charset=utf-8`, 'Content-Length': Buffer.byteLength(body), 'Content-Security-Policy': contentSecurityPolicy,
    'Referrer-Policy': 'no-referrer', 'X-Content-Type-Options': 'nosniff', 'Cache-Control': 'no-store', ...(!isRead && { Allow: 'GET, HEAD' }),
  })
  response.end(request.method === 'HEAD' ? undefined : body)
}
