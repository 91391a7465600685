import { insertProviderCallback } from '../../../db/payments/providerCallbacks.ts'
import { newId } from '../../../db/ids.ts'
import { callbackLeaseSeconds } from '../../../jobs/processCallback.ts'
import type { Handler } from '../handler.ts'
import { noticeOf } from './notice.ts'

export const receivePspWebhook: Handler<'receivePspWebhook'> = async ({ afterAnswer, app, header, now, params, rawBody, reply, runtime, sql }) => {
  const { credentialId, provider } = params
  const { isToBeProcessed, ...notice } = noticeOf(app.providers.get(provider), rawBody, header)
  const [id, token] = [newId(runtime), newId(runtime)]
  const lease = isToBeProcessed ? { token, until: new Date(now.getTime() + callbackLeaseSeconds * 1000) } : null
  const isNew = await insertProviderCallback(sql, { id, credentialId, provider, body: rawBody, receivedAt: now, lease, ...notice })
  // Of a repeat, the first one is on its way.
  if (isNew && lease) afterAnswer(() => app.callbacks.take({ id, provider, body: rawBody, tries: 0, lease_token: token }))
  return reply(200, { received: true })
}
