import { randomUUID } from 'node:crypto'
import { SignJWT, exportJWK, generateKeyPair } from 'jose'
import type { CryptoKey, JWK } from 'jose'
import type { RoleBinding } from '../../handlers/http/caller.ts'
import type { TestClock } from './clock.ts'

/** What a token says; what is left out is what a good token would say. */
export interface TokenClaims {
  subject?: string
  tenantId?: string | null
  bindings?: readonly RoleBinding[]
  /** Makes it a service's token. */
  permissions?: readonly string[]
  environment?: string
  platform?: boolean
  /** Seconds since the step-up; left out: none. */
  stepUpAge?: number
  issuer?: string
  audience?: string
  /** Seconds from now; negative: expired. */
  expiresIn?: number
  /** Seconds from now before which it does not count. */
  notBefore?: number
  type?: string
}

/** An issuer of access tokens with its own key, as another identity provider would be. */
export interface TestIssuer {
  issuer: string
  jwksUrl: string
  jwks(): { keys: JWK[] }
  token(claims?: TokenClaims): Promise<string>
  /** A token with the right claims under a key that the issuer never published. */
  forgedToken(claims?: TokenClaims): Promise<string>
  /** A token signed by HMAC with the text of the public key: the classic confusion of algorithms. */
  confusedToken(claims?: TokenClaims): Promise<string>
  /** A token without signature. */
  unsignedToken(claims?: TokenClaims): string
}

export async function testIssuer(clock: TestClock): Promise<TestIssuer> {
  const issuer = 'http://issuer.test'
  const own = await generateKeyPair('ES256', { extractable: true })
  const foreign = await generateKeyPair('ES256')
  const kid = randomUUID()
  const jwk: JWK = { ...await exportJWK(own.publicKey), kid, use: 'sig', alg: 'ES256' }
  const sign = (claims: TokenClaims, key: CryptoKey | Uint8Array, alg: string) =>
    new SignJWT(payloadOf(claims, issuer, clock)).setProtectedHeader({ alg, kid, typ: claims.type ?? 'at+jwt' }).sign(key)
  return {
    issuer,
    jwksUrl: `${issuer}/jwks.json`,
    jwks: () => ({ keys: [jwk] }),
    token: (claims = {}) => sign(claims, own.privateKey, 'ES256'),
    forgedToken: (claims = {}) => sign(claims, foreign.privateKey, 'ES256'),
    confusedToken: (claims = {}) => sign(claims, new TextEncoder().encode(JSON.stringify(jwk)), 'HS256'),
    unsignedToken: (claims = {}) => {
      const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
      return `${part({ alg: 'none', typ: 'at+jwt' })}.${part(payloadOf(claims, issuer, clock))}.`
    },
  }
}

function payloadOf(claims: TokenClaims, issuer: string, clock: TestClock): Record<string, unknown> {
  const now = Math.floor(clock.now().getTime() / 1000)
  return {
    iss: claims.issuer ?? issuer, aud: claims.audience ?? 'bayar', sub: claims.subject ?? randomUUID(), jti: randomUUID(), iat: now,
    exp: now + (claims.expiresIn ?? 600), env: claims.environment ?? 'sandbox',
    ...(claims.tenantId !== null && { tenant_id: claims.tenantId ?? randomUUID() }),
    ...(claims.notBefore !== undefined && { nbf: now + claims.notBefore }),
    ...(claims.platform && { platform: true }),
    ...(claims.permissions ? { permissions: claims.permissions } : { role_bindings: claims.bindings ?? [] }),
    ...(claims.stepUpAge === undefined ? { acr: 'mfa', auth_time: now } : { acr: 'step-up', auth_time: now - claims.stepUpAge }),
  }
}
