import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { parseJson } from '../readJson.ts'

const BODY_LIMIT = 64 * 1024

/** An answer: JSON, a page, or a way on. */
export type Reply =
  | { readonly status: number; readonly json: unknown; readonly headers?: Readonly<Record<string, string>> }
  | { readonly status: number; readonly html: string }
  | { readonly status: 303; readonly location: string }

/**
 * What a call leads to: an answer, none (`silence`: the connection stays open until the caller gives up), or a
 * connection that is cut. `after` follows, answered or not.
 */
export type Served = (Reply | { readonly silence: true } | { readonly reset: true }) & { readonly after?: () => Promise<unknown> }

/** A refusal with the simulator's own code and message, thrown from anywhere below an operation. */
export class Refusal extends Error {
  readonly status: number
  readonly code: string
  /** Further members of the answer. */
  readonly members: Readonly<Record<string, unknown>>

  constructor(status: number, code: string, message: string, members: Readonly<Record<string, unknown>> = {}) {
    super(message)
    this.status = status
    this.code = code
    this.members = members
  }
}

/** The whole body as bytes. Rejects with a Refusal (413) past 64 KiB, and when the caller goes away midway. */
export function readBody(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let size = 0
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size <= BODY_LIMIT) chunks.push(chunk)
      else reject(new Refusal(413, 'body_too_large', `the body is over ${BODY_LIMIT} bytes`))
    })
    request.on('end', () => resolve(Buffer.concat(chunks)))
    request.on('error', reject)
    request.on('close', () => reject(new Error('the caller went away')))
  })
}

/** The body as JSON; nothing at all stands for an empty object. Throws a Refusal (400). */
export function readJson(body: Buffer): unknown {
  if (body.length === 0) return {}
  let written: string
  try {
    written = new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch {
    throw new Refusal(400, 'invalid_json', 'the body is not UTF-8')
  }
  const json = parseJson(written)
  if (json === undefined) throw new Refusal(400, 'invalid_json', 'the body is not JSON')
  return json
}

/** Whether the request carries the API key; compared in constant time, whatever its length. */
export function carriesKey(request: IncomingMessage, apiKey: string): boolean {
  const sent = /^Bearer (\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
  return sent !== undefined && timingSafeEqual(sha256(sent), sha256(apiKey))
}

/** Sends the reply; `close` ends the connection, because the rest of an oversized body is still on its way. */
export function send(response: ServerResponse, reply: Reply, close: boolean): void {
  if (response.headersSent || response.destroyed) return
  if (close) response.setHeader('connection', 'close')
  response.statusCode = reply.status
  response.setHeader('cache-control', 'no-store')
  if ('headers' in reply) for (const [name, value] of Object.entries(reply.headers ?? {})) response.setHeader(name, value)
  if ('location' in reply) {
    response.setHeader('location', reply.location)
    response.end()
    return
  }
  const [type, written] = 'json' in reply
    ? ['application/json', JSON.stringify(reply.json)]
    : ['text/html; charset=utf-8', reply.html]
  if ('html' in reply) response.setHeader('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'")
  response.setHeader('content-type', type)
  response.setHeader('content-length', Buffer.byteLength(written))
  response.end(written)
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
