import { findMerchant } from '../../../db/payments/merchants.ts'
import { channelCodes } from '../../../domain/channels.ts'
import { envelopeOf, pageOf } from '../../../domain/paging.ts'
import { addressedMerchant } from '../addressedMerchant.ts'
import type { Handler } from '../handler.ts'
import { channelView } from './view.ts'

export const listPaymentChannels: Handler<'listPaymentChannels'> = async ({ fail, query, reach, reply, sql }) => {
  const page = pageOf(query)
  const merchantId = await addressedMerchant(sql, reach, query.merchant_id, fail)
  const merchant = await findMerchant(sql, reach.tenantId, merchantId) ?? fail('not_found')
  const codes = channelCodes.slice(page.offset, page.offset + page.limit)
  return reply(200, { channels: codes.map((code) => channelView(code, merchant.channels)), ...envelopeOf(channelCodes.length, page) })
}
