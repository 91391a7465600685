import { paymentIntentView } from '../../../domain/paymentIntentView.ts'
import { confirmCash, takesCash } from '../../../jobs/confirmCash.ts'
import { audit } from '../audit.ts'
import type { Handler } from '../handler.ts'
import { lockOpenIntent } from './openIntent.ts'

export const confirmCashPayment: Handler<'confirmCashPayment'> = async (context) => {
  const { app, body, fail, now, params, reply, sql } = context
  const intent = await lockOpenIntent(sql, context, params.id)
  const { tenant_id: tenantId, merchant_id: merchantId, id } = intent
  if (!takesCash(intent)) fail('invalid_state', { message: `The payment intent is ${intent.status} and does not take cash.` })
  if (intent.max_uses === 1 && body.amount_idr !== intent.amount_idr) {
    fail('validation_failed', { fields: { amount_idr: 'must be the amount of the intent' } })
  }
  const paid = await confirmCash(sql, intent, body.amount_idr, app.creation, now)
  const changedKeys = paid.status === 'paid' ? ['status', 'uses', 'paid_idr', 'paid_at'] : ['uses', 'paid_idr']
  await audit(context, { tenantId, merchantId, action: 'payments.cash.confirmed', target: `payment_intent:${id}`, changedKeys })
  return reply(200, paymentIntentView(paid, paid.status === 'paid' ? {} : intent.attempt_fields, app.views, now))
}
