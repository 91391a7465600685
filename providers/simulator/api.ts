import { takeBehaviour, underBehaviour } from './behaviours.ts'
import type { CallName } from './behaviours.ts'
import { expire, viewOf } from './charges.ts'
import { createCharge } from './creation.ts'
import { Refusal } from './exchange.ts'
import type { Reply, Served } from './exchange.ts'
import type { StoredCharge } from './ledger.ts'
import { chargeOf } from './lookup.ts'
import { createRefund, refundView } from './refunds.ts'
import type { Route } from './route.ts'
import type { Shop } from './shop.ts'

/** The provider's API: what SimulatorProvider calls. */
export const apiRoutes: readonly Route[] = [
  {
    method: 'POST', path: '/charges', does: 'Makes a charge; the same key makes it once.',
    members: {
      key: 'Ours.', channel: 'Code of the channel.', currency: 'IDR.', amount_idr: 'Whole rupiah.', multi_use: 'True: for any number of payments.',
      expires_at: 'Or null.', description: 'Or null.', merchant_reference: 'Or null.', merchant: 'Object.', customer: 'Object or null.',
      callback_url: 'Or null.', return_url: 'Or null.',
    },
    serve: (shop, { body }) => createCharge(shop, body),
  },
  {
    method: 'GET', path: '/charges', members: { key: 'Ours.' }, does: 'The charge under a key, or none.',
    serve: (shop, { query }) => {
      const key = keyIn(query)
      const charge = shop.ledger.byKey(key)
      return treated(shop, 'find', key, charge, (kind) => {
        if (charge === undefined || kind === 'absent') return { status: 200, json: { charges: [] } }
        const asMade: StoredCharge = { ...charge, status: 'pending', decline: null, payments: [] }
        return { status: 200, json: { charges: [viewOf(shop, kind === 'as-made' ? asMade : charge)] } }
      })
    },
  },
  {
    method: 'POST', path: '/charges/{reference}/expire', members: {}, does: 'Ends a pending charge; one that has ended stays as it is. No callback.',
    serve: (shop, { parameters }) => {
      const charge = chargeOf(shop, parameters.reference)
      return treated(shop, 'expire', charge.key, charge, () => ({ status: 200, json: viewOf(shop, expire(shop, charge)) }))
    },
  },
  {
    method: 'POST', path: '/refunds', does: 'Gives back a payment or part of it; the same key does so once. Never more than was paid.',
    members: {
      key: 'Ours.', charge_key: 'Key of the charge.', payment_reference: 'The provider\'s.', currency: 'IDR.', amount_idr: 'Whole rupiah.',
      reason: 'One of our eight.', note: 'Or null.', destination: 'bank_code, account_number and account_name; needed by virtual accounts and counters.',
      callback_url: 'Or null.',
    },
    serve: (shop, { body }) => createRefund(shop, body),
  },
  {
    method: 'GET', path: '/refunds', members: { key: 'Ours.' }, does: 'The refund under a key, declined or not, or none.',
    serve: (shop, { query }) => {
      const key = keyIn(query)
      const refund = shop.ledger.refundByKey(key)
      const charge = refund && shop.ledger.byKey(refund.charge_key)
      return treated(shop, 'find-refund', key, charge, (kind) => ({
        status: 200, json: { refunds: refund === undefined || kind === 'absent' ? [] : [refundView(refund)] },
      }))
    },
  },
]

/** Serves a call under the behaviour that waits for it. */
function treated(shop: Shop, on: CallName, key: string, charge: StoredCharge | undefined, act: (kind: string | undefined) => Reply): Promise<Served> {
  const about = { on, key, merchantReference: charge?.merchant_reference ?? null, channel: charge?.channel ?? null }
  const behaviour = takeBehaviour(shop.queue, about)
  return underBehaviour(behaviour, shop.runtime.sleep, () => act(behaviour?.kind))
}

function keyIn(query: URLSearchParams): string {
  const key = query.get('key')
  if (key === null || key === '') throw new Refusal(400, 'invalid_request', 'the query needs key')
  return key
}
