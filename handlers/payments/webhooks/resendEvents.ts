import { lockWebhookSubscription } from '../../../db/payments/webhookSubscriptions.ts'
import type { components } from '../../../generated/payments.ts'
import { webhookReplayView } from '../../../domain/webhookReplayView.ts'
import { resendDelaySeconds } from '../../../jobs/webhookReplays.ts'
import type { Fail } from '../../http/handler.ts'
import type { Handler } from '../handler.ts'
import { askForReplay } from './replayJob.ts'

export const resendEvents: Handler<'resendEvents'> = async (context) => {
  const { body, fail, now, params, reach, reply, sql } = context
  const subscription = await lockWebhookSubscription(sql, reach, params.id) ?? fail('not_found')
  const range = rangeOf(body, now, fail)
  const kinds = body.kinds ?? subscription.events
  const others = kinds.filter((kind) => !subscription.events.includes(kind))
  if (others.length > 0) fail('validation_failed', { fields: { kinds: `the subscription does not ask for ${others.join(', ')}` } })
  if (!subscription.active) fail('invalid_state', { message: 'The subscription is inactive: make it active first.' })
  const job = await askForReplay(context, {
    tenant_id: subscription.tenant_id, merchant_id: subscription.merchant_id, kind: 'resend', subscription_id: subscription.id, event_kinds: kinds, ...range,
  }, resendDelaySeconds)
  return reply(202, webhookReplayView(job))
}

/** What is to come is not re-sent: it is delivered when it happens. So an end that is not past yet is none. */
function rangeOf(body: components['schemas']['WebhookResendRequest'], now: Date, fail: Fail<'validation_failed'>): { since: Date, until: Date | null } {
  const since = new Date(body.since)
  const until = body.until === undefined ? null : new Date(body.until)
  if (since >= now) fail('validation_failed', { fields: { since: 'must be in the past' } })
  if (until && until <= since) fail('validation_failed', { fields: { until: 'must be after since' } })
  return { since, until: until && until < now ? until : null }
}
