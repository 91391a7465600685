import {
  activateWebhookSubscription, disableWebhookSubscription, findWebhookSubscription, lockWebhookSubscription,
  updateWebhookSubscription as updateRow,
} from '../../../db/payments/webhookSubscriptions.ts'
import { webhookSubscriptionView } from '../../../domain/webhookSubscriptionView.ts'
import { settleSubscription } from '../../../jobs/webhookSweep.ts'
import { audit } from '../audit.ts'
import type { Handler } from '../handler.ts'
import { refuseReceiver } from './receiverRules.ts'

export const updateWebhookSubscription: Handler<'updateWebhookSubscription'> = async (context) => {
  const { app, body, fail, now, params, reach, reply, sql } = context
  const before = await lockWebhookSubscription(sql, reach, params.id) ?? fail('not_found')
  refuseReceiver(body, app, fail)
  await updateRow(sql, before, {
    url: body.url ?? before.url, events: body.events ?? before.events, description: body.description === undefined ? before.description : body.description,
  })
  if (body.active === true && !before.active) {
    await activateWebhookSubscription(sql, before)
    await settleSubscription(sql, app.creation.boss, before)
  }
  if (body.active === false && before.active) await disableWebhookSubscription(sql, before, 'paused', now)
  const after = await findWebhookSubscription(sql, reach, params.id) ?? fail('not_found')
  const changedKeys = (['url', 'events', 'description', 'active'] as const).filter((key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]))
  if (changedKeys.length > 0) {
    await audit(context, {
      tenantId: before.tenant_id, merchantId: before.merchant_id, action: 'payments.webhook_subscription.updated',
      target: `webhook_subscription:${before.id}`, changedKeys,
    })
  }
  return reply(200, webhookSubscriptionView(after, now))
}
