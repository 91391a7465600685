import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'

/** Where a connection is cut: inside a transaction, or after a commit whose answer does not arrive. */
export type Cut = 'transaction' | 'commit'

/** The network between the processes and PostgreSQL, to be made worse. */
export interface DatabaseProxy {
  port: number
  /** Delays what the server answers by `latencyMs`, at `bytesPerSecond` for each connection. */
  slow(speed: { latencyMs?: number, bytesPerSecond?: number }): void
  /** What is sent on the open connections vanishes from now on, without a word to either end. Answers how many there are. */
  silence(): number
  /** Cuts the connections that were silenced. */
  restore(): void
  /** Cuts the next connection that gets so far; resolves when that has happened, or with false after `limitMs`. */
  cut(at: Cut, limitMs: number): Promise<boolean>
  close(): Promise<void>
}

interface Pair {
  client: Socket
  server: Socket
  silent: boolean
  /** When the last of what the server answered goes out, by this process's clock. */
  freeAt: number
  /** What is on its way to the client, in order: timers that are due in the same millisecond may fire in any. */
  waiting: Buffer[]
}

// As PostgreSQL's protocol says it: ReadyForQuery inside a transaction, and what a commit is answered.
const inTransaction = Buffer.from('Z\0\0\0\x05T', 'latin1')
const committed = Buffer.from('COMMIT\0', 'latin1')

/** Passes connections on to a PostgreSQL of this machine. */
export async function startDatabaseProxy(databasePort: number): Promise<DatabaseProxy> {
  const pairs = new Set<Pair>()
  let latencyMs = 0
  let bytesPerSecond = Infinity
  let armed: { at: Cut, met: () => void } | undefined

  const destroy = (pair: Pair): void => {
    pairs.delete(pair)
    pair.client.resetAndDestroy()
    pair.server.resetAndDestroy()
  }

  const isCutBy = (chunk: Buffer): boolean => {
    if (!armed) return false
    return armed.at === 'commit' ? chunk.includes(committed) : chunk.subarray(-inTransaction.length).equals(inTransaction)
  }

  const answer = (pair: Pair, chunk: Buffer): void => {
    if (pair.silent) return
    if (isCutBy(chunk)) {
      armed?.met()
      armed = undefined
      destroy(pair)
      return
    }
    passOn(pair, chunk, latencyMs, bytesPerSecond)
  }

  const listener = createServer({ noDelay: true }, (client) => {
    const server = connect({ port: databasePort, host: '127.0.0.1', noDelay: true })
    const pair: Pair = { client, server, silent: false, freeAt: 0, waiting: [] }
    pairs.add(pair)
    client.on('data', (chunk) => pair.silent || server.write(chunk))
    server.on('data', (chunk) => answer(pair, chunk))
    tieEnds(pair, () => pairs.delete(pair))
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  return {
    port: (listener.address() as AddressInfo).port,
    slow(speed) {
      latencyMs = speed.latencyMs ?? 0
      bytesPerSecond = speed.bytesPerSecond ?? Infinity
    },
    silence() {
      for (const pair of pairs) pair.silent = true
      return pairs.size
    },
    restore() {
      for (const pair of [...pairs]) if (pair.silent) destroy(pair)
    },
    cut: (at, limitMs) => new Promise((resolve) => {
      const timer = setTimeout(() => {
        armed = undefined
        resolve(false)
      }, limitMs)
      armed = {
        at, met: () => {
          clearTimeout(timer)
          resolve(true)
        },
      }
    }),
    async close() {
      for (const pair of [...pairs]) destroy(pair)
      await new Promise((resolve) => listener.close(resolve))
    },
  }
}

/** Sends an answer on at the network's speed, never before what went ahead of it, also when the network gets faster meanwhile. */
function passOn(pair: Pair, chunk: Buffer, latencyMs: number, bytesPerSecond: number): void {
  const now = performance.now()
  if (latencyMs === 0 && bytesPerSecond === Infinity && pair.freeAt <= now && pair.waiting.length === 0) {
    pair.client.write(chunk)
    return
  }
  pair.freeAt = Math.max(pair.freeAt, now + latencyMs) + chunk.length / bytesPerSecond * 1000
  pair.waiting.push(chunk)
  setTimeout(() => {
    const next = pair.waiting.shift()
    if (next && !pair.client.destroyed && !pair.silent) pair.client.write(next)
  }, pair.freeAt - now)
}

/** When one end closes, the other does. */
function tieEnds(pair: Pair, closed: () => void): void {
  for (const [end, other] of [[pair.client, pair.server], [pair.server, pair.client]] as const) {
    end.on('error', () => undefined)
    end.on('close', () => {
      // A silent network tells nobody.
      if (pair.silent) return
      closed()
      other.destroy()
    })
  }
}
