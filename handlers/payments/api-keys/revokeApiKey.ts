import { lockApiKey, revokeApiKey as revoke } from '../../../db/payments/apiKeys.ts'
import { audit } from '../audit.ts'
import type { Handler } from '../handler.ts'

export const revokeApiKey: Handler<'revokeApiKey'> = async (context) => {
  const { fail, now, params, reach, reply, sql } = context
  const key = await lockApiKey(sql, reach, params.id) ?? fail('not_found')
  if (await revoke(sql, key, now)) {
    await audit(context, {
      tenantId: key.tenant_id, merchantId: key.merchant_id, action: 'payments.api_key.revoked', target: `api_key:${key.id}`, changedKeys: ['revoked_at'],
    })
  }
  return reply(204, undefined)
}
