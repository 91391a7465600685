import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

const privateRanges = ['loopback', 'private', 'uniqueLocal']
/** Global unicast of IPv6 (IANA): nothing outside it is an address of a public host. */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3')
/** Inside global unicast and yet of no host; a version of the library may not know them. */
const alsoRefused = [ipaddr.IPv6.parseCIDR('2001::/23'), ipaddr.IPv6.parseCIDR('2001:db8::/32'), ipaddr.IPv6.parseCIDR('3fff::/20')]
/** Of a public range, and yet answered by the platform that a machine runs on: Azure's address of machine metadata. */
const platformAddresses = ['168.63.129.16']

/**
 * Whether outgoing webhooks may connect to an IP address: a public one (decision 6.8). Every special range is
 * refused, and so is an IPv4 address in the clothes of IPv6 that is not public itself: mapped, compatible, 6to4,
 * Teredo, NAT64. `allowPrivate` lets in loopback and private networks, never link-local or multicast.
 */
export function mayConnectTo(address: string, allowPrivate: boolean): boolean {
  if (!ipaddr.isValid(address)) return false
  const plain = ipaddr.process(address)
  const range = plain.range()
  if (allowPrivate && privateRanges.includes(range)) return true
  if (range !== 'unicast') return false
  if (plain instanceof ipaddr.IPv4) return !platformAddresses.includes(plain.toString())
  return plain.match(globalUnicast) && !alsoRefused.some((network) => plain.match(network))
}

/** The IP address that a URL's host is; null when it is a name. URL parsers have made 0x7f.1 and 2130706433 plain. */
export function addressLiteral(hostname: string): string | null {
  const bare = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
  return isIP(bare) === 0 ? null : bare
}

/** What is wrong with the URL of a webhook, as the reason told for `url`; null when nothing is. */
export function webhookUrlProblem(text: string, allowPrivate: boolean): string | null {
  if (!URL.canParse(text)) return 'must be an absolute https address'
  const { protocol, username, password, hostname } = new URL(text)
  if (protocol !== 'https:') return 'must be https'
  if (username !== '' || password !== '') return 'must not carry a user name or password'
  const literal = addressLiteral(hostname)
  return literal !== null && !mayConnectTo(literal, allowPrivate) ? 'must not be an address of a private or reserved network' : null
}
