import { findMerchant, putMerchantChannel } from '../../../db/payments/merchants.ts'
import { isChannelCode } from '../../../domain/channels.ts'
import { audit } from '../audit.ts'
import type { Handler } from '../handler.ts'
import { channelView } from './view.ts'

export const setMerchantChannel: Handler<'setMerchantChannel'> = async (context) => {
  const { body, fail, params, reach, reply, sql } = context
  const merchant = await findMerchant(sql, reach.tenantId, params.id)
  const { channel } = params
  if (!merchant || !isChannelCode(channel)) return fail('not_found')
  await putMerchantChannel(sql, reach.tenantId, merchant.id, channel, body.enabled)
  await audit(context, {
    tenantId: reach.tenantId, merchantId: merchant.id, action: 'payments.channel.set', target: `merchant:${merchant.id}`, changedKeys: [`channels.${channel}`],
  })
  return reply(200, channelView(channel, body.enabled ? [channel] : []))
}
