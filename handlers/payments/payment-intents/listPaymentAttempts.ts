import { listAttemptsOfIntent } from '../../../db/payments/paymentAttemptList.ts'
import { findPaymentIntent } from '../../../db/payments/paymentIntents.ts'
import { envelopeOf, pageOf } from '../../../domain/paging.ts'
import { paymentAttemptView } from '../../../domain/paymentIntentView.ts'
import type { Handler } from '../handler.ts'

export const listPaymentAttempts: Handler<'listPaymentAttempts'> = async ({ fail, now, params, query, reach, reply, sql }) => {
  const page = pageOf(query)
  if (!await findPaymentIntent(sql, reach, params.id)) fail('not_found')
  const { rows, total } = await listAttemptsOfIntent(sql, reach, params.id, page)
  return reply(200, { attempts: rows.map((row) => paymentAttemptView(row, now)), ...envelopeOf(total, page) })
}
