import { listEventBodies } from '../../../db/payments/eventList.ts'
import { envelopeOf, pageOf } from '../../../domain/paging.ts'
import type { components } from '../../../generated/payments.ts'
import { listScope } from '../addressedMerchant.ts'
import type { Handler } from '../handler.ts'

export const listEvents: Handler<'listEvents'> = async ({ fail, query, reach, reply, sql }) => {
  const page = pageOf(query)
  const filters = { kind: query.kind ?? null, since: query.since === undefined ? null : new Date(query.since) }
  const { rows, total } = await listEventBodies(sql, await listScope(sql, reach, query.merchant_id, fail), filters, page)
  return reply(200, { events: rows.map(({ body }) => JSON.parse(body) as components['schemas']['MerchantEvent']), ...envelopeOf(total, page) })
}
