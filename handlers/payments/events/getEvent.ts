import { findEventBody } from '../../../db/payments/events.ts'
import type { components } from '../../../generated/payments.ts'
import type { Handler } from '../handler.ts'

export const getEvent: Handler<'getEvent'> = async ({ fail, params, reach, reply, sql }) => {
  const body = await findEventBody(sql, reach, params.id) ?? fail('not_found')
  return reply(200, JSON.parse(body) as components['schemas']['MerchantEvent'])
}
