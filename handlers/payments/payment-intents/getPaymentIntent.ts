import { findPaymentIntent } from '../../../db/payments/paymentIntents.ts'
import { paymentIntentView } from '../../../domain/paymentIntentView.ts'
import type { Handler } from '../handler.ts'

export const getPaymentIntent: Handler<'getPaymentIntent'> = async ({ app, fail, now, params, reach, reply, sql }) => {
  const row = await findPaymentIntent(sql, reach, params.id)
  if (!row) return fail('not_found')
  return reply(200, paymentIntentView(row, row.attempt_fields, app.views, now))
}
