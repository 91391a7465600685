import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { afterAll } from 'vitest'

/** A server of raw bytes, no TLS and no HTTP. Ends with the test file. */
export async function startRawServer(connected: (socket: Socket) => void, host = '127.0.0.1'): Promise<number> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    connected(socket)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, host, resolve)
  })
  afterAll(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

export interface Canary {
  port: number
  /** Addresses of this machine that were connected to. */
  met: string[]
}

/** Listens on every address of this machine, all of loopback among them, IPv4 and IPv6, and notes each connection. */
export async function startCanary(): Promise<Canary> {
  const met: string[] = []
  return { met, port: await startRawServer((socket) => met.push(socket.localAddress?.replace(/^::ffff:/, '') ?? 'unknown'), '::') }
}
