import { takeChallengeTry, useLogInChallenge } from '../../../db/identity/logInChallenges.ts'
import type { LogInChallengeRow } from '../../../db/identity/logInChallenges.ts'
import { findTotpSeed, useTotpStep } from '../../../db/identity/totpDevices.ts'
import type { Sql } from '../../../db/sql.ts'
import { digestOfToken } from '../../../domain/opaqueTokens.ts'
import { totpSeedIdentity, totpStep } from '../../../domain/totp.ts'
import type { Handler } from '../handler.ts'
import { logInTokens, openSession, writeLogIn } from '../logInSession.ts'
import type { LogInSession } from '../logInSession.ts'

type Context = Parameters<Handler<'completeLogIn'>>[0]

/** Codes that may be tried against one `mfa_token`. */
const mostTries = 5

export const completeLogIn: Handler<'completeLogIn'> = async (context) => {
  const { app, body, db, fail, now, reply } = context
  const tokenDigest = digestOfToken(body.mfa_token)
  // Committed by itself: a try must not be given back by what fails after it.
  const challenge = await db.query((sql) => takeChallengeTry(sql, tokenDigest, mostTries, now))
  if (!challenge) return refuse()
  const key = await app.signingKeys.present(db.query)
  const session = await db.tx((sql) => complete(sql, context, challenge, tokenDigest))
  return session ? reply(200, await logInTokens(app, key, session, now)) : refuse()

  function refuse(): never {
    return fail('unauthenticated', { message: 'The code or the mfa_token is wrong, used up or expired.' })
  }
}

/** Uses up the code and the token together. Undefined, with an audit row, when either is no good. */
async function complete(
  sql: Sql, context: Context, challenge: LogInChallengeRow, tokenDigest: Buffer,
): Promise<LogInSession | undefined> {
  const { app, body, now } = context
  const { user_id: userId, tenant_id: tenantId, environment } = challenge
  const sealed = await findTotpSeed(sql, userId)
  const step = sealed ? totpStep(app.sealing.open(sealed, totpSeedIdentity(userId)), body.code, now) : null
  const proven = step !== null && await useTotpStep(sql, userId, step) && await useLogInChallenge(sql, tokenDigest, now)
  const session = proven ? await openSession(sql, context, userId, environment, 'mfa') : undefined
  if (!session) await writeLogIn(sql, context, 'failed', tenantId, `user:${userId}`)
  return session
}
