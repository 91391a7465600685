import { Resolver, lookup } from 'node:dns/promises'
import type { LookupAddress } from 'node:dns'

/** All addresses of a host name. Rejects with the name service's error, as `node:dns` tells it. */
export type ResolveName = (hostname: string) => Promise<LookupAddress[]>

const tryMs = 3000
const tries = 2

/**
 * Asks the name service, IPv4 addresses first. Not by the system's own call: that takes one of four threads, so a few
 * names whose servers are silent would hold up everybody's. `local` asks the system, which knows localhost and the
 * hosts file, for development.
 */
export function nameResolver(local: boolean): ResolveName {
  if (local) return (hostname) => lookup(hostname, { all: true })
  return async (hostname) => {
    const resolver = new Resolver({ timeout: tryMs, tries })
    const [four, six] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
    if (four.status === 'rejected' && six.status === 'rejected') throw four.reason
    return [
      ...(four.status === 'fulfilled' ? four.value.map((address) => ({ address, family: 4 })) : []),
      ...(six.status === 'fulfilled' ? six.value.map((address) => ({ address, family: 6 })) : []),
    ]
  }
}
