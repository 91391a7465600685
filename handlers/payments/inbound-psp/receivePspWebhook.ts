import { insertProviderCallback } from '../../../db/payments/providerCallbacks.ts'
import { newId } from '../../../db/ids.ts'
import { applyCallback } from '../../../jobs/applyCallback.ts'
import type { CallbackVerdict } from '../../../jobs/applyCallback.ts'
import { firstRetrySeconds } from '../../../jobs/retryCallbacks.ts'
import type { Handler } from '../handler.ts'

export const receivePspWebhook: Handler<'receivePspWebhook'> = async ({ app, now, params, rawBody, reply, runtime, sql }) => {
  const reading = app.providers.get(params.provider)?.parseCallback(rawBody) ?? { outcome: 'unintelligible' as const, reason: 'unknown provider' }
  const verdict: CallbackVerdict = reading.outcome === 'understood'
    ? await applyCallback(sql, params.provider, reading.callback, app.creation, now)
    : { outcome: 'ignored', detail: reading.reason, intentId: null }
  const id = newId(runtime)
  await insertProviderCallback(sql, {
    id, credentialId: params.credentialId, provider: params.provider,
    // What cannot be read has no event id of its own, and is kept all the same.
    eventId: reading.outcome === 'understood' ? reading.callback.eventId : id,
    body: rawBody, receivedAt: now, ...verdict,
    nextTryAt: verdict.outcome === 'unmatched' ? new Date(now.getTime() + firstRetrySeconds * 1000) : null,
  })
  return reply(200, { received: true })
}
