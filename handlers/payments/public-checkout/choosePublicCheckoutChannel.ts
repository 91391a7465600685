import { publicAttemptView } from '../../../domain/publicCheckoutView.ts'
import { chooseChannel } from '../../../jobs/channelChoice.ts'
import type { Handler } from '../handler.ts'
import { findShownCheckout } from './shownCheckout.ts'

export const choosePublicCheckoutChannel: Handler<'choosePublicCheckoutChannel'> = async (context) => {
  const { app, body, db, fail, now, params, reply, requestId } = context
  const { row } = await db.query((sql) => findShownCheckout(sql, params.shortcode, undefined, fail))
  const choice = await chooseChannel(app.creation, {
    tenantId: row.tenant_id, merchantId: row.merchant_id, intentId: row.id, channel: body.channel, requestId,
  })
  switch (choice.outcome) {
    case 'chosen': return reply(201, publicAttemptView(choice.attempt, row.shortcode, app.views, now))
    case 'declined': return fail('provider_declined', { members: { provider: { code: choice.decline.code, message: choice.decline.message } } })
    case 'not_allowed': return fail(choice.code, { message: choice.message })
    case 'not_open': return fail('invalid_state', { message: `The payment is ${choice.status}.` })
    case 'unknown': return fail('unavailable', {
      message: 'The payment provider has not answered. Choose the channel again.', headers: { 'Retry-After': '2' },
    })
  }
}
