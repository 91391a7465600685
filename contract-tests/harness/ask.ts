import { request } from 'node:http'
import { connect } from 'node:net'

export interface Asked {
  method?: string
  /** A list sends the header once for each value. */
  headers?: Record<string, string | readonly string[]>
  body?: string | Uint8Array
  /** Credential, sent as a bearer. */
  as?: string
}

export interface Heard {
  status: number
  headers: Record<string, string | string[] | undefined>
  body: Record<string, unknown>
  text: string
}

/** Sends one request as it is written: the path untouched, Host and repeated headers as given. */
export async function ask(
  url: string,
  path: string,
  { method = 'GET', headers = {}, body, as }: Asked = {},
): Promise<Heard> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        hostname,
        port,
        path,
        method,
        agent: false,
        headers: {
          ...(as !== undefined && { Authorization: `Bearer ${as}` }),
          ...(body !== undefined && { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) }),
          ...(headers as Record<string, string | string[]>),
        },
      },
      (response) => {
        const parts: Buffer[] = []
        response.on('data', (part: Buffer) => parts.push(part))
        response.on('error', reject)
        response.on('end', () => {
          const text = Buffer.concat(parts).toString()
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text,
            body: (response.headers['content-type'] === 'application/json' && text !== ''
              ? JSON.parse(text)
              : {}) as Record<string, unknown>,
          })
        })
      },
    )
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

/** Writes bytes to a connection and answers all that comes until its end; `endAfter` ends our side first. */
export async function speak(url: string, text: string | Uint8Array, { endAfter = false } = {}): Promise<string> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = []
    const socket = connect({ host: hostname, port: Number(port) }, () => {
      if (endAfter) socket.end(text)
      else socket.write(text)
    })
    socket.on('data', (part) => parts.push(part))
    // What was heard before a reset counts.
    socket.on('error', (error) => parts.length === 0 && reject(error))
    socket.on('close', () => resolve(Buffer.concat(parts).toString()))
  })
}
