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
