import { readFileSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import type { LookupFunction } from 'node:net'
import { createSecureContext, getCACertificates } from 'node:tls'
import { Agent, buildConnector, request } from 'undici'
import type { Configuration } from '../domain/configuration.ts'
import { addressLiteral, mayConnectTo, webhookUrlProblem } from '../domain/publicAddress.ts'
import { retryPolicy } from '../domain/webhookRetry.ts'
import { nameResolver } from './nameResolver.ts'
import type { ResolveName } from './nameResolver.ts'
import { AddressRefused, sendErrorOf } from './webhookSendError.ts'
import type { SendError } from './webhookSendError.ts'

export interface WebhookRequest {
  url: string
  headers: Record<string, string>
  body: string
}

/** What came of one try; success is a 2xx within the time (decision 6.7). */
export interface WebhookAnswer {
  succeeded: boolean
  /** Null when no answer came. */
  status: number | null
  headers: Record<string, string> | null
  /** The first 2 KiB as they came, never expanded. */
  body: Buffer | null
  durationMs: number
  error: SendError | null
}

export interface WebhookSender {
  /** Sends once. Never throws: what goes wrong stands in the answer. */
  send(message: WebhookRequest): Promise<WebhookAnswer>
  close(): Promise<void>
}

export interface WebhookSenderOptions {
  /** Lets loopback and private networks through. */
  allowPrivate: boolean
  /** PEM of a further CA. */
  ca?: string
  /** Longest try in all, in milliseconds. Default 30,000 (brief, payments: Events). */
  timeoutMs?: number
  /** Stands in for the name service. */
  resolve?: ResolveName
}

const longestTryMs = retryPolicy.timeoutSeconds * 1000
const keptBody = 2048
const largestHead = 8192
const idleMs = 4000

/** The sender of a process, as it is configured. Throws when WEBHOOK_CA_FILE cannot be read. */
export function webhookSenderOf({ WEBHOOK_ALLOW_PRIVATE, WEBHOOK_CA_FILE }: Configuration): WebhookSender {
  return webhookSender({
    allowPrivate: WEBHOOK_ALLOW_PRIVATE === 'on', ...(WEBHOOK_CA_FILE !== '' && { ca: readFileSync(WEBHOOK_CA_FILE, 'utf8') }),
  })
}

/** Sends over connections of its own, to addresses that are judged when they are connected to (decision 6.8). */
export function webhookSender({ allowPrivate, ca, timeoutMs = longestTryMs, resolve = nameResolver(allowPrivate) }: WebhookSenderOptions): WebhookSender {
  const agent = new Agent({
    connect: guardedConnector(allowPrivate, resolve, ca, timeoutMs),
    allowH2: false, pipelining: 1, maxHeaderSize: largestHead, keepAliveTimeout: idleMs, headersTimeout: 0, bodyTimeout: 0,
  })
  return {
    async send({ url, headers, body }) {
      const started = performance.now()
      const seen: Pick<WebhookAnswer, 'status' | 'headers' | 'body'> = { status: null, headers: null, body: null }
      const ended = (error: SendError | null): WebhookAnswer => ({
        succeeded: error === null, ...seen, durationMs: Math.round(performance.now() - started), error,
      })
      if (webhookUrlProblem(url, allowPrivate) !== null) return ended('address_refused')
      try {
        const signal = AbortSignal.timeout(timeoutMs)
        const answer = await request(url, { dispatcher: agent, method: 'POST', headers, body, signal })
        seen.status = answer.statusCode
        seen.headers = flat(answer.headers)
        seen.body = await firstBytes(answer.body)
        return ended(errorOfStatus(answer.statusCode))
      } catch (error) {
        return ended(sendErrorOf(error))
      }
    },
    close: () => agent.destroy(),
  }
}

/** Refuses before connecting: an IP literal by itself, a name when any of its addresses is not public. */
export function guardedConnector(allowPrivate: boolean, resolve: ResolveName, ca: string | undefined, timeout: number): buildConnector.connector {
  const lookup: LookupFunction = (hostname, options, done) => {
    resolve(hostname).then((addresses) => {
      const refused = addresses.find(({ address }) => !mayConnectTo(address, allowPrivate))
      const [first] = addresses
      if (refused || !first) throw new AddressRefused(refused?.address ?? hostname)
      if (options.all) done(null, addresses)
      else done(null, first.address, first.family)
    }).catch((error: NodeJS.ErrnoException) => done(error, '', 0))
  }
  // Made once: to read all certificates again for each connection takes longer than its handshake.
  const secureContext = ca === undefined ? undefined : createSecureContext({ ca: [...getCACertificates('default'), ca] })
  const connect = buildConnector({ allowH2: false, timeout, lookup, ...(secureContext && { secureContext }) })
  return (options, done) => {
    // The system never asks for the address of a literal.
    const literal = addressLiteral(options.hostname)
    if (literal !== null && !mayConnectTo(literal, allowPrivate)) done(new AddressRefused(literal), null)
    else connect(options, done)
  }
}

function errorOfStatus(status: number): SendError | null {
  if (status >= 200 && status < 300) return null
  return status >= 300 && status < 400 ? 'redirect' : 'status'
}

function flat(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value].flat().join(', ')]))
}

/** At most 2 KiB of a body. The connection of a longer one is closed, since reading on would be the sender's cost. */
async function firstBytes(body: AsyncIterable<Buffer> & { destroy(): unknown }): Promise<Buffer> {
  const parts: Buffer[] = []
  let length = 0
  for await (const part of body) {
    parts.push(part)
    length += part.length
    if (length > keptBody) break
  }
  return Buffer.concat(parts).subarray(0, keptBody)
}
