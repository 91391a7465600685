import { parse as parseForm } from 'node:querystring'
import type { IncomingMessage } from 'node:http'
import { ApiError } from '../../domain/apiError.ts'
import type { Exchange } from './exchange.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })

const formType = 'application/x-www-form-urlencoded'

/** Deepest nesting of a JSON body; what walks a value by recursion must never meet a hostile depth. */
const maxDepth = 64

/**
 * Reads the body under the operation's size limit and parses it by its media type. 413 over the limit, 415 for a
 * media type, charset or content coding that the operation does not declare, invalid_json for what cannot be read.
 */
export async function readBody(exchange: Exchange): Promise<void> {
  const { operation, request } = exchange
  // A guard may have read it already, to prove a signature over it.
  if (exchange.rawBody !== undefined) return
  if (operation.body === 'parsed') assertMediaType(exchange)
  const bytes = await readBytes(exchange, request, operation.maxBody)
  exchange.rawBody = operation.body === 'ignored' ? Buffer.alloc(0) : bytes
  if (operation.body !== 'parsed') return
  if (bytes.length === 0) {
    exchange.body = undefined
    if (operation.bodyRequired) throw new ApiError('validation_failed', { fields: { body: 'is required' } })
    return
  }
  const isForm = operation.consumes.includes(formType) && request.is(formType)
  exchange.body = isForm ? form(decode(bytes)) : json(decode(bytes))
}

function assertMediaType({ operation, request }: Exchange): void {
  const hasBody = request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0
  if (!hasBody) return
  const given = request.headers['content-type'] ?? ''
  const type = operation.consumes.includes(given) || request.is([...operation.consumes])
  const charset = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(given)?.[1]
  const coding = request.headers['content-encoding']
  if (!type || (charset && !/^utf-?8$/i.test(charset)) || (coding && coding !== 'identity')) throw new ApiError('unsupported_media_type')
}

async function readBytes(exchange: Exchange, request: IncomingMessage, most: number): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > most) throw tooLarge(exchange)
  const parts: Buffer[] = []
  let size = 0
  return new Promise((resolve, reject) => {
    request.on('data', (part: Buffer) => {
      size += part.length
      if (size <= most) parts.push(part)
      else {
        request.pause()
        request.removeAllListeners('data')
        reject(tooLarge(exchange))
      }
    })
    request.on('end', () => resolve(Buffer.concat(parts, size)))
    // A code that every operation declares: a raw or ignored body knows no invalid_json.
    request.on('error', () => reject(new ApiError('validation_failed', { fields: { body: 'ended before it was complete' } })))
  })
}

/** The rest of the body is not worth reading: the connection ends with the answer. */
function tooLarge(exchange: Exchange): ApiError {
  exchange.response.setHeader('Connection', 'close')
  return new ApiError('payload_too_large', { message: `The body is larger than ${exchange.operation.maxBody} bytes.` })
}

function decode(bytes: Buffer): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw new ApiError('invalid_json', { message: 'The body is not valid UTF-8.' })
  }
}

function json(text: string): unknown {
  const value = parsed(text)
  // The validator would parse a text a second time, and no operation reads a bare scalar (decision 1.4).
  if (value === null || typeof value !== 'object') throw new ApiError('validation_failed', { fields: { body: 'must be an object' } })
  if (isDeeperThan(value, maxDepth)) throw new ApiError('validation_failed', { fields: { body: `must not be nested deeper than ${maxDepth} levels` } })
  return value
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new ApiError('invalid_json')
  }
}

function isDeeperThan(value: object, levels: number): boolean {
  return levels === 0 || Object.values(value).some((member: unknown) => member !== null && typeof member === 'object' && isDeeperThan(member, levels - 1))
}

function form(text: string): Record<string, unknown> {
  return { ...parseForm(text) }
}
