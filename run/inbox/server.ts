import { createServer as createPlainServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import type { Runtime } from '../../domain/runtime.ts'
import { answerChooser } from './answers.ts'
import { deliveries } from './deliveries.ts'
import { livePages } from './live.ts'
import { receive } from './receive.ts'
import { resending } from './resend.ts'
import { show } from './show.ts'

export interface InboxSettings {
  /** 0: any free port. */
  port: number
  host: string
  /** PEM. */
  certificate: string
  key: string
  /** Secret of the subscription. */
  secret: string
  /** What the run writes for whoever looks for its parts: in it are the address of payments and the owner's token. */
  credentialsFile: string
  runtime: Runtime
}

export interface RunningInbox {
  port: number
  close(): Promise<void>
}

/** First byte of a TLS connection: a handshake record (RFC 8446, 5.1). No HTTP request begins with it. */
const tlsHandshake = 0x16
const firstByteMs = 10_000

/**
 * Starts the inbox: on one port the receiver, to whoever speaks TLS, and the page, to whoever speaks plain HTTP. Rejects
 * when the port is taken or the certificate is none.
 */
export async function startInbox({ certificate, credentialsFile, host, key, port, runtime, secret }: InboxSettings): Promise<RunningInbox> {
  const [kept, chooser, state] = [deliveries(), answerChooser(), { url: '' }]
  const live = livePages(kept)
  const pages = {
    kept, chooser, live, runtime, secret, receiverUrl: () => state.url,
    run: runtime.randomBytes(6).toString('hex'), resend: resending(credentialsFile, runtime),
  }
  const receiver = createTlsServer({ cert: certificate, key }, (request, response) => {
    receive(request, response, { kept, chooser, secret, runtime }).catch(() => response.destroy())
  })
  const page = createPlainServer((request, response) => {
    show(request, response, pages).catch(() => response.destroy())
  })
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
      live.close()
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}
