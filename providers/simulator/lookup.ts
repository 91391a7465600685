import { Refusal } from './exchange.ts'
import type { StoredCharge, StoredRefund } from './ledger.ts'
import type { Shop } from './shop.ts'

/** The charge of a reference in an address. Throws a Refusal (404). */
export function chargeOf(shop: Shop, reference: string | undefined): StoredCharge {
  const charge = reference === undefined ? undefined : shop.ledger.byReference(reference)
  if (charge === undefined) throw new Refusal(404, 'charge_not_found', 'there is no such charge')
  return charge
}

/** The refund of a reference in an address. Throws a Refusal (404). */
export function refundOf(shop: Shop, reference: string | undefined): StoredRefund {
  const refund = reference === undefined ? undefined : shop.ledger.refundByReference(reference)
  if (refund === undefined) throw new Refusal(404, 'refund_not_found', 'there is no such refund')
  return refund
}
