import { countCases, listCases as listRows } from '../../../db/payments/cases.ts'
import { caseView } from '../../../domain/caseView.ts'
import { envelopeOf, pageOf } from '../../../domain/paging.ts'
import { listScope } from '../addressedMerchant.ts'
import type { Handler } from '../handler.ts'

export const listCases: Handler<'listCases'> = async ({ fail, query, reach, reply, sql }) => {
  const page = pageOf(query)
  const { kind, status, intent_id: intentId, created_from, created_to, search } = query
  const filters = {
    kind, status, intentId, search,
    openedFrom: created_from === undefined ? undefined : new Date(created_from), openedTo: created_to === undefined ? undefined : new Date(created_to),
  }
  const scope = await listScope(sql, reach, query.merchant_id, fail)
  const [rows, total] = await Promise.all([listRows(sql, scope, filters, page), countCases(sql, scope, filters)])
  return reply(200, { cases: rows.map(caseView), ...envelopeOf(total, page) })
}
