import { findWebhookSubscription } from '../../../db/payments/webhookSubscriptions.ts'
import { webhookSubscriptionView } from '../../../domain/webhookSubscriptionView.ts'
import type { Handler } from '../handler.ts'

export const getWebhookSubscription: Handler<'getWebhookSubscription'> = async ({ fail, now, params, reach, reply, sql }) => {
  const row = await findWebhookSubscription(sql, reach, params.id) ?? fail('not_found')
  return reply(200, webhookSubscriptionView(row, now))
}
