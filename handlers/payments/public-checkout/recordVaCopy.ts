import { countVaCopy } from '../../../db/payments/vaCopies.ts'
import { publicAttemptView, publicCheckoutStatusView } from '../../../domain/publicCheckoutView.ts'
import type { Handler } from '../handler.ts'
import { findShownCheckout } from './shownCheckout.ts'

export const recordVaCopy: Handler<'recordVaCopy'> = async ({ app, fail, now, params, reply, sql }) => {
  const { row, attempt } = await findShownCheckout(sql, params.shortcode, undefined, fail)
  const shown = attempt && publicAttemptView(attempt, row.shortcode, app.views, now)
  const isOpen = publicCheckoutStatusView(row, attempt, now).status === 'open'
  if (!isOpen || shown?.va_number === undefined) return fail('invalid_state', { message: 'The payment shows no virtual account now.' })
  await countVaCopy(sql, row.tenant_id, row.merchant_id, shown.id, now)
  return reply(204, undefined)
}
