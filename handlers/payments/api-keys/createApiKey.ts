import { defaultScopes, scopes as registeredScopes } from '../../../generated/roles.ts'
import { apiKeyView } from '../../../domain/apiKeyView.ts'
import { actorOf } from '../../http/caller.ts'
import { addressedMerchant } from '../addressedMerchant.ts'
import { audit } from '../audit.ts'
import type { Handler } from '../handler.ts'
import { issueKey, scopesNotHeld } from './newKey.ts'

export const createApiKey: Handler<'createApiKey'> = async (context) => {
  const { app, body, caller, fail, now, reach, reply, runtime, sql } = context
  const merchantId = await addressedMerchant(sql, reach, body.merchant_id, fail)
  const scopes = body.scopes ?? [...defaultScopes]
  const unknown = scopes.filter((scope) => !registeredScopes.some((registered) => registered === scope))
  if (unknown.length > 0) fail('validation_failed', { fields: { scopes: `unknown: ${unknown.join(', ')}` } })
  const notHeld = scopesNotHeld(caller, merchantId, scopes)
  if (notHeld.length > 0) fail('forbidden', { message: `You cannot grant what you do not hold: ${notHeld.join(', ')}.` })
  const expiresAt = body.expires_at ? new Date(body.expires_at) : null
  if (expiresAt && expiresAt <= now) fail('validation_failed', { fields: { expires_at: 'must be in the future' } })
  const { row, key } = await issueKey(sql, {
    tenantId: reach.tenantId, merchantId, name: body.name, scopes, createdBy: actorOf(caller), expiresAt,
  }, app.configuration.BAYAR_ENV, runtime, now)
  await audit(context, {
    tenantId: reach.tenantId, merchantId, action: 'payments.api_key.created', target: `api_key:${row.id}`, changedKeys: ['name', 'scopes', 'expires_at'],
  })
  return reply(201, { ...apiKeyView(row), key })
}
