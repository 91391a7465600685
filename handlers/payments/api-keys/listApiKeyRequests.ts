import { listApiKeyRequests as listRows } from '../../../db/payments/apiKeyRequests.ts'
import { findApiKey } from '../../../db/payments/apiKeys.ts'
import { envelopeOf, pageOf } from '../../../domain/paging.ts'
import type { Handler } from '../handler.ts'

const shownDays = 30

export const listApiKeyRequests: Handler<'listApiKeyRequests'> = async ({ fail, now, params, query, reach, reply, sql }) => {
  const page = pageOf(query)
  const key = await findApiKey(sql, reach, params.id) ?? fail('not_found')
  const since = new Date(now.getTime() - shownDays * 86_400_000)
  const { rows, total } = await listRows(sql, { tenantId: key.tenant_id, merchantId: key.merchant_id, apiKeyId: key.id }, since, page)
  return reply(200, {
    requests: rows.map(({ id, operation_id, status, error, address, request_id, requested_at }) => (
      { id, operation_id, status, error, address, request_id, requested_at: requested_at.toISOString() })),
    ...envelopeOf(total, page),
  })
}
