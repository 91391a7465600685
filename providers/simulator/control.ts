import { isObject } from '../simulatorWire.ts'
import { decline, expireAndTell, pay, reverse, statusOf, tellAgain, viewOf } from './charges.ts'
import type { Moved, Shop } from './charges.ts'
import { integer, invalid, optionalText, time } from './chargeRequest.ts'
import { complete, payLate } from './completion.ts'
import type { Reply } from './exchange.ts'
import type { StoredCharge } from './ledger.ts'

/** Every charge, newest last, and for each key how many charges it made and how often a creation was asked for. */
export function listCharges(shop: Shop, query: URLSearchParams): Reply {
  const wanted = (name: string, value: string | null) => !query.has(name) || query.get(name) === value
  const charges = shop.ledger.all().filter((charge) =>
    wanted('key', charge.key) && wanted('merchant_reference', charge.merchant_reference))
  const made = new Map<string, number>()
  for (const charge of charges) made.set(charge.key, (made.get(charge.key) ?? 0) + 1)
  const narrowed = query.has('merchant_reference')
  const keys = [...shop.ledger.calls()].filter(([key]) => wanted('key', key) && (!narrowed || made.has(key)))
  const byKey = keys.map(([key, calls]) => [key, { charges: made.get(key) ?? 0, create_calls: calls }] as const)
  return {
    status: 200,
    json: {
      total: charges.length,
      charges: charges.map((charge) => withInnerState(shop, charge)),
      by_key: Object.fromEntries(byKey),
    },
  }
}

/** POST /control/charges/{reference}/{move}: moves the charge and reports what the callback's receiver answered. */
export async function moveCharge(shop: Shop, charge: StoredCharge, move: string, body: unknown): Promise<Reply> {
  if (!isObject(body)) throw invalid('the body must be a JSON object')
  const moved = await movedBy(shop, charge, move, body)
  return { status: 200, json: { charge: withInnerState(shop, moved.charge), callback: moved.callback } }
}

async function movedBy(
  shop: Shop, charge: StoredCharge, move: string, body: Record<string, unknown>,
): Promise<Moved> {
  if (body.again !== undefined && typeof body.again !== 'boolean') throw invalid('again must be true or false')
  const again = body.again === true
  if (move === 'complete') return complete(shop, charge, again)
  if (move === 'reverse') return reverse(shop, charge)
  if (move === 'expire') return again && charge.status === 'expired' ? tellAgain(shop, charge) : expireAndTell(shop, charge)
  if (move === 'decline') {
    if (again && statusOf(charge, shop.runtime.now()) === 'failed') return tellAgain(shop, charge)
    return decline(shop, charge, {
      code: optionalText(body, 'code', 100) ?? 'PAYMENT_DECLINED',
      message: optionalText(body, 'message', 1000) ?? 'The payment was declined.',
    })
  }
  if (body.force !== undefined && typeof body.force !== 'boolean') throw invalid('force must be true or false')
  return pay(shop, charge, {
    amountIdr: body.amount_idr === undefined ? null : integer(body, 'amount_idr', [1, 999_999_999_999], 1),
    completedAt: time(body, 'completed_at'),
    force: body.force === true,
  })
}

/** POST /control/late: the payers who pay late do so, of charges whose time has run out; a timer does the same. */
export async function payLateNow(shop: Shop): Promise<Reply> {
  const moved = await payLate(shop)
  return { status: 200, json: { paid: moved.map(({ charge, callback }) => ({ reference: charge.reference, callback })) } }
}

// What the API is not told, but a tester wants to see.
function withInnerState(shop: Shop, charge: StoredCharge): Record<string, unknown> {
  const { completion, mute, callback_url, return_url, notices } = charge
  return { ...viewOf(shop, charge), completion, mute, callback_url, return_url, callbacks_made: notices }
}
