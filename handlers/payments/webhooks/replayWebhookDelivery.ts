import { findWebhookDelivery } from '../../../db/payments/webhookDeliveryList.ts'
import { holdSubscription, lockReplayable, replayDelivery } from '../../../db/payments/webhookDeliveryReplay.ts'
import { webhookDeliveryView } from '../../../domain/webhookDeliveryView.ts'
import { enqueueDeliveriesTx } from '../../../jobs/deliveryJobs.ts'
import { audit } from '../audit.ts'
import type { Handler } from '../handler.ts'
import { assertSpaced } from './replaySpacing.ts'

const everySeconds = 10

export const replayWebhookDelivery: Handler<'replayWebhookDelivery'> = async (context) => {
  const { app, fail, now, params, reach, reply, sql } = context
  const row = await findWebhookDelivery(sql, reach, params.id) ?? fail('not_found')
  // The subscription is locked before the delivery, as everywhere.
  const standing = await holdSubscription(sql, { ...row, id: row.subscription_id })
  if (standing !== 'active') {
    fail('invalid_state', { message: standing === 'deleted' ? 'The subscription is deleted.' : 'The subscription is inactive: make it active first.' })
  }
  const replayable = await lockReplayable(sql, row)
  if (replayable) {
    assertSpaced(replayable.replayed_at, everySeconds, now, `A delivery can be replayed once in ${everySeconds} seconds.`, fail)
    await enqueueDeliveriesTx(sql, app.creation.boss, await replayDelivery(sql, row, now))
    await audit(context, {
      tenantId: row.tenant_id, merchantId: row.merchant_id, action: 'payments.webhook_delivery.replayed', target: `webhook_delivery:${row.id}`,
      changedKeys: row.status === 'pending' ? ['next_attempt_at'] : ['status', 'next_attempt_at'],
    })
  }
  return reply(200, webhookDeliveryView(await findWebhookDelivery(sql, reach, row.id) ?? fail('not_found')))
}
