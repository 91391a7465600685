import { lockCase, resolveCase } from '../../../db/payments/cases.ts'
import { caseView } from '../../../domain/caseView.ts'
import { actorOf } from '../../http/caller.ts'
import { audit } from '../audit.ts'
import type { Handler } from '../handler.ts'

export const transitionCase: Handler<'transitionCase'> = async (context) => {
  const { body: { note }, caller, fail, now, params, reach, reply, sql } = context
  const found = await lockCase(sql, reach, params.id) ?? fail('not_found')
  if (found.status === 'resolved') {
    if (found.note !== note) fail('invalid_state', { message: 'The case is resolved, with another note.' })
    return reply(200, caseView(found))
  }
  const resolved = await resolveCase(sql, found, { note, resolvedBy: actorOf(caller) }, now)
  if (!resolved) throw new Error(`case ${found.id} was resolved although it is locked`)
  await audit(context, {
    tenantId: found.tenant_id, merchantId: found.merchant_id, action: 'payments.case.resolved', target: `case:${found.id}`, changedKeys: ['status', 'note'],
  })
  return reply(200, caseView({ ...found, ...resolved }))
}
