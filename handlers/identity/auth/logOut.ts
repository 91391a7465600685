import { endSessionOfSpentToken, endSessionOfToken } from '../../../db/identity/sessions.ts'
import { digestOfToken } from '../../../domain/opaqueTokens.ts'
import type { Handler } from '../handler.ts'
import { writeSessionEnd } from '../sessionEnd.ts'

export const logOut: Handler<'logOut'> = async (context) => {
  const { body, now, reply, sql } = context
  const presented = digestOfToken(body.refresh_token)
  const ended = await endSessionOfToken(sql, presented, now) ?? await endSessionOfSpentToken(sql, presented, now)
  if (ended) await writeSessionEnd(sql, context, ended, 'session.logged_out')
  return reply(204, undefined)
}
