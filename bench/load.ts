import { connect } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import type { Socket } from 'node:net'

export interface LoadOptions {
  port: number
  /** Whole requests, sent in turn. */
  requests: readonly Buffer[]
  connections: number
  /** Requests in all. */
  total: number
}

const headEnd = Buffer.from('\r\n\r\n')

/**
 * Sends requests in rounds, one on each connection, and looks for the answers now and then. What a server pays for an
 * answer depends on whether the other side sleeps and must be woken; here it never is, however slow the server. Throws on an
 * answer that is no 2xx. Plain sockets, because the generator shares the machine with what it measures.
 */
export async function loadInRounds({ port, requests, connections, total }: LoadOptions): Promise<void> {
  const exchanges = await Promise.all(Array.from({ length: connections }, () => openExchange(port)))
  try {
    for (let sent = 0; sent < total; sent += connections) {
      exchanges.forEach((exchange) => exchange.listen(false))
      let waiting = connections
      const round = Promise.all(exchanges.map((exchange, index) =>
        exchange.send(requests[(sent + index) % requests.length] as Buffer).finally(() => {
          waiting -= 1
        })))
      while (waiting > 0) {
        await wait(lookEveryMs)
        exchanges.forEach((exchange) => exchange.listen(true))
        await nextTurn()
        await nextTurn()
        exchanges.forEach((exchange) => exchange.listen(false))
      }
      await round
    }
  } finally {
    exchanges.forEach((exchange) => exchange.end())
  }
}

const lookEveryMs = 2
const nextTurn = () => new Promise<void>((resolve) => {
  setImmediate(resolve)
})

/** The bytes of a request with a JSON body, or none. */
export function requestBytes(method: string, path: string, headers: Record<string, string>, body = ''): Buffer {
  const lines = Object.entries({ Host: 'localhost', ...headers, ...(body !== '' && { 'Content-Length': String(Buffer.byteLength(body)) }) })
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`)
}

interface OpenExchange {
  send(request: Buffer): Promise<void>
  /** Whether answers are taken as they come, or left with the system. */
  listen(on: boolean): void
  end(): void
}

async function openExchange(port: number): Promise<OpenExchange> {
  const socket = await new Promise<Socket>((resolve, reject) => {
    const opening = connect(port, '127.0.0.1', () => resolve(opening))
    opening.setNoDelay(true)
    opening.once('error', reject)
  })
  let waiting: { resolve: () => void, reject: (error: Error) => void } | undefined
  let received: Buffer = Buffer.alloc(0)
  const fail = (error: Error): void => waiting?.reject(error)
  socket.on('error', fail)
  socket.on('close', () => fail(new Error('the server closed the connection')))
  socket.on('data', (part: Buffer) => {
    received = received.length === 0 ? part : Buffer.concat([received, part])
    const end = received.indexOf(headEnd)
    if (end < 0) return
    const head = received.toString('latin1', 0, end)
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? Number.NaN)
    if (Number.isNaN(length)) return fail(new Error(`an answer without length: ${head}`))
    if (received.length < end + headEnd.length + length) return
    const done = waiting
    const answer = received
    waiting = undefined
    received = Buffer.alloc(0)
    if (head.startsWith('HTTP/1.1 2')) done?.resolve()
    else done?.reject(new Error(`not a success: ${answer.toString()}`))
  })
  return {
    send: (request) => new Promise<void>((resolve, reject) => {
      waiting = { resolve, reject }
      socket.write(request)
    }),
    listen: (on) => void (on ? socket.resume() : socket.pause()),
    end: () => socket.destroy(),
  }
}
