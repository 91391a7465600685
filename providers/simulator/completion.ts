import { decline, expireAndTell, pay, reverse, statusOf, tellAgain } from './charges.ts'
import type { Moved, Shop } from './charges.ts'
import { Refusal } from './exchange.ts'
import type { StoredCharge } from './ledger.ts'

const plain = { amountIdr: null, completedAt: null, force: false } as const
const declined = { code: 'PAYMENT_DECLINED', message: 'The payment was declined.' } as const

/**
 * The payer pays, and it ends as the amount says (magicAmounts). With `again`, a charge that has ended is told again
 * instead of refused. The callback is null where the provider says nothing, for now or for good.
 */
export async function complete(shop: Shop, charge: StoredCharge, again: boolean): Promise<Moved> {
  const status = statusOf(charge, shop.runtime.now())
  if (status !== 'pending') {
    if (again) return tellAgain(shop, charge)
    throw new Refusal(409, 'invalid_state', `the charge is ${status}`)
  }
  switch (charge.completion) {
    case 'decline':
      // Nobody is told of a payment that a standing charge did not get.
      return charge.multi_use ? { charge, callback: null } : decline(shop, charge, declined)
    case 'expiry':
      return expireAndTell(shop, charge)
    case 'late':
      return { charge: shop.ledger.save({ ...charge, pays_late: true }), callback: null }
    case 'silence':
      return pay({ ...shop, callbacks: null }, charge, plain)
    case 'duplicate': {
      const paid = await pay(shop, charge, plain)
      return tellAgain(shop, paid.charge)
    }
    case 'reversed': {
      const paid = await pay(shop, charge, plain)
      return reverse(shop, paid.charge)
    }
    case null:
      return pay(shop, charge, plain)
  }
}

/** Pays the charges whose payers pay late and whose time has run out meanwhile. */
export async function payLate(shop: Shop): Promise<Moved[]> {
  const now = shop.runtime.now()
  const due = shop.ledger.all().filter((charge) => charge.pays_late === true && statusOf(charge, now) === 'expired')
  return Promise.all(due.map((charge) => pay(shop, { ...charge, pays_late: false }, { ...plain, force: true })))
}
