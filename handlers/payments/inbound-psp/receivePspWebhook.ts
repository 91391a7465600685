import { insertProviderCallback } from '../../../db/payments/providerCallbacks.ts'
import type { CallbackOutcome } from '../../../db/payments/providerCallbacks.ts'
import { findProviderOperationByKey } from '../../../db/payments/providerOperations.ts'
import { idPattern, newId } from '../../../db/ids.ts'
import type { Sql } from '../../../db/sql.ts'
import { applyPayment } from '../../../jobs/applyPayment.ts'
import type { Callback } from '../../../providers/paymentProvider.ts'
import type { Handler, PaymentsApp } from '../handler.ts'

interface Verdict {
  outcome: CallbackOutcome
  detail: string | null
  intentId: string | null
}

export const receivePspWebhook: Handler<'receivePspWebhook'> = async ({ app, now, params, rawBody, reply, runtime, sql }) => {
  const reading = app.providers.get(params.provider)?.parseCallback(rawBody) ?? { outcome: 'unintelligible' as const, reason: 'unknown provider' }
  const verdict: Verdict = reading.outcome === 'understood'
    ? await apply(sql, app, params.provider, reading.callback, now)
    : { outcome: 'ignored', detail: reading.reason, intentId: null }
  const id = newId(runtime)
  await insertProviderCallback(sql, {
    id, credentialId: params.credentialId, provider: params.provider,
    // What cannot be read has no event id of its own, and is kept all the same.
    eventId: reading.outcome === 'understood' ? reading.callback.eventId : id,
    body: rawBody, receivedAt: now, ...verdict,
  })
  return reply(200, { received: true })
}

async function apply(sql: Sql, app: PaymentsApp, provider: string, callback: Callback, now: Date): Promise<Verdict> {
  const operation = idPattern.test(callback.key) ? await findProviderOperationByKey(sql, provider, callback.key) : undefined
  if (!operation) return { outcome: 'unmatched', detail: null, intentId: null }
  const { intent_id: intentId } = operation
  if (callback.status !== 'paid') return { outcome: 'ignored', detail: `status ${callback.status}`, intentId }
  if (callback.currency !== 'IDR') return { outcome: 'mismatched', detail: `currency ${callback.currency}`, intentId }
  const payment = {
    reference: callback.paymentReference ?? callback.reference, amountIdr: callback.amountIdr, completedAt: callback.completedAt ?? now,
  }
  const outcome = await applyPayment(sql, operation, payment, app.creation, now)
  return { outcome, detail: outcome === 'mismatched' ? `amount ${payment.amountIdr}` : null, intentId }
}
