import { countPaymentAttempts, listPaymentAttempts as listRows } from '../../../db/payments/paymentAttemptList.ts'
import { findPaymentIntent } from '../../../db/payments/paymentIntents.ts'
import { envelopeOf, pageOf } from '../../../domain/paging.ts'
import { paymentAttemptView } from '../../../domain/paymentIntentView.ts'
import type { Handler } from '../handler.ts'

export const listPaymentAttempts: Handler<'listPaymentAttempts'> = async ({ fail, now, params, query, reach, reply, sql }) => {
  const page = pageOf(query)
  if (!await findPaymentIntent(sql, reach, params.id)) fail('not_found')
  const filters = { intentId: params.id }
  const [rows, total] = await Promise.all([listRows(sql, reach, filters, page, now), countPaymentAttempts(sql, reach, filters, now)])
  return reply(200, { attempts: rows.map((row) => paymentAttemptView(row, now)), ...envelopeOf(total, page) })
}
