import { lockWebhookSubscription, rotateWebhookSecret as rotateRow } from '../../../db/payments/webhookSubscriptions.ts'
import { newWebhookSecret, previousSecretMs, sealWebhookSecret } from '../../../domain/webhookSecrets.ts'
import { webhookSubscriptionView } from '../../../domain/webhookSubscriptionView.ts'
import { audit } from '../audit.ts'
import type { Handler } from '../handler.ts'

export const rotateWebhookSecret: Handler<'rotateWebhookSecret'> = async (context) => {
  const { app, fail, now, params, reach, reply, runtime, sql } = context
  const before = await lockWebhookSubscription(sql, reach, params.id) ?? fail('not_found')
  const secret = newWebhookSecret(runtime)
  const sealed = sealWebhookSecret(secret, before.id, app.sealing, runtime)
  const row = await rotateRow(sql, before, sealed, new Date(now.getTime() + previousSecretMs)) ?? fail('not_found')
  await audit(context, {
    tenantId: row.tenant_id, merchantId: row.merchant_id, action: 'payments.webhook_subscription.secret_rotated',
    target: `webhook_subscription:${row.id}`, changedKeys: ['secret'],
  })
  return reply(200, { ...webhookSubscriptionView(row, now), secret })
}
