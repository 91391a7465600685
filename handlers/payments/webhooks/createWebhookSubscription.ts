import { countWebhookSubscriptionsLocked, insertWebhookSubscription } from '../../../db/payments/webhookSubscriptions.ts'
import { newId } from '../../../db/ids.ts'
import { newWebhookSecret, sealWebhookSecret } from '../../../domain/webhookSecrets.ts'
import { webhookSubscriptionView } from '../../../domain/webhookSubscriptionView.ts'
import { addressedMerchant } from '../addressedMerchant.ts'
import { audit } from '../audit.ts'
import type { Handler } from '../handler.ts'
import { refuseReceiver } from './receiverRules.ts'

/** Each event of a merchant writes a delivery for each of them, in the transaction of what it tells of. */
const subscriptionsAtMost = 50

export const createWebhookSubscription: Handler<'createWebhookSubscription'> = async (context) => {
  const { app, body, fail, now, reach, reply, runtime, sql } = context
  const merchantId = await addressedMerchant(sql, reach, body.merchant_id, fail)
  refuseReceiver(body, app, fail)
  if (await countWebhookSubscriptionsLocked(sql, reach.tenantId, merchantId) >= subscriptionsAtMost) {
    fail('invalid_state', { message: `The merchant has ${subscriptionsAtMost} webhook subscriptions, the most there may be: delete one first.` })
  }
  const id = newId(runtime)
  const secret = newWebhookSecret(runtime)
  const row = await insertWebhookSubscription(sql, {
    id, tenantId: reach.tenantId, merchantId, url: body.url, description: body.description ?? null, events: body.events, createdAt: now,
    secret: sealWebhookSecret(secret, id, app.sealing, runtime),
  })
  await audit(context, {
    tenantId: reach.tenantId, merchantId, action: 'payments.webhook_subscription.created', target: `webhook_subscription:${id}`,
    changedKeys: ['url', 'events', 'description'],
  })
  return reply(201, { ...webhookSubscriptionView(row, now), secret })
}
