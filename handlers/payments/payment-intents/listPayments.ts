import { listPayments as listRows } from '../../../db/payments/paymentAttemptList.ts'
import { envelopeOf, pageOf } from '../../../domain/paging.ts'
import { paymentAttemptView } from '../../../domain/paymentIntentView.ts'
import { listScope } from '../addressedMerchant.ts'
import type { Handler } from '../handler.ts'
import { readFilters } from './moneyFilters.ts'

export const listPayments: Handler<'listPayments'> = async ({ fail, now, query, reach, reply, sql }) => {
  const page = pageOf(query)
  const filters = readFilters(query)
  const scope = await listScope(sql, reach, query.merchant_id, fail)
  const { rows, total } = await listRows(sql, scope, filters, page, now)
  return reply(200, { payments: rows.map((row) => paymentAttemptView(row, now)), ...envelopeOf(total, page) })
}
