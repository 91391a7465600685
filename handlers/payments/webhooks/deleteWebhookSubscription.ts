import { deleteWebhookSubscription as deleteRow, lockWebhookSubscription } from '../../../db/payments/webhookSubscriptions.ts'
import { settleSubscription } from '../../../jobs/webhookSweep.ts'
import { audit } from '../audit.ts'
import type { Handler } from '../handler.ts'

export const deleteWebhookSubscription: Handler<'deleteWebhookSubscription'> = async (context) => {
  const { app, fail, now, params, reach, reply, sql } = context
  const row = await lockWebhookSubscription(sql, reach, params.id) ?? fail('not_found')
  await deleteRow(sql, row, now)
  await settleSubscription(sql, app.creation.boss, row)
  await audit(context, {
    tenantId: row.tenant_id, merchantId: row.merchant_id, action: 'payments.webhook_subscription.deleted',
    target: `webhook_subscription:${row.id}`, changedKeys: ['deleted_at'],
  })
  return reply(204, undefined)
}
