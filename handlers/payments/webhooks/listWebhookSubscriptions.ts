import { listWebhookSubscriptions as listRows } from '../../../db/payments/webhookSubscriptions.ts'
import { envelopeOf, pageOf } from '../../../domain/paging.ts'
import { webhookSubscriptionView } from '../../../domain/webhookSubscriptionView.ts'
import { listScope } from '../addressedMerchant.ts'
import type { Handler } from '../handler.ts'

export const listWebhookSubscriptions: Handler<'listWebhookSubscriptions'> = async ({ fail, now, query, reach, reply, sql }) => {
  const page = pageOf(query)
  const { rows, total } = await listRows(sql, await listScope(sql, reach, query.merchant_id, fail), { ...page, search: query.search ?? null })
  return reply(200, { webhooks: rows.map((row) => webhookSubscriptionView(row, now)), ...envelopeOf(total, page) })
}
