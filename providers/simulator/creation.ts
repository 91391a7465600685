import { channelOf } from '../../domain/channels.ts'
import { takeBehaviour, underBehaviour } from './behaviours.ts'
import type { Behaviour } from './behaviours.ts'
import { makeCharge, pay, viewOf } from './charges.ts'
import { fingerprintOf, readRequest } from './chargeRequest.ts'
import type { AcceptedRequest } from './chargeRequest.ts'
import { Refusal } from './exchange.ts'
import type { Served } from './exchange.ts'
import { magicOf, payLaterFloor } from './magicAmounts.ts'
import type { Shop } from './shop.ts'

/**
 * POST /charges. The same key gives the same charge again; another request under it is refused (409). Behaviours
 * asked for through the control interface come before what the amount means.
 */
export async function createCharge(shop: Shop, body: unknown): Promise<Served> {
  const request = readRequest(body)
  const times = shop.ledger.countCall(request.key)
  const known = shop.ledger.byKey(request.key)
  if (known !== undefined) {
    if (known.fingerprint === fingerprintOf(request)) return { status: 200, json: viewOf(shop, known) }
    throw new Refusal(409, 'key_reused', 'another charge was made under this key')
  }
  const behaviour = takeBehaviour(shop.queue, { on: 'create', ...request }) ?? magicBehaviour(request, times)
  return underBehaviour(behaviour, shop.runtime.sleep, () => make(shop, request, behaviour))
}

async function make(shop: Shop, request: AcceptedRequest, behaviour: Behaviour | null): Promise<Served> {
  if (behaviour?.kind === 'decline') {
    throw new Refusal(422, behaviour.code ?? 'CHARGE_DECLINED', behaviour.message ?? 'The charge was declined.')
  }
  if (channelOf(request.channel).kind === 'paylater' && request.amountIdr < payLaterFloor.amountIdr) {
    throw new Refusal(422, payLaterFloor.code, payLaterFloor.message)
  }
  const charge = makeCharge(shop, request, behaviour?.kind === 'silent')
  if (behaviour?.kind === 'silent') return { silence: true }
  // The answer speaks of the charge as it was made: that is what makes the two hard to tell in order.
  const answer = { status: 201, json: viewOf(shop, charge) }
  if (behaviour?.kind === 'callback-before-answer') await pay(shop, charge, { amountIdr: null, completedAt: null, force: false })
  return answer
}

/** A time-out by amount strikes the first call only, so that sending again under the same key gets somewhere. */
function magicBehaviour(request: AcceptedRequest, times: number): Behaviour | null {
  const creation = magicOf(request.amountIdr)?.creation ?? null
  return creation === null || creation.kind === 'decline' || times === 1 ? creation : null
}
