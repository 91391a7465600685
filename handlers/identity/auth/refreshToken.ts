import {
  endSessionOfSpentToken, endSessionOfToken, insertSpentRefreshToken, purgeSpentRefreshTokens, rotateRefreshToken,
} from '../../../db/identity/sessions.ts'
import { lockTokenSubject } from '../../../db/identity/users.ts'
import type { Sql } from '../../../db/sql.ts'
import { digestOfToken, newOpaqueToken } from '../../../domain/opaqueTokens.ts'
import type { Handler } from '../handler.ts'
import type { LogInSession } from '../logInSession.ts'
import { writeSessionEnd } from '../sessionEnd.ts'
import { accessTokenSeconds } from '../tokenIssuer.ts'

type Context = Parameters<Handler<'refreshToken'>>[0]

/** Rows of the past that a refresh clears away: more than it adds, so the table stays small without a job. */
const purgedAtOnce = 20
/** Longer than needed: the clocks of the processes may differ. */
const purgeMarginMs = 3_600_000

export const refreshToken: Handler<'refreshToken'> = async (context) => {
  const { app, body, db, fail, now, reply } = context
  const presented = digestOfToken(body.refresh_token)
  const key = await app.signingKeys.present(db.query)
  // What a refusal writes is committed: a token presented twice ends its session.
  const session = await db.tx((sql) => refresh(sql, context, presented))
  if (!session) return fail('unauthenticated', { message: 'The refresh token is wrong, used or expired.' })
  return reply(200, {
    token_type: 'Bearer', access_token: await app.issuer.forUser(key, session.user, session, now), expires_in: accessTokenSeconds,
    refresh_token: session.refreshToken,
  })
}

/** Exchanges the token. Undefined when it is good for nothing; then its session, if it has one, is ended. */
async function refresh(sql: Sql, context: Context, presented: Buffer): Promise<LogInSession | undefined> {
  const { now, runtime } = context
  const token = newOpaqueToken('rt', runtime)
  const next = digestOfToken(token)
  const session = await rotateRefreshToken(sql, presented, next, now)
  if (!session) {
    const reused = await endSessionOfSpentToken(sql, presented, now)
    if (reused) await writeSessionEnd(sql, context, reused, 'session.token_reused')
    return undefined
  }
  const user = await lockTokenSubject(sql, session.user_id)
  if (!user) {
    const ended = await endSessionOfToken(sql, next, now)
    if (ended) await writeSessionEnd(sql, context, ended, 'session.account_closed')
    return undefined
  }
  await insertSpentRefreshToken(sql, presented, session, now)
  await purgeSpentRefreshTokens(sql, new Date(now.getTime() - purgeMarginMs), purgedAtOnce)
  const { authentication, created_at: authenticatedAt, environment } = session
  return { user, environment, authentication, authenticatedAt, refreshToken: token }
}
