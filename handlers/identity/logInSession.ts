import { insertAuditEvent } from '../../db/identity/auditEvents.ts'
import { insertSession } from '../../db/identity/sessions.ts'
import { lockTokenSubject, rememberEnvironment } from '../../db/identity/users.ts'
import type { TokenSubjectRow } from '../../db/identity/users.ts'
import { newId } from '../../db/ids.ts'
import type { Sql } from '../../db/sql.ts'
import type { components } from '../../generated/identity.ts'
import type { Environment } from '../../domain/apiKeys.ts'
import { digestOfToken, newOpaqueToken } from '../../domain/opaqueTokens.ts'
import type { Runtime } from '../../domain/runtime.ts'
import type { IdentityApp } from './handler.ts'
import type { SigningKey } from './signingKeys.ts'
import { accessTokenSeconds } from './tokenIssuer.ts'
import type { SignIn } from './tokenIssuer.ts'

type LogInResult = components['schemas']['LogInResult']

/** What of a request the log-in needs. */
export interface LogInRequest {
  now: Date
  requestId: string
  runtime: Runtime
}

export interface LogInSession extends SignIn {
  user: TokenSubjectRow
  refreshToken: string
}

/** How long a person stays signed in without the password (NIST SP 800-63B, 2.2.3). */
const sessionHours = 12

/** Opens a session in the caller's transaction, with its audit row. Undefined when the account is no longer live. */
export async function openSession(
  sql: Sql, request: LogInRequest, userId: string, environment: Environment, authentication: 'pwd' | 'mfa',
): Promise<LogInSession | undefined> {
  const user = await lockTokenSubject(sql, userId)
  if (!user) return undefined
  const { now, runtime } = request
  const refreshToken = newOpaqueToken('rt', runtime)
  const expiresAt = new Date(now.getTime() + sessionHours * 3_600_000)
  await Promise.all([
    insertSession(sql, {
      id: newId(runtime), tenantId: user.tenant_id, userId, environment, authentication, expiresAt,
      refreshTokenDigest: digestOfToken(refreshToken),
    }, now),
    rememberEnvironment(sql, user.tenant_id, userId, environment),
    writeLogIn(sql, request, 'succeeded', user.tenant_id, `user:${userId}`),
  ])
  return { user, environment, authentication, authenticatedAt: now, refreshToken }
}

/** Writes to the audit log how a step of a log-in ended. `target` is the account, the actor too unless it failed. */
export async function writeLogIn(
  sql: Sql, { now, requestId, runtime }: LogInRequest, outcome: 'succeeded' | 'challenged' | 'failed',
  tenantId: string | null, target: string,
): Promise<void> {
  const [actor, action] = [outcome === 'failed' ? 'anonymous' : target, `log_in.${outcome}`]
  await insertAuditEvent(sql, { id: newId(runtime), tenantId, actor, action, target, requestId }, now)
}

/** The answer to a finished log-in. */
export async function logInTokens(
  { issuer }: IdentityApp, key: SigningKey, session: LogInSession, now: Date,
): Promise<LogInResult> {
  const { user, refreshToken } = session
  return {
    status: 'authenticated',
    token_type: 'Bearer',
    access_token: await issuer.forUser(key, user, session, now),
    expires_in: accessTokenSeconds,
    refresh_token: refreshToken,
    mfa_token: null,
    mfa_expires_in: null,
  }
}
