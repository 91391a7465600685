import { isObject } from '../simulatorWire.ts'
import type { AcceptedRequest } from './chargeRequest.ts'
import { integer, invalid, optionalText } from './chargeRequest.ts'
import type { CreationOutcome } from './magicAmounts.ts'

/**
 * How a creation is treated. `silent`: the charge is made, and the simulator never says a word about it by itself,
 * neither as answer nor as callback; only a question brings it to light.
 */
export type Behaviour =
  | CreationOutcome
  | { readonly kind: 'silent' }
  | { readonly kind: 'latency'; readonly ms: number }
  | { readonly kind: 'callback-before-answer' }
  | { readonly kind: 'error-500' }

export interface Queued {
  readonly behaviour: Behaviour
  remaining: number
  /** Only creations under this key. */
  readonly key: string | null
  /** Only creations with this reference of the merchant. */
  readonly merchantReference: string | null
}

/** Reads the body of POST /control/next. Throws a Refusal (400). */
export function readBehaviour(body: unknown): Queued {
  if (!isObject(body)) throw invalid('the body must be a JSON object')
  return {
    behaviour: behaviourOf(body),
    remaining: integer(body, 'n', [1, 1_000_000], 1),
    key: optionalText(body, 'key', 100),
    merchantReference: optionalText(body, 'merchant_reference', 255),
  }
}

/** Takes the first behaviour that waits for this creation out of the queue, one of its times. */
export function takeBehaviour(queue: Queued[], request: AcceptedRequest): Behaviour | null {
  const at = queue.findIndex((queued) =>
    (queued.key === null || queued.key === request.key)
    && (queued.merchantReference === null || queued.merchantReference === request.merchantReference))
  const queued = queue[at]
  if (queued === undefined) return null
  queued.remaining -= 1
  if (queued.remaining === 0) queue.splice(at, 1)
  return queued.behaviour
}

function behaviourOf(body: Record<string, unknown>): Behaviour {
  switch (body.behaviour) {
    case 'time-out-after-charging':
    case 'time-out-before-charging':
    case 'silent':
    case 'callback-before-answer':
    case 'error-500':
      return { kind: body.behaviour }
    case 'latency':
      return { kind: 'latency', ms: integer(body, 'ms', [0, 600_000], 0) }
    case 'decline':
      return {
        kind: 'decline',
        code: optionalText(body, 'code', 100) ?? 'CHARGE_DECLINED',
        message: optionalText(body, 'message', 1000) ?? 'The charge was declined.',
      }
    default:
      throw invalid('behaviour is not one that the simulator knows')
  }
}
