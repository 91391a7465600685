import { findWebhookSubscription } from '../../../db/payments/webhookSubscriptions.ts'
import { newId } from '../../../db/ids.ts'
import { eventBody } from '../../../domain/events.ts'
import { testEventKind } from '../../../domain/webhookEvents.ts'
import { webhookHeaders } from '../../../domain/webhookHeaders.ts'
import { openWebhookSecrets } from '../../../domain/webhookSecrets.ts'
import type { Handler } from '../handler.ts'

export const testWebhookSubscription: Handler<'testWebhookSubscription'> = async ({ app, db, fail, now, params, reach, reply, runtime }) => {
  const row = await db.query((sql) => findWebhookSubscription(sql, reach, params.id)) ?? fail('not_found')
  const [eventId, deliveryId] = [newId(runtime), newId(runtime)]
  const body = eventBody({
    id: eventId, kind: testEventKind, createdAt: now, environment: app.views.environment, merchantId: row.merchant_id, data: { webhook_id: row.id },
  })
  const secrets = openWebhookSecrets(row, row.id, app.sealing, now)
  const answer = await app.webhooks.send({ url: row.url, body, headers: webhookHeaders({ ...secrets, body, kind: testEventKind, deliveryId, at: now }) })
  return reply(200, {
    succeeded: answer.succeeded, delivery_id: deliveryId, event_id: eventId, status: answer.status, duration_ms: answer.durationMs,
    response_headers: answer.headers, error: answer.error,
  })
}
