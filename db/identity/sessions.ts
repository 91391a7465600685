import type { Environment } from '../../domain/apiKeys.ts'
import type { Sql } from '../sql.ts'

export interface NewSession {
  id: string
  tenantId: string
  userId: string
  environment: Environment
  refreshTokenDigest: Buffer
  authentication: 'pwd' | 'mfa'
  expiresAt: Date
}

export async function insertSession(sql: Sql, session: NewSession, now: Date): Promise<void> {
  await sql`
    insert into identity.sessions
      (id, user_id, tenant_id, environment, refresh_token_sha256, authentication, created_at, expires_at)
    values (${session.id}, ${session.userId}, ${session.tenantId}, ${session.environment},
      ${session.refreshTokenDigest}, ${session.authentication}, ${now}, ${session.expiresAt})`
}

export interface SessionRow {
  id: string
  user_id: string
  tenant_id: string
  environment: Environment
  authentication: 'pwd' | 'mfa'
  created_at: Date
  expires_at: Date
}

/** Puts the next refresh token in the place of a live session's present one, which works once. Undefined when it is none. */
export async function rotateRefreshToken(sql: Sql, presented: Buffer, next: Buffer, now: Date): Promise<SessionRow | undefined> {
  const [row] = await sql<SessionRow[]>`
    update identity.sessions set refresh_token_sha256 = ${next}
    where refresh_token_sha256 = ${presented} and ended_at is null and expires_at > ${now}
    returning id, user_id, tenant_id, environment, authentication, created_at, expires_at`
  return row
}

/** Remembers a refresh token that was exchanged, for as long as its session can live. */
export async function insertSpentRefreshToken(sql: Sql, tokenDigest: Buffer, { id, expires_at }: SessionRow, now: Date): Promise<void> {
  await sql`
    insert into identity.spent_refresh_tokens (token_sha256, session_id, expires_at, spent_at)
    values (${tokenDigest}, ${id}, ${expires_at}, ${now})`
}

/** Deletes spent tokens of sessions that had expired before `until`, at most so many. */
export async function purgeSpentRefreshTokens(sql: Sql, until: Date, most: number): Promise<void> {
  await sql`
    delete from identity.spent_refresh_tokens where token_sha256 in (
      select token_sha256 from identity.spent_refresh_tokens where expires_at < ${until}
      order by expires_at limit ${most} for update skip locked)`
}

export interface EndedSessionRow {
  id: string
  user_id: string
  tenant_id: string
}

/** Ends the session whose present refresh token this is. Undefined when it is none's, or has ended. */
export async function endSessionOfToken(sql: Sql, tokenDigest: Buffer, now: Date): Promise<EndedSessionRow | undefined> {
  const [row] = await sql<EndedSessionRow[]>`
    update identity.sessions set ended_at = ${now}
    where refresh_token_sha256 = ${tokenDigest} and ended_at is null
    returning id, user_id, tenant_id`
  return row
}

/** Ends the session that had this refresh token before its present one. Undefined when none had, or it has ended. */
export async function endSessionOfSpentToken(sql: Sql, tokenDigest: Buffer, now: Date): Promise<EndedSessionRow | undefined> {
  const [row] = await sql<EndedSessionRow[]>`
    update identity.sessions set ended_at = ${now}
    where id = (select session_id from identity.spent_refresh_tokens where token_sha256 = ${tokenDigest}) and ended_at is null
    returning id, user_id, tenant_id`
  return row
}
