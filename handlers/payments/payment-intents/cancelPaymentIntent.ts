import { endPaymentIntent } from '../../../db/payments/paymentIntents.ts'
import { paymentIntentView } from '../../../domain/paymentIntentView.ts'
import { endAttemptsNow } from '../../../jobs/endAttempts.ts'
import { audit } from '../audit.ts'
import type { Handler } from '../handler.ts'
import { lockOpenIntent } from './openIntent.ts'

export const cancelPaymentIntent: Handler<'cancelPaymentIntent'> = async (context) => {
  const { app, now, params, reply, sql } = context
  const intent = await lockOpenIntent(sql, context, params.id)
  const { tenant_id: tenantId, merchant_id: merchantId, id } = intent
  const cancelled = await endPaymentIntent(sql, tenantId, merchantId, id, 'cancelled', now)
  if (!cancelled) throw new Error(`payment intent ${id} ended although it is locked`)
  await endAttemptsNow(sql, cancelled, app.creation)
  await audit(context, { tenantId, merchantId, action: 'payments.payment_intent.cancelled', target: `payment_intent:${id}`, changedKeys: ['status'] })
  return reply(200, paymentIntentView(cancelled, intent.attempt_fields, app.views, now))
}
