import { findWebhookSubscription } from '../../../db/payments/webhookSubscriptions.ts'
import { webhookReplayView } from '../../../domain/webhookReplayView.ts'
import { addressedMerchant } from '../addressedMerchant.ts'
import type { Handler } from '../handler.ts'
import { askForReplay } from './replayJob.ts'

export const replayDeadWebhookDeliveries: Handler<'replayDeadWebhookDeliveries'> = async (context) => {
  const { body, fail, reach, reply, sql } = context
  const merchantId = await addressedMerchant(sql, reach, body.merchant_id, fail)
  if (body.subscription_id !== undefined) {
    const subscription = await findWebhookSubscription(sql, { tenantId: reach.tenantId, merchantIds: [merchantId] }, body.subscription_id)
      ?? fail('validation_failed', { fields: { subscription_id: 'is no subscription of the merchant, or is deleted' } })
    if (!subscription.active) fail('invalid_state', { message: 'The subscription is inactive: make it active first.' })
  }
  const job = await askForReplay(context, {
    tenant_id: reach.tenantId, merchant_id: merchantId, kind: 'dead_letters', subscription_id: body.subscription_id ?? null,
    event_kinds: body.event === undefined ? null : [body.event],
    since: body.created_from === undefined ? null : new Date(body.created_from), until: body.created_to === undefined ? null : new Date(body.created_to),
  }, 0)
  return reply(202, webhookReplayView(job))
}
