import { neutralBrand, publicCheckoutView } from '../../../domain/publicCheckoutView.ts'
import { chargingProvider } from '../../../jobs/providerCharges.ts'
import { takesPayment } from '../../../providers/servedChannels.ts'
import type { Handler } from '../handler.ts'
import { findShownCheckout } from './shownCheckout.ts'

export const getPublicCheckout: Handler<'getPublicCheckout'> = async ({ app, fail, now, params, query, reply, sql }) => {
  const { row, attempt } = await findShownCheckout(sql, params.shortcode, query.attempt_id, fail)
  const brand = app.brands.known(row.tenant_id) ?? neutralBrand(row.merchant_name)
  return reply(200, publicCheckoutView(row, attempt, brand, takesPayment(chargingProvider(app.creation)), app.views, now))
}
