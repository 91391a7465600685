import { findWebhookReplay } from '../../../db/payments/webhookReplays.ts'
import { webhookReplayView } from '../../../domain/webhookReplayView.ts'
import type { Handler } from '../handler.ts'

export const getWebhookReplayJob: Handler<'getWebhookReplayJob'> = async ({ fail, params, reach, reply, sql }) => {
  const row = await findWebhookReplay(sql, reach, params.id) ?? fail('not_found')
  return reply(200, webhookReplayView(row))
}
