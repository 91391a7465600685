import { countWebhookDeliveries, listWebhookDeliveries as listRows } from '../../../db/payments/webhookDeliveryList.ts'
import { envelopeOf, pageOf } from '../../../domain/paging.ts'
import { webhookDeliveryView } from '../../../domain/webhookDeliveryView.ts'
import { listScope } from '../addressedMerchant.ts'
import type { Handler } from '../handler.ts'
import { readDeliveryFilters } from './deliveryFilters.ts'

export const listWebhookDeliveries: Handler<'listWebhookDeliveries'> = async ({ fail, query, reach, reply, sql }) => {
  const page = pageOf(query)
  const filters = { ...readDeliveryFilters(query), eventId: query.event_id, intentId: query.intent_id, status: query.status }
  const scope = await listScope(sql, reach, query.merchant_id, fail)
  const [rows, total] = await Promise.all([listRows(sql, scope, filters, page), countWebhookDeliveries(sql, scope, filters)])
  return reply(200, { deliveries: rows.map(webhookDeliveryView), ...envelopeOf(total, page) })
}
