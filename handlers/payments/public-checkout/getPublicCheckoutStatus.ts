import { publicCheckoutStatusView } from '../../../domain/publicCheckoutView.ts'
import type { Handler } from '../handler.ts'
import { findShownCheckout } from './shownCheckout.ts'

export const getPublicCheckoutStatus: Handler<'getPublicCheckoutStatus'> = async ({ fail, now, params, query, reply, sql }) => {
  const { row, attempt } = await findShownCheckout(sql, params.shortcode, query.attempt_id, fail)
  return reply(200, publicCheckoutStatusView(row, attempt, now))
}
