import type { IncomingHttpHeaders } from 'node:http'
import { isIP } from 'node:net'

const ownNames = /^(localhost|.+\.localhost)$/i

/**
 * Whether a page of ours asks, or a program that is no browser: every browser says with a POST where it comes from (Sec-Fetch-Site, or
 * Origin where that is not sent). Pages of others must not choose answers or have deliveries sent again.
 */
export function isSameOrigin({ host, origin, 'sec-fetch-site': site }: IncomingHttpHeaders): boolean {
  if (site !== undefined) return site === 'same-origin'
  return origin === undefined || origin === `http://${host}`
}

/** Whether Host is an address or a name of this machine: any other name may have been pointed here by somebody else (DNS rebinding). */
export function isOwnHost(host: string | undefined): boolean {
  const url = URL.parse(`http://${host ?? ''}`)
  return url !== null && (ownNames.test(url.hostname) || isIP(url.hostname.replace(/^\[|\]$/g, '')) !== 0)
}
