import { createHash } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { send } from '../sendPage.ts'

const compress = promisify(gzip)
const worthCompressing = 1024

/** Something that is the same for everybody: made once, kept, and sent again only when it has changed. */
export class Representation {
  readonly #type: string
  readonly #body: Buffer
  readonly #version: string
  #compressed: Promise<Buffer> | undefined

  constructor(type: string, body: Buffer | string) {
    this.#type = type
    this.#body = Buffer.from(body)
    this.#version = createHash('sha256').update(this.#body).digest('base64url').slice(0, 22)
  }

  /** The first characters of its digest, for an address that changes with the content. */
  get version(): string {
    return this.#version.slice(0, 12)
  }

  /** Answers with it, compressed where that is understood, or 304 where it is there already (RFC 9110, section 13.1.2). */
  async send(response: ServerResponse, headers: Record<string, string> = {}): Promise<void> {
    const { 'accept-encoding': accepted = '', 'if-none-match': known = '' } = response.req.headers
    const packed = this.#body.length >= worthCompressing && takesGzip(String(accepted))
    const tag = `"${this.#version}${packed ? '-gz' : ''}"`
    const always = { 'Cache-Control': 'no-cache', ETag: tag, Vary: 'Accept-Encoding', 'X-Robots-Tag': 'all', ...headers }
    if (known.split(',').map((one) => one.trim().replace(/^W\//, '')).includes(tag)) {
      send(response, 304, '', always)
      return
    }
    const body = packed ? await (this.#compressed ??= compress(this.#body)) : this.#body
    send(response, 200, body, { 'Content-Type': this.#type, ...(packed && { 'Content-Encoding': 'gzip' }), ...always })
  }
}

/** Whether an Accept-Encoding header (RFC 9110, section 12.5.3) takes gzip. */
export function takesGzip(header: string): boolean {
  const entries = header.toLowerCase().split(',').map((entry) => entry.split(';').map((part) => part.trim()))
  const entry = entries.find(([coding]) => coding === 'gzip') ?? entries.find(([coding]) => coding === '*')
  return entry !== undefined && !entry.slice(1).some((parameter) => /^q=0(\.0*)?$/.test(parameter))
}
