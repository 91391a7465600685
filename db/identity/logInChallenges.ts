import type { Environment } from '../../domain/apiKeys.ts'
import type { Sql } from '../sql.ts'

export interface NewLogInChallenge {
  tokenDigest: Buffer
  userId: string
  environment: Environment
  expiresAt: Date
}

export async function insertLogInChallenge(sql: Sql, challenge: NewLogInChallenge): Promise<void> {
  await sql`
    insert into identity.log_in_challenges (token_sha256, user_id, environment, expires_at)
    values (${challenge.tokenDigest}, ${challenge.userId}, ${challenge.environment}, ${challenge.expiresAt})`
}

export interface LogInChallengeRow {
  user_id: string
  tenant_id: string
  environment: Environment
}

/** Takes one of the tries of a challenge. Undefined when it is unknown, used, expired, or has no try left. */
export async function takeChallengeTry(
  sql: Sql, tokenDigest: Buffer, mostTries: number, now: Date,
): Promise<LogInChallengeRow | undefined> {
  const [row] = await sql<LogInChallengeRow[]>`
    update identity.log_in_challenges c set tries = c.tries + 1
    from identity.users u
    where c.token_sha256 = ${tokenDigest} and c.used_at is null and c.expires_at > ${now} and c.tries < ${mostTries}
      and u.id = c.user_id
    returning c.user_id, u.tenant_id, c.environment`
  return row
}

/** Uses a challenge up. False when another request did so first. */
export async function useLogInChallenge(sql: Sql, tokenDigest: Buffer, now: Date): Promise<boolean> {
  const rows = await sql`
    update identity.log_in_challenges set used_at = ${now} where token_sha256 = ${tokenDigest} and used_at is null
    returning user_id`
  return rows.length === 1
}

/** Forgets challenges that ended before `before`, at most `most`; those that another request forgets are left to it. */
export async function purgeLogInChallenges(sql: Sql, before: Date, most: number): Promise<void> {
  await sql`
    delete from identity.log_in_challenges where token_sha256 in (
      select token_sha256 from identity.log_in_challenges where expires_at < ${before} order by expires_at limit ${most}
      for update skip locked)`
}
