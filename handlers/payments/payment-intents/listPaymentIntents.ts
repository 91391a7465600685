import { listPaymentIntents as listRows } from '../../../db/payments/paymentIntentList.ts'
import { envelopeOf, pageOf } from '../../../domain/paging.ts'
import { paymentIntentView } from '../../../domain/paymentIntentView.ts'
import { listScope } from '../addressedMerchant.ts'
import type { Handler } from '../handler.ts'
import { readFilters } from './moneyFilters.ts'

export const listPaymentIntents: Handler<'listPaymentIntents'> = async ({ app, fail, now, query, reach, reply, sql }) => {
  const page = pageOf(query)
  const filters = readFilters(query)
  const scope = await listScope(sql, reach, query.merchant_id, fail)
  const { rows, total } = await listRows(sql, scope, filters, page, now)
  return reply(200, { intents: rows.map((row) => paymentIntentView(row, row.attempt_fields, app.views, now)), ...envelopeOf(total, page) })
}
