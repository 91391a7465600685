import { countWebhookDeliveries, listWebhookDeliveries } from '../../../db/payments/webhookDeliveryList.ts'
import { envelopeOf, pageOf } from '../../../domain/paging.ts'
import { webhookDeliveryView } from '../../../domain/webhookDeliveryView.ts'
import { listScope } from '../addressedMerchant.ts'
import type { Handler } from '../handler.ts'
import { readDeliveryFilters } from './deliveryFilters.ts'

export const listDeadWebhookDeliveries: Handler<'listDeadWebhookDeliveries'> = async ({ fail, query, reach, reply, sql }) => {
  const page = pageOf(query)
  const filters = { ...readDeliveryFilters(query), status: 'dead' }
  const scope = await listScope(sql, reach, query.merchant_id, fail)
  const [rows, total] = await Promise.all([listWebhookDeliveries(sql, scope, filters, page), countWebhookDeliveries(sql, scope, filters)])
  return reply(200, { deliveries: rows.map(webhookDeliveryView), ...envelopeOf(total, page) })
}
