import { createServer } from 'node:net'
import type { Server } from 'node:net'

/** What listens where, counted from the base. The last one is held by the run itself: whoever has it has them all. */
export const portOffsets = {
  payments: 0, storefront: 1, identity: 2, simulator: 3,
  'payments metrics': 4, 'storefront metrics': 5, 'identity metrics': 6, 'worker metrics': 7,
  inbox: 8, run: 9,
} as const

export type PortName = keyof typeof portOffsets

export interface ClaimedPorts {
  base: number
  /** Base that was wanted and is taken, and by what; null when the wanted one was free. */
  instead: { base: number, taken: string } | null
  portOf(name: PortName): number
  release(): void
}

const defaultBase = 4000
const step = 10
const basesAtMost = 50

/**
 * Takes ten ports for a run. A base that was asked for is taken or refused with a message; without one the next free
 * base is taken. Two runs that start at once never get the same.
 */
export async function claimPorts(asked: string | undefined, host: string): Promise<ClaimedPorts> {
  if (asked !== undefined && asked !== '') {
    const base = Number(asked)
    if (!Number.isInteger(base) || base < 1024 || base > 65_520) throw new Error(`PORT=${asked} is no port from 1024 to 65520`)
    const claim = await tryBase(base, host)
    if (typeof claim === 'string') throw new Error(`PORT=${base} cannot be used: ${claim}. Choose another, for instance PORT=${base + step}`)
    return { ...claim, instead: null }
  }
  let first = ''
  for (let at = 0; at < basesAtMost; at += 1) {
    const base = defaultBase + at * step
    const claim = await tryBase(base, host)
    if (typeof claim !== 'string') return { ...claim, instead: at === 0 ? null : { base: defaultBase, taken: first } }
    if (at === 0) first = claim
  }
  throw new Error(`no ten free ports from ${defaultBase} on (${first}): say which ones to use by PORT`)
}

/** The claim, or what stands in its way. */
async function tryBase(base: number, host: string): Promise<Omit<ClaimedPorts, 'instead'> | string> {
  const held = await listen(base + portOffsets.run, '127.0.0.1')
  if (!held) return `another run holds port ${base + portOffsets.run}`
  for (const [name, offset] of Object.entries(portOffsets)) {
    if (name === 'run' || await isFree(base + offset, host)) continue
    held.close()
    return `port ${base + offset} (${name}) is taken`
  }
  held.unref()
  return { base, portOf: (name) => base + portOffsets[name], release: () => void held.close() }
}

/** Free on the address listened on, and on both addresses that `localhost` may mean. */
async function isFree(port: number, host: string): Promise<boolean> {
  for (const address of new Set([host, '127.0.0.1', '::1'])) {
    const server = await listen(port, address)
    if (!server) return false
    await new Promise((resolve) => server.close(resolve))
  }
  return true
}

/** The listening server; undefined when the port is taken. A machine without the address has nothing on it. */
function listen(port: number, host: string): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy())
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE' || error.code === 'EACCES') resolve(undefined)
      else if (error.code === 'EADDRNOTAVAIL' || error.code === 'EAFNOSUPPORT') resolve(createServer())
      else reject(error)
    })
    server.listen(port, host, () => resolve(server))
  })
}
