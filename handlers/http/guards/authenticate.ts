import { apiKeyEnvironment, digestOfApiKey, isWellFormedApiKey } from '../../../domain/apiKeys.ts'
import type { Environment } from '../../../domain/apiKeys.ts'
import { ApiError } from '../../../domain/apiError.ts'
import type { AccessTokens } from '../accessTokens.ts'
import type { Caller } from '../caller.ts'
import type { Exchange, Guard, Site } from '../exchange.ts'
import type { CallerKind, Operation } from '../operation.ts'

/** What a service can verify. Absent what it cannot: an operation that needs it stops the start. */
export interface Verifiers {
  /** Null for the identity service. */
  environment: Environment | null
  tokens?: AccessTokens
  /** The live key with this digest, looked up anew for every request: revocation is at once (decision 5.3). */
  apiKey?: (digest: Buffer, now: Date) => Promise<Caller | null>
  /** Token subjects that are the storefront's own backend. */
  bffSubjects?: readonly string[]
  /** The shopper of a session token on this site. */
  shopper?: (sessionToken: string, site: Site, now: Date) => Promise<Caller | null>
  /** Proves a provider by its own signature over the raw body. */
  provider?: (exchange: Exchange) => Promise<Caller | null>
  /** Proves a signed link. */
  signedLink?: (exchange: Exchange) => Promise<boolean>
}

const withToken: readonly CallerKind[] = ['merchant', 'console', 'tenant', 'admin', 'user', 'credential', 'seller', 'service', 'bff', 'shopper']
const withKey: readonly CallerKind[] = ['merchant', 'credential']
const byHost: readonly CallerKind[] = ['bff', 'shopper']

/**
 * `x-caller`, first half: who is it. Refusals in the order of decision 5.2: no credential that could be one 401, the
 * other environment 403, then anything wrong with the credential itself 401.
 */
export function authenticate(verifiers: Verifiers): Guard {
  return {
    name: 'authenticate',
    enforces: ['x-caller'],
    compile(operation) {
      const { kind } = operation.caller
      if (kind === 'public') return null
      assertPossible(operation, verifiers)
      if (kind === 'provider') return (exchange) => prove(exchange, verifiers.provider?.(exchange))
      if (kind === 'signed-link') return async (exchange) => {
        if (!(await verifiers.signedLink?.(exchange))) throw new ApiError('not_found')
      }
      return async (exchange) => {
        exchange.caller = await callerOf(bearer(exchange), exchange, verifiers)
        if (kind === 'bff' || kind === 'shopper') assertPinned(exchange, verifiers)
        if (kind === 'shopper') await prove(exchange, shopperOf(exchange, verifiers))
      }
    },
  }
}

function assertPossible({ id, caller: { kind } }: Operation, verifiers: Verifiers): void {
  const missing = [
    withToken.includes(kind) && !verifiers.tokens && 'access tokens',
    withKey.includes(kind) && !verifiers.apiKey && 'API keys',
    (kind === 'bff' || kind === 'shopper') && !verifiers.bffSubjects && 'the subjects of the storefront backend',
    kind === 'shopper' && !verifiers.shopper && 'shopper sessions',
    kind === 'provider' && !verifiers.provider && 'provider signatures',
    kind === 'signed-link' && !verifiers.signedLink && 'signed links',
  ].filter((name) => name !== false)
  if (missing.length > 0) throw new Error(`${id}: this service cannot verify ${missing.join(' and ')}, so nothing enforces x-caller`)
}

async function prove(exchange: Exchange, proof: Promise<Caller | null> | undefined): Promise<void> {
  const caller = await proof
  if (!caller) throw new ApiError('unauthenticated')
  exchange.caller = caller
}

function bearer(exchange: Exchange): string {
  const [scheme, credential, ...more] = (exchange.header('authorization') ?? '').split(' ')
  if (scheme?.toLowerCase() !== 'bearer' || !credential || more.length > 0) throw new ApiError('unauthenticated')
  return credential
}

async function callerOf(credential: string, exchange: Exchange, verifiers: Verifiers): Promise<Caller> {
  const keyEnvironment = apiKeyEnvironment(credential)
  if (keyEnvironment === null) {
    if (credential.split('.').length !== 3 || !verifiers.tokens) throw new ApiError('unauthenticated')
    return verifiers.tokens.verify(credential, byHost.includes(exchange.operation.caller.kind) ? verifiers.bffSubjects : [])
  }
  if (verifiers.environment !== null && keyEnvironment !== verifiers.environment) throw new ApiError('env_mismatch')
  if (!verifiers.apiKey || !isWellFormedApiKey(credential)) throw new ApiError('unauthenticated')
  const caller = await verifiers.apiKey(digestOfApiKey(credential), exchange.now)
  if (!caller) throw new ApiError('unauthenticated')
  return caller
}

/** The storefront backend is pinned by token subject, not by audience (brief, storefront: Trust zones 3). */
function assertPinned({ caller }: Exchange, { bffSubjects = [] }: Verifiers): void {
  if (caller.kind !== 'service' || !bffSubjects.includes(caller.id)) throw new ApiError('forbidden')
}

async function shopperOf(exchange: Exchange, { shopper }: Verifiers): Promise<Caller | null> {
  const token = exchange.header('x-buyer-session')
  return token && exchange.site && shopper ? shopper(token, exchange.site, exchange.now) : null
}
