import { SignJWT } from 'jose'
import type { JWTPayload } from 'jose'
import { newId } from '../../db/ids.ts'
import type { OidcClientRow } from '../../db/identity/oidcClients.ts'
import type { TokenSubjectRow } from '../../db/identity/users.ts'
import type { Environment } from '../../domain/apiKeys.ts'
import type { Runtime } from '../../domain/runtime.ts'
import { audience } from '../http/accessTokens.ts'
import type { SigningKey } from './signingKeys.ts'

/** Life of an access token, in seconds (decision 5.4). */
export const accessTokenSeconds = 600

/** `client_id` of tokens that people get by logging in: RFC 9068 requires one. */
const consoleClient = 'console'

/** How and when a user signed in, and for which environment. */
export interface SignIn {
  environment: Environment
  authentication: 'pwd' | 'mfa'
  authenticatedAt: Date
}

export interface TokenIssuer {
  /** A token with the user's roles, issued at `at`. */
  forUser(key: SigningKey, user: TokenSubjectRow, signIn: SignIn, at: Date): Promise<string>
  /** A token with the client's permissions; of a tenant only when the client is. */
  forService(key: SigningKey, client: OidcClientRow, at: Date): Promise<string>
}

/** Issues access tokens as RFC 9068 profiles them, `typ` at+jwt, signed with ES256. */
export function tokenIssuer(issuer: string, runtime: Runtime): TokenIssuer {
  const sign = ({ kid, privateKey }: SigningKey, sub: string, claims: JWTPayload, at: Date): Promise<string> => {
    const seconds = secondsOf(at)
    return new SignJWT(claims).setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid })
      .setIssuer(issuer).setAudience(audience).setSubject(sub).setJti(newId(runtime))
      .setIssuedAt(seconds).setExpirationTime(seconds + accessTokenSeconds)
      .sign(privateKey)
  }
  return {
    forUser: (key, { id, tenant_id, platform, role_bindings }, { environment, authentication, authenticatedAt }, at) => sign(key, id, {
      client_id: consoleClient, tenant_id, env: environment, role_bindings, ...(platform && { platform }),
      acr: authentication, auth_time: secondsOf(authenticatedAt),
    }, at),
    forService: (key, { id, tenant_id, permissions, environment }, at) => sign(key, id, {
      client_id: id, ...(tenant_id !== null && { tenant_id }), env: environment, permissions,
    }, at),
  }
}

function secondsOf(at: Date): number {
  return Math.floor(at.getTime() / 1000)
}
