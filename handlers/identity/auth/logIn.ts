import { createHash } from 'node:crypto'
import { insertLogInChallenge, purgeLogInChallenges } from '../../../db/identity/logInChallenges.ts'
import { findOldestLogInTry, purgeLogInTries, takeLogInTry } from '../../../db/identity/logInTries.ts'
import { findLogInUser } from '../../../db/identity/users.ts'
import type { LogInUserRow } from '../../../db/identity/users.ts'
import type { Environment } from '../../../domain/apiKeys.ts'
import { digestOfToken, newOpaqueToken } from '../../../domain/opaqueTokens.ts'
import type { Handler } from '../handler.ts'
import { logInTokens, openSession, writeLogIn } from '../logInSession.ts'

type Context = Parameters<Handler<'logIn'>>[0]

/** Tries of an account in a window (decision 5.7). */
const mostTries = 10
const windowMs = 15 * 60_000
const challengeSeconds = 300
/** Rows of the past that a log-in clears away: more than it adds, so the tables stay small without a job. */
const purgedAtOnce = 20

// Every refusal does the same work in the same order: the try, the look-up, one hash, one audit row.
export const logIn: Handler<'logIn'> = async (context) => {
  const { app, body, db, now, reply } = context
  const email = body.email.toLowerCase()
  const account = createHash('sha256').update(email).digest()
  await takeTry(context, account)
  const user = await db.query((sql) => findLogInUser(sql, email))
  const right = await app.passwords.verify(body.password, user?.password_hash ?? null)
  if (!user || !right || !user.live) return refuse(context, user, account)
  const environment = body.environment ?? user.environment
  if (user.has_totp) return challenge(context, user, environment)
  const key = await app.signingKeys.present(db.query)
  const session = await db.tx((sql) => openSession(sql, context, user.id, environment, 'pwd'))
  return session ? reply(200, await logInTokens(app, key, session, now)) : refuse(context, user, account)
}

/** The one answer to a log-in that failed, whatever the reason. */
async function refuse(context: Context, user: LogInUserRow | undefined, account: Buffer): Promise<never> {
  const target = user ? `user:${user.id}` : `account:${account.toString('hex')}`
  await context.db.query((sql) => writeLogIn(sql, context, 'failed', user?.tenant_id ?? null, target))
  return context.fail('unauthenticated', { message: 'The e-mail address or the password is wrong.' })
}

/** Counts the try before anything is known of the account. 429 when it has none left. */
async function takeTry({ db, fail, now }: Context, account: Buffer): Promise<void> {
  const since = new Date(now.getTime() - windowMs)
  const oldest = await db.query(async (sql) => {
    if (await takeLogInTry(sql, account, mostTries, since, now)) {
      // A window longer than needed: the clocks of the processes may differ.
      await purgeLogInTries(sql, new Date(since.getTime() - windowMs), purgedAtOnce)
      return null
    }
    return await findOldestLogInTry(sql, account, since) ?? now
  })
  if (oldest === null) return
  const wait = String(Math.max(1, Math.ceil((oldest.getTime() + windowMs - now.getTime()) / 1000)))
  fail('rate_limited', {
    message: 'Too many log-ins of this account.',
    headers: {
      'Retry-After': wait, 'RateLimit-Limit': String(mostTries), 'RateLimit-Remaining': '0', 'RateLimit-Reset': wait,
    },
  })
}

/** The first step of a log-in in two. */
async function challenge(context: Context, user: LogInUserRow, environment: Environment) {
  const { db, now, reply, runtime } = context
  const token = newOpaqueToken('mfa', runtime)
  const expiresAt = new Date(now.getTime() + challengeSeconds * 1000)
  await db.tx(async (sql) => {
    await insertLogInChallenge(sql, { tokenDigest: digestOfToken(token), userId: user.id, environment, expiresAt })
    await writeLogIn(sql, context, 'challenged', user.tenant_id, `user:${user.id}`)
    await purgeLogInChallenges(sql, new Date(now.getTime() - windowMs), purgedAtOnce)
  })
  return reply(200, {
    status: 'mfa_required', token_type: null, access_token: null, expires_in: null, refresh_token: null,
    mfa_token: token, mfa_expires_in: challengeSeconds,
  })
}
