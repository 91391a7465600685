import { createRemoteJWKSet, customFetch, errors, jwtVerify } from 'jose'
import type { JWTPayload, JWTVerifyGetKey } from 'jose'
import { idPattern } from '../../db/ids.ts'
import type { Environment } from '../../domain/apiKeys.ts'
import type { Runtime } from '../../domain/runtime.ts'
import { ApiError } from '../../domain/apiError.ts'
import type { Caller, RoleBinding } from './caller.ts'

export interface TokenRules {
  /** Expected `iss`. */
  issuer: string
  /** Null for the identity service, which serves both environments. */
  environment: Environment | null
}

export interface AccessTokenOptions extends TokenRules {
  /** Where the issuer's keys are. */
  jwksUrl: string
}

export interface AccessTokens {
  /**
   * Verifies a token. 401 unauthenticated, 403 env_mismatch once the signature holds, 503 while the keys cannot be had.
   * The audience of the subjects in `pinned` is not looked at: the storefront's backend goes by subject (decision 5.4).
   */
  verify(token: string, pinned?: readonly string[]): Promise<Caller>
}

/** `aud` of every access token of the platform. */
export const audience = 'bayar'
const clockToleranceSeconds = 5
const jwksTimeoutMs = 2000
const jwksCooldownMs = 10_000
const jwksMaxAgeMs = 300_000

/** Verifies access tokens (decision 5.4): ES256 alone, keys of the issuer, fetched anew when a token names an unknown one. */
export function accessTokens(options: AccessTokenOptions, runtime: Runtime): AccessTokens {
  const keys = createRemoteJWKSet(new URL(options.jwksUrl), {
    timeoutDuration: jwksTimeoutMs, cooldownDuration: jwksCooldownMs, cacheMaxAge: jwksMaxAgeMs, [customFetch]: runtime.fetch,
  })
  return accessTokensUnder(keys, options, runtime)
}

/** As `accessTokens`, under keys that the process can find by itself: the issuer asks no one for its own. */
export function accessTokensUnder(keys: JWTVerifyGetKey, rules: TokenRules, runtime: Pick<Runtime, 'now'>): AccessTokens {
  return {
    async verify(token, pinned = []) {
      const payload = await verified(token, keys, rules, runtime.now())
      if (!pinned.includes(payload.sub ?? '') && ![payload.aud].flat().includes(audience)) throw new ApiError('unauthenticated')
      return callerOf(payload)
    },
  }
}

async function verified(token: string, keys: JWTVerifyGetKey, rules: TokenRules, now: Date): Promise<JWTPayload> {
  try {
    const { payload } = await jwtVerify(token, keys, {
      algorithms: ['ES256'], typ: 'at+jwt', issuer: rules.issuer, currentDate: now, clockTolerance: clockToleranceSeconds,
      requiredClaims: ['exp', 'iat', 'sub', 'jti'],
    })
    assertEnvironment(payload, rules.environment)
    return payload
  } catch (error) {
    if (error instanceof ApiError) throw error
    // These two come after the signature held, so their payload can be believed.
    if (error instanceof errors.JWTExpired || error instanceof errors.JWTClaimValidationFailed) {
      if (error.payload.iss === rules.issuer) assertEnvironment(error.payload, rules.environment)
      throw new ApiError('unauthenticated')
    }
    if (error instanceof errors.JWKSTimeout || !(error instanceof errors.JOSEError) || error.code === 'ERR_JOSE_GENERIC') {
      const details = { message: 'The keys that verify access tokens cannot be had at present.', headers: { 'Retry-After': '1' } }
      throw new ApiError('unavailable', details, error)
    }
    throw new ApiError('unauthenticated')
  }
}

function assertEnvironment(payload: JWTPayload, environment: Environment | null): void {
  if (environment !== null && payload.env !== environment) throw new ApiError('env_mismatch')
}

const place = /^(?:\*|(?:merchant|pos):(.+))$/

/** What no role can be held at grants nothing: its text would go into statements as an identifier. */
function isBinding(value: unknown): value is RoleBinding {
  if (value === null || typeof value !== 'object') return false
  const { role, scope } = value as Partial<Record<keyof RoleBinding, unknown>>
  const [whole, id] = typeof scope === 'string' ? place.exec(scope) ?? [] : []
  return typeof role === 'string' && whole !== undefined && (id === undefined || idPattern.test(id))
}

function callerOf(payload: JWTPayload): Caller {
  const { sub = '', jti = '', tenant_id, role_bindings, permissions, acr, auth_time, platform } = payload
  const tenantId = typeof tenant_id === 'string' && idPattern.test(tenant_id) ? tenant_id : null
  if (Array.isArray(permissions)) return { kind: 'service', id: sub, tenantId, permissions: permissions.map(String), tokenId: jti }
  if (tenantId === null || !Array.isArray(role_bindings)) throw new ApiError('unauthenticated')
  return {
    kind: 'user', id: sub, tenantId, platform: platform === true, bindings: role_bindings.filter(isBinding), tokenId: jti,
    stepUpAt: acr === 'step-up' && typeof auth_time === 'number' ? new Date(auth_time * 1000) : null,
  }
}
