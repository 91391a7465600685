import type { SignatureCheck } from './signature.ts'

/** A request as it reached the receiver. */
export interface Delivery {
  /** Counted from 1 since the process was started. */
  number: number
  receivedAt: Date
  headers: readonly (readonly [name: string, value: string])[]
  /** Value of X-Service-Event-Kind; null: missing. */
  kind: string | null
  /** Value of X-Service-Delivery-Id; null: missing. */
  deliveryId: string | null
  /** `id` and `event` of the body; null where it is no JSON object that has them. */
  eventId: string | null
  eventInBody: string | null
  /** The body as text, indented where it is JSON. */
  text: string
  check: SignatureCheck
}

export interface Deliveries {
  add(delivery: Omit<Delivery, 'number'>): void
  /** Newest first. */
  newest(): readonly Delivery[]
  /** How many have come since the start, those that are forgotten among them. */
  total(): number
}

/** How many deliveries are kept. */
export const mostKept = 200

/** Keeps the last deliveries and forgets the rest. */
export function deliveries(): Deliveries {
  const kept: Delivery[] = []
  let total = 0
  return {
    add(delivery) {
      total += 1
      kept.unshift({ ...delivery, number: total })
      kept.splice(mostKept)
    },
    newest: () => kept,
    total: () => total,
  }
}

/** What stands in a body: indented text, and the members that tell one event from another. */
export function readBody(body: Buffer): Pick<Delivery, 'eventId' | 'eventInBody' | 'text'> {
  const text = body.toString()
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return { eventId: null, eventInBody: null, text }
  }
  const { id, event } = (parsed ?? {}) as { id?: unknown, event?: unknown }
  const own = (value: unknown): string | null => typeof value === 'string' ? value : null
  return { eventId: own(id), eventInBody: own(event), text: JSON.stringify(parsed, null, 2) }
}
