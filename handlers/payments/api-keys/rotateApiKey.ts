import { endApiKeyAt, lockApiKey } from '../../../db/payments/apiKeys.ts'
import { apiKeyView } from '../../../domain/apiKeyView.ts'
import { actorOf } from '../../http/caller.ts'
import { audit } from '../audit.ts'
import type { Handler } from '../handler.ts'
import { issueKey, scopesNotHeld } from './newKey.ts'

const overlapMinutes = 30

export const rotateApiKey: Handler<'rotateApiKey'> = async (context) => {
  const { app, body, caller, fail, now, params, reach, reply, runtime, sql } = context
  const old = await lockApiKey(sql, reach, params.id) ?? fail('not_found')
  if (old.revoked_at) fail('invalid_state', { message: 'The key is revoked.' })
  if (old.expires_at && old.expires_at <= now) fail('invalid_state', { message: 'The key has ended.' })
  const notHeld = scopesNotHeld(caller, old.merchant_id, old.scopes)
  if (notHeld.length > 0) fail('forbidden', { message: `You cannot grant what you do not hold: ${notHeld.join(', ')}.` })
  const { row, key } = await issueKey(sql, {
    tenantId: old.tenant_id, merchantId: old.merchant_id, name: old.name, scopes: old.scopes, createdBy: actorOf(caller), expiresAt: old.expires_at,
  }, app.configuration.BAYAR_ENV, runtime, now)
  await endApiKeyAt(sql, old, new Date(now.getTime() + (body?.overlap_minutes ?? overlapMinutes) * 60_000))
  await audit(context, {
    tenantId: old.tenant_id, merchantId: old.merchant_id, action: 'payments.api_key.rotated', target: `api_key:${old.id}`, changedKeys: ['expires_at'],
  })
  return reply(201, { ...apiKeyView(row), key })
}
