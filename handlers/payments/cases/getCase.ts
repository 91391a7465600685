import { findCase } from '../../../db/payments/cases.ts'
import { caseView } from '../../../domain/caseView.ts'
import type { Handler } from '../handler.ts'

export const getCase: Handler<'getCase'> = async ({ fail, params, reach, reply, sql }) => {
  const row = await findCase(sql, reach, params.id) ?? fail('not_found')
  return reply(200, caseView(row))
}
