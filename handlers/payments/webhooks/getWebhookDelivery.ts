import { findEventBody } from '../../../db/payments/events.ts'
import { findWebhookDelivery, listWebhookAttempts } from '../../../db/payments/webhookDeliveryList.ts'
import { webhookAttemptView, webhookDeliveryView } from '../../../domain/webhookDeliveryView.ts'
import type { Handler } from '../handler.ts'

/** A delivery that was replayed for years has more attempts than an answer should hold. */
const mostAttempts = 100

export const getWebhookDelivery: Handler<'getWebhookDelivery'> = async ({ fail, params, reach, reply, sql }) => {
  const row = await findWebhookDelivery(sql, reach, params.id) ?? fail('not_found')
  const [body, attempts] = await Promise.all([findEventBody(sql, reach, row.event_id), listWebhookAttempts(sql, row, mostAttempts)])
  return reply(200, { ...webhookDeliveryView(row), event_body: body ?? fail('not_found'), attempts: attempts.map(webhookAttemptView) })
}
