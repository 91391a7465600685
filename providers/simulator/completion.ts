import { decline, expireAndTell, pay, reverse, statusOf, tellAgain, wrongState } from './charges.ts'
import type { Moved } from './charges.ts'
import type { StoredCharge } from './ledger.ts'
import { endDueRefunds } from './refunds.ts'
import type { MovedRefund } from './refunds.ts'
import type { Shop } from './shop.ts'
import { plainly, silently } from './telling.ts'
import type { Telling } from './telling.ts'

/** Long enough for a payment to be confirmed before it is taken back. */
const laterMs = 1000
const plain = { amountIdr: null, completedAt: null, force: false } as const
const declined = { code: 'PAYMENT_DECLINED', message: 'The payment was declined.' } as const

/**
 * The payer pays, and it ends as the amount says (magicAmounts). With `again`, a charge that has ended is told again
 * instead of refused. No callback is told where the provider says nothing, for now or for good.
 */
export async function complete(shop: Shop, charge: StoredCharge, again: boolean, telling: Telling = plainly): Promise<Moved> {
  const status = statusOf(charge, shop.runtime.now())
  if (status !== 'pending') {
    if (again) return tellAgain(shop, charge, telling)
    throw wrongState(`the charge is ${status}`, charge.notices > 0)
  }
  switch (charge.completion) {
    case 'decline':
      // Nobody is told of a payment that a standing charge did not get.
      return charge.multi_use ? { charge, callbacks: [] } : decline(shop, charge, declined, telling)
    case 'expiry':
      return expireAndTell(shop, charge, telling)
    case 'late':
      return { charge: shop.ledger.save({ ...charge, pays_late: true }), callbacks: [] }
    case 'silence':
      return pay(shop, charge, plain, silently)
    case 'duplicate': {
      const paid = await pay(shop, charge, plain, telling)
      return told(paid, await tellAgain(shop, present(shop, paid), telling))
    }
    case 'reversed': {
      const paid = await pay(shop, charge, plain, telling)
      const reversesAt = new Date(shop.runtime.now().getTime() + laterMs).toISOString()
      return { ...paid, charge: shop.ledger.save({ ...present(shop, paid), reverses_at: reversesAt }) }
    }
    case null:
      return pay(shop, charge, plain, telling)
  }
}

// Another move may have come while the first notice was on its way.
function present(shop: Shop, { charge }: Moved): StoredCharge {
  return shop.ledger.byKey(charge.key) ?? charge
}

function told(first: Moved, second: Moved): Moved {
  return { charge: second.charge, callbacks: [...first.callbacks, ...second.callbacks] }
}

/**
 * Does what was put off: payers pay late whose charge has expired, payments are taken back, refunds end. Each about a
 * second after it could be; `atOnce` as soon as it can.
 */
export async function catchUp(shop: Shop, atOnce: boolean): Promise<{ paid: Moved[]; reversed: Moved[]; refunds: MovedRefund[] }> {
  const now = shop.runtime.now()
  const isDue = (at: string, waitMs: number) => Date.parse(at) + (atOnce ? 0 : waitMs) <= now.getTime()
  const charges = shop.ledger.all()
  const late = charges.filter((charge) =>
    charge.pays_late === true && statusOf(charge, now) === 'expired' && isDue(charge.expired_at ?? charge.expires_at, laterMs))
  const takenBack = charges.filter(({ reverses_at: at }) => typeof at === 'string' && (atOnce || isDue(at, 0)))
  const [paid, reversed, refunds] = await Promise.all([
    Promise.all(late.map((charge) => pay(shop, { ...charge, pays_late: false }, { ...plain, force: true }))),
    Promise.all(takenBack.map((charge) => reverse(shop, { ...charge, reverses_at: null }))),
    endDueRefunds(shop, atOnce ? 0 : laterMs),
  ])
  return { paid, reversed, refunds }
}
