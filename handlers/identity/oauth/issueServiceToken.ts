import { findOidcClient } from '../../../db/identity/oidcClients.ts'
import { hasDigest } from '../../../domain/opaqueTokens.ts'
import type { Handler } from '../handler.ts'
import { on } from '../signingKeys.ts'
import { accessTokenSeconds } from '../tokenIssuer.ts'

/** The digest of no secret: an unknown client costs what a wrong secret does. */
const nobody = Buffer.alloc(32)

export const issueServiceToken: Handler<'issueServiceToken'> = async ({ app, body, fail, now, reply, sql }) => {
  const client = await findOidcClient(sql, body.client_id)
  const right = hasDigest(body.client_secret, client?.secret_sha256 ?? nobody)
  if (!client || !right) return fail('unauthenticated', { message: 'The client or its secret is wrong.' })
  if (body.environment !== undefined && body.environment !== client.environment) {
    fail('validation_failed', { fields: { environment: 'must be the client\'s own' } })
  }
  const key = await app.signingKeys.present(on(sql))
  const token = await app.issuer.forService(key, client, now)
  return reply(200, { access_token: token, token_type: 'Bearer', expires_in: accessTokenSeconds })
}
