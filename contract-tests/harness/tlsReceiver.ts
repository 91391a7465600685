import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:https'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { generate } from 'selfsigned'

/** A request as it reached the receiver, body bytes untouched. */
export interface ReceivedRequest {
  method: string
  path: string
  headers: IncomingHttpHeaders
  body: Buffer
}

export interface Receiver {
  /** https address of the receiver. */
  url: string
  /** Certificate to trust, PEM. */
  certificate: string
  received: ReceivedRequest[]
  /** Waits until `count` requests have come. */
  untilReceived(count: number): Promise<ReceivedRequest[]>
}

/** Answers a request; the default is 204. */
export type Respond = (request: ReceivedRequest, response: ServerResponse) => void

/** A receiver of webhooks over TLS, with a certificate of its own made for this run, until it is closed. */
export async function openReceiver(respond: Respond = (_, response) => response.writeHead(204).end()): Promise<Receiver & { close(): void }> {
  const { private: key, cert } = await generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'ec', curve: 'P-256',
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }, { type: 7, ip: '127.0.0.1' }] }],
  })
  const received: ReceivedRequest[] = []
  const waiting: { count: number, resolve: (requests: ReceivedRequest[]) => void }[] = []
  const server = createServer({ key, cert }, (request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const entry = { method: request.method ?? '', path: request.url ?? '', headers: request.headers, body: Buffer.concat(parts) }
      received.push(entry)
      respond(entry, response)
      for (const { count, resolve } of waiting) if (received.length >= count) resolve([...received])
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `https://localhost:${(server.address() as AddressInfo).port}`, certificate: cert, received,
    untilReceived: (count) => received.length >= count ? Promise.resolve([...received]) : new Promise((resolve) => waiting.push({ count, resolve })),
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

/**
 * What a receiver does that was written from the brief alone (payments: Events): splits the signature header, refuses
 * one more than 300 s off, computes the HMAC over the raw bytes, compares in constant time.
 */
export function isGenuine({ headers, body }: ReceivedRequest, secret: string, now: Date): boolean {
  const parts = new Map(String(headers['x-service-signature']).split(',').map((part) => part.split('=') as [string, string]))
  const [t, v1] = [parts.get('t') ?? '', parts.get('v1') ?? '']
  if (!/^\d+$/.test(t) || Math.abs(now.getTime() / 1000 - Number(t)) > 300) return false
  const expected = createHmac('sha256', secret).update(Buffer.concat([Buffer.from(`${t}.`), body])).digest('hex')
  return v1.length === expected.length && timingSafeEqual(Buffer.from(v1), Buffer.from(expected))
}
