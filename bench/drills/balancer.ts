import { Agent, createServer, request } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { until } from '../webhooks/receiver.ts'

/** One address before several copies of a service. */
export interface Balancer {
  url: string
  /** Sends requests to these copies from now on, as long as they are ready; resolves once all are. Throws when they are not in time. */
  serve(urls: readonly string[]): Promise<void>
  /** Resolves true once all copies are ready, false when they are not within 20 s. */
  allReady(): Promise<boolean>
  /** Requests that a copy refused or cut off. */
  broken: readonly string[]
  close(): Promise<void>
}

interface Copy {
  url: URL
  ready: boolean
  /** Times in a row that it was not. */
  misses: number
  /** When it last said that it is, by this process's clock. */
  readyAt: number
}

const askEveryMs = 100
/** As usual, one late answer takes nobody out; a drain has to last longer than this many. */
const missesAllowed = 2
const askLimitMs = 2000
const readyWithinMs = 20_000

/** Asks each copy for its readiness ten times a second, sends requests to those that are ready in turn, and repeats none. */
export async function startBalancer(): Promise<Balancer> {
  const agent = new Agent({ keepAlive: true })
  const broken: string[] = []
  let copies: readonly Copy[] = []
  let turn = 0
  let closed = false

  const allReady = (): Promise<boolean> => until(() => copies.every(({ misses, ready }) => ready && misses === 0), readyWithinMs, askEveryMs)

  const pass = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    const ready = copies.filter((copy) => copy.ready)
    const copy = ready[turn % ready.length]
    turn += 1
    if (!copy) {
      broken.push(`${incoming.url}: no copy is ready`)
      outgoing.writeHead(502).end('{}')
      return
    }
    const { host: _host, connection: _connection, ...headers } = incoming.headers
    const passed = request({ agent, host: copy.url.hostname, port: copy.url.port, method: incoming.method, path: incoming.url, headers }, (answer) => {
      const { connection: _of, 'keep-alive': _for, ...rest } = answer.headers
      outgoing.writeHead(answer.statusCode ?? 502, rest)
      answer.pipe(outgoing)
    })
    passed.on('error', (error) => {
      const ago = Math.round(performance.now() - copy.readyAt)
      broken.push(`${incoming.url} at ${copy.url.host}, which last was ready ${ago} ms before: ${error.message}`)
      if (outgoing.headersSent) outgoing.destroy()
      else outgoing.writeHead(502).end('{}')
    })
    incoming.pipe(passed)
  }

  const server = createServer({ keepAliveTimeout: 65_000 }, pass)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const asking: Promise<void>[] = []
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    broken,
    async serve(urls) {
      copies = urls.map((url) => ({ url: new URL(url), ready: false, misses: 0, readyAt: 0 }))
      for (const copy of copies) {
        asking.push((async () => {
          while (!closed) {
            const next = wait(askEveryMs)
            copy.misses = await isReady(copy.url) ? 0 : copy.misses + 1
            copy.ready = copy.misses === 0 || (copy.ready && copy.misses <= missesAllowed)
            if (copy.misses === 0) copy.readyAt = performance.now()
            await next
          }
        })())
      }
      if (!await allReady()) throw new Error(`the copies are not ready after ${readyWithinMs / 1000} s`)
    },
    allReady,
    async close() {
      closed = true
      await Promise.all(asking)
      agent.destroy()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function isReady(url: URL): Promise<boolean> {
  try {
    const response = await fetch(new URL('/v1/ready', url), { signal: AbortSignal.timeout(askLimitMs), headers: { Connection: 'close' } })
    await response.arrayBuffer()
    return response.status === 200
  } catch {
    return false
  }
}
