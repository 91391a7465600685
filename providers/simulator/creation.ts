import { channelOf } from '../../domain/channels.ts'
import { takeBehaviour } from './behaviours.ts'
import type { Behaviour, Queued } from './behaviours.ts'
import { makeCharge, pay, viewOf } from './charges.ts'
import type { Shop } from './charges.ts'
import { fingerprintOf, readRequest } from './chargeRequest.ts'
import type { AcceptedRequest } from './chargeRequest.ts'
import { noAnswer, Refusal } from './exchange.ts'
import type { Reply } from './exchange.ts'
import { magicOf, payLaterFloor } from './magicAmounts.ts'

/**
 * POST /charges. The same key gives the same charge again; another request under it is refused (409). Behaviours
 * asked for through the control interface come before what the amount means.
 */
export async function createCharge(shop: Shop, queue: Queued[], body: unknown): Promise<Reply | typeof noAnswer> {
  const request = readRequest(body)
  const times = shop.ledger.countCall(request.key)
  const known = shop.ledger.byKey(request.key)
  if (known !== undefined) {
    if (known.fingerprint === fingerprintOf(request)) return { status: 200, json: viewOf(shop, known) }
    throw new Refusal(409, 'key_reused', 'another charge was made under this key')
  }
  const behaviour = takeBehaviour(queue, request) ?? magicBehaviour(request, times)
  if (behaviour?.kind === 'time-out-before-charging') return noAnswer
  if (behaviour?.kind === 'error-500') throw new Refusal(500, 'provider_error', 'the provider failed')
  if (behaviour?.kind === 'decline') throw new Refusal(422, behaviour.code, behaviour.message)
  if (channelOf(request.channel).kind === 'paylater' && request.amountIdr < payLaterFloor.amountIdr) {
    throw new Refusal(422, payLaterFloor.code, payLaterFloor.message)
  }
  const charge = makeCharge(shop, request, behaviour?.kind === 'silent')
  switch (behaviour?.kind) {
    case 'time-out-after-charging':
    case 'silent':
      return noAnswer
    case 'latency':
      await shop.runtime.sleep(behaviour.ms)
      return { status: 201, json: viewOf(shop, charge) }
    case 'callback-before-answer': {
      const paid = await pay(shop, charge, { amountIdr: null, completedAt: null, force: false })
      // The answer speaks of the charge as it was made: that is what makes the two hard to tell in order.
      return { status: 201, json: viewOf(shop, { ...paid.charge, status: 'pending', payments: [] }) }
    }
    default:
      return { status: 201, json: viewOf(shop, charge) }
  }
}

/** A time-out by amount strikes the first call only, so that sending again under the same key gets somewhere. */
function magicBehaviour(request: AcceptedRequest, times: number): Behaviour | null {
  const creation = magicOf(request.amountIdr)?.creation ?? null
  return creation === null || creation.kind === 'decline' || times === 1 ? creation : null
}
