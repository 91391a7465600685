import { listApiKeys as listRows } from '../../../db/payments/apiKeys.ts'
import { apiKeyView } from '../../../domain/apiKeyView.ts'
import { envelopeOf, pageOf } from '../../../domain/paging.ts'
import { listScope } from '../addressedMerchant.ts'
import type { Handler } from '../handler.ts'

export const listApiKeys: Handler<'listApiKeys'> = async ({ fail, query, reach, reply, sql }) => {
  const page = pageOf(query)
  const { rows, total } = await listRows(sql, await listScope(sql, reach, query.merchant_id, fail), { ...page, search: query.search ?? null })
  return reply(200, { api_keys: rows.map(apiKeyView), ...envelopeOf(total, page) })
}
