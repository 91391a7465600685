import { behaviourMembers, readBehaviour } from './behaviours.ts'
import type { CallbackReport } from './callbacks.ts'
import { decline, expireAndTell, notify, pay, reverse, statusOf, tellAgain, viewOf } from './charges.ts'
import type { Moved } from './charges.ts'
import { flag, integer, invalid, optionalText, time } from './chargeRequest.ts'
import { catchUp, complete } from './completion.ts'
import type { Reply } from './exchange.ts'
import type { HeldCallback } from './heldCallbacks.ts'
import type { StoredCharge, StoredRefund } from './ledger.ts'
import { endRefund, refundView, tellOfRefund } from './refunds.ts'
import type { MovedRefund } from './refunds.ts'
import { chargeOf, refundOf } from './lookup.ts'
import type { Route } from './route.ts'
import type { Shop } from './shop.ts'
import { readTelling, tellingMembers } from './telling.ts'
import type { Telling } from './telling.ts'

const callback = 'How the callback is told: an object of the members under “Telling”; null: not at all.'
const again = 'True: what has ended so already is told again, in place of a 409.'
const words = { code: 'The provider\'s code.', message: 'The provider\'s message.' }
const about = { key: 'Our key (of the charge or the refund).', reference: 'The provider\'s reference.', merchant_reference: 'The merchant\'s reference.' }

/** The control interface: what a tester makes the simulated provider do. The one table of it; docs/simulator.md is written from it. */
export const controlRoutes: readonly Route[] = [
  {
    method: 'POST', path: '/control/next', members: behaviourMembers,
    does: 'Makes the next calls of the API misbehave. Behaviours wait in a queue; a call takes the first that is for it. They end with the process.',
    serve: ({ queue }, { body }) => {
      queue.push(readBehaviour(body))
      return { status: 200, json: { queued: queue.length } }
    },
  },
  {
    method: 'GET', path: '/control/next', members: {}, does: 'The behaviours that wait for their call.',
    serve: ({ queue }) => ({
      status: 200,
      json: {
        queued: queue.map(({ behaviour, remaining, on, key, merchantReference, channel }) => ({
          on, behaviour: behaviour.kind, remaining, key, merchant_reference: merchantReference, channel,
        })),
      },
    }),
  },
  {
    method: 'GET', path: '/control/charges', members: { key: about.key, merchant_reference: about.merchant_reference },
    does: 'Every charge, newest last, with what the API does not tell; and for each key how many charges it made and how often a creation was asked for.',
    serve: (shop, { query }) => listCharges(shop, query),
  },
  {
    method: 'POST', path: '/control/charges/{reference}/pay', does: 'The payer pays. A charge for many payments stays open; another is paid.',
    members: {
      amount_idr: 'What is paid; the charge\'s amount unless told.', completed_at: 'The provider\'s time of the payment; now unless told.',
      force: 'True: the money comes although the charge has ended.', callback,
    },
    serve: (shop, { parameters, body }) => moved(shop, pay(shop, chargeOf(shop, parameters.reference), {
      amountIdr: body.amount_idr === undefined ? null : integer(body, 'amount_idr', [1, 999_999_999_999], 1),
      completedAt: time(body, 'completed_at'),
      force: flag(body, 'force'),
    }, readTelling(body.callback))),
  },
  {
    method: 'POST', path: '/control/charges/{reference}/complete', members: { again, callback },
    does: 'The payer pays, and it ends as the amount says (see the magic amounts).',
    serve: (shop, { parameters, body }) =>
      moved(shop, complete(shop, chargeOf(shop, parameters.reference), flag(body, 'again'), readTelling(body.callback))),
  },
  {
    method: 'POST', path: '/control/charges/{reference}/decline', members: { ...words, again, callback },
    does: 'The payer\'s bank or the provider says no: the charge fails.',
    serve: (shop, { parameters, body }) => moved(shop, declineBy(shop, chargeOf(shop, parameters.reference), body)),
  },
  {
    method: 'POST', path: '/control/charges/{reference}/expire', members: { again, callback },
    does: 'The charge\'s time runs out at the provider, which says so.',
    serve: (shop, { parameters, body }) => moved(shop, expireBy(shop, chargeOf(shop, parameters.reference), body)),
  },
  {
    method: 'POST', path: '/control/charges/{reference}/reverse', members: { callback }, does: 'The provider takes the last payment back.',
    serve: (shop, { parameters, body }) => moved(shop, reverse(shop, chargeOf(shop, parameters.reference), readTelling(body.callback))),
  },
  {
    method: 'POST', path: '/control/charges/{reference}/notify',
    members: { status: 'pending, paid, failed, expired or reversed; the charge\'s own unless told.', ...tellingMembers },
    does: 'A callback about the charge, true or not, under an event id of its own: the charge stays as it is. Of a payment never made it makes one up.',
    serve: (shop, { parameters, body: { status, ...telling } }) => moved(shop,
      notifyBy(shop, chargeOf(shop, parameters.reference), status, readTelling(telling))),
  },
  {
    method: 'GET', path: '/control/refunds', members: { key: about.key }, does: 'Every refund, newest last, those that were declined among them.',
    serve: (shop, { query }) => {
      const refunds = shop.ledger.allRefunds().filter(({ key }) => !query.has('key') || query.get('key') === key)
      return { status: 200, json: { total: refunds.length, refunds: refunds.map(withCallbackCount) } }
    },
  },
  {
    method: 'POST', path: '/control/refunds/{reference}/succeed', members: { callback }, does: 'A pending refund succeeds.',
    serve: (shop, { parameters, body }) => movedRefund(endRefund(shop, refundOf(shop, parameters.reference), null, readTelling(body.callback))),
  },
  {
    method: 'POST', path: '/control/refunds/{reference}/fail', members: { ...words, callback }, does: 'A pending refund fails.',
    serve: (shop, { parameters, body }) => movedRefund(endRefund(shop, refundOf(shop, parameters.reference), {
      code: optionalText(body, 'code', 100) ?? 'REFUND_FAILED', message: optionalText(body, 'message', 1000) ?? 'The refund failed.',
    }, readTelling(body.callback))),
  },
  {
    method: 'POST', path: '/control/refunds/{reference}/notify', members: tellingMembers,
    does: 'A callback about the refund, true or not, under an event id of its own: the refund stays as it is.',
    serve: (shop, { parameters, body }) => movedRefund(tellOfRefund(shop, refundOf(shop, parameters.reference), readTelling(body))),
  },
  {
    method: 'POST', path: '/control/hold', members: about,
    does: 'Holds back callbacks from now on: all, or those about what is named. They end with the process.',
    serve: ({ callbacks: { held } }, { body }) => {
      held.hold({ key: optionalText(body, 'key', 100), reference: optionalText(body, 'reference', 100),
        merchantReference: optionalText(body, 'merchant_reference', 255) })
      return { status: 200, json: { held: held.list().map(heldView) } }
    },
  },
  {
    method: 'GET', path: '/control/held', members: {}, does: 'The callbacks held back, in the order in which they arose.',
    serve: ({ callbacks: { held } }) => ({ status: 200, json: { held: held.list().map(heldView) } }),
  },
  {
    method: 'POST', path: '/control/release',
    members: {
      ids: 'List: these, in this order; all that are held, in the order in which they arose, unless told.',
      discard: 'True: they are thrown away in place of being sent.', keep_holding: 'True: what comes is held back still. Without ids nothing is, unless told.',
    },
    does: 'Sends callbacks that were held back, one after another, each signed as it is sent.',
    serve: (shop, { body }) => release(shop, body),
  },
  {
    method: 'POST', path: '/control/late', members: {},
    does: 'What magic amounts put off is done now: who pays late does so if the charge\'s time has run out, payments are taken back, refunds end.',
    serve: async (shop) => {
      const { paid, reversed, refunds } = await catchUp(shop, true)
      const told = (moves: readonly Moved[]) => moves.map(({ charge: { reference }, callbacks }) => ({ reference, callback: callbacks.at(-1) ?? null }))
      const ended = refunds.map(({ refund: { reference }, callbacks }) => ({ reference, callback: callbacks.at(-1) ?? null }))
      return { status: 200, json: { paid: told(paid), reversed: told(reversed), refunds: ended } }
    },
  },
  {
    method: 'POST', path: '/control/clear', members: {},
    does: 'Ends every behaviour and all holding back, and throws away what is held. Charges and refunds stay.',
    serve: (shop) => {
      clear(shop)
      return { status: 200, json: { queued: 0 } }
    },
  },
  {
    method: 'POST', path: '/control/reset', members: {}, does: 'The same, and forgets every charge and refund, in the journal too.',
    serve: (shop) => {
      clear(shop)
      shop.ledger.reset()
      return { status: 200, json: { queued: 0 } }
    },
  },
]

type Members = Readonly<Record<string, unknown>>

function declineBy(shop: Shop, charge: StoredCharge, body: Members): Promise<Moved> {
  const telling = readTelling(body.callback)
  if (flag(body, 'again') && statusOf(charge, shop.runtime.now()) === 'failed') return tellAgain(shop, charge, telling)
  return decline(shop, charge, {
    code: optionalText(body, 'code', 100) ?? 'PAYMENT_DECLINED',
    message: optionalText(body, 'message', 1000) ?? 'The payment was declined.',
  }, telling)
}

function expireBy(shop: Shop, charge: StoredCharge, body: Members): Promise<Moved> {
  const telling = readTelling(body.callback)
  return flag(body, 'again') && charge.status === 'expired' ? tellAgain(shop, charge, telling) : expireAndTell(shop, charge, telling)
}

const statuses = ['pending', 'paid', 'failed', 'expired', 'reversed'] as const

function notifyBy(shop: Shop, charge: StoredCharge, status: unknown, telling: Telling): Promise<Moved> {
  const known = status === undefined ? statusOf(charge, shop.runtime.now()) : statuses.find((one) => one === status)
  if (known === undefined) throw invalid(`status must be one of ${statuses.join(', ')}`)
  return notify(shop, charge, known, telling)
}

async function release(shop: Shop, body: Members): Promise<Reply> {
  const { held } = shop.callbacks
  const { ids } = body
  if (ids !== undefined && !(Array.isArray(ids) && ids.every((id) => typeof id === 'string'))) throw invalid('ids must be a list of ids')
  const [discard, keepHolding] = [flag(body, 'discard'), flag(body, 'keep_holding')]
  const taken = held.take(ids ?? null)
  if (ids === undefined && !keepHolding) held.stopHolding()
  const released: { id: string; callback: unknown }[] = []
  for (const { id, send } of taken) released.push({ id, callback: discard ? null : await send() })
  return { status: 200, json: { released } }
}

function clear({ queue, callbacks }: Shop): void {
  queue.length = 0
  callbacks.held.clear()
}

function listCharges(shop: Shop, query: URLSearchParams): Reply {
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

async function moved(shop: Shop, move: Promise<Moved>): Promise<Reply> {
  const { charge, callbacks } = await move
  return { status: 200, json: { charge: withInnerState(shop, charge), ...reported(callbacks) } }
}

async function movedRefund(move: Promise<MovedRefund>): Promise<Reply> {
  const { refund, callbacks } = await move
  return { status: 200, json: { refund: withCallbackCount(refund), ...reported(callbacks) } }
}

/** The fate of each callback, and that of the last by itself; null where nothing is told. */
function reported(callbacks: readonly CallbackReport[]): { callback: CallbackReport | null; callbacks: readonly CallbackReport[] } {
  return { callback: callbacks.at(-1) ?? null, callbacks }
}

function heldView({ id, event, about: { key, reference, merchantReference } }: HeldCallback): Record<string, unknown> {
  return { id, event, key, reference, merchant_reference: merchantReference }
}

function withCallbackCount(refund: StoredRefund): Record<string, unknown> {
  return { ...refundView(refund), callbacks_made: refund.notices }
}

// What the API is not told, but a tester wants to see.
function withInnerState(shop: Shop, charge: StoredCharge): Record<string, unknown> {
  const { completion, mute, callback_url, return_url, notices } = charge
  return { ...viewOf(shop, charge), completion, mute, callback_url, return_url, callbacks_made: notices }
}
