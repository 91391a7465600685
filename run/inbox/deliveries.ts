import type { SignatureCheck } from './signature.ts'

/** What was answered, or is being: `status` is null until then, and where nothing was. */
export interface Answer {
  state: 'answering' | 'answered' | 'dropped' | 'given up'
  status: number | null
  /** From the end of the request on. */
  milliseconds: number
  /** Whether somebody chose it; else it is what a receiver should answer. */
  chosen: boolean
}

/** What became of asking for a delivery once more. */
export interface Resend {
  at: Date
  accepted: boolean
  message: string
}

/** A request as it reached the receiver. */
export interface Delivery {
  /** Counted from 1 since the process was started. */
  number: number
  receivedAt: Date
  path: string
  headers: readonly (readonly [name: string, value: string])[]
  /** Value of X-Service-Event-Kind; null: missing. */
  kind: string | null
  /** Value of X-Service-Delivery-Id; null: missing. */
  deliveryId: string | null
  /** The bytes as they came; of a body that is too long, its beginning. */
  body: Buffer
  isWhole: boolean
  told: Told
  check: SignatureCheck
  /** Which time this event came, counted from 1 among those kept. */
  attempt: number
  answer: Answer
  resends: readonly Resend[]
}

/** What a body says of itself; null where it is no JSON object that does. */
export interface Told {
  eventId: string | null
  event: string | null
  intentId: string | null
  amountIdr: number | null
}

export type NewDelivery = Omit<Delivery, 'number' | 'attempt' | 'resends'>

export interface Deliveries {
  add(delivery: NewDelivery): Delivery
  /** Records what was answered to it. */
  answered(number: number, answer: Answer): void
  resent(number: number, resend: Resend): void
  /** Newest first. */
  newest(): readonly Delivery[]
  /** Those of one event, oldest first. */
  ofEvent(eventId: string): readonly Delivery[]
  find(number: number): Delivery | undefined
  /** How many were dropped to make room since the inbox was last emptied. */
  dropped(): number
  clear(): void
  /** Calls `listener` after every change until the returned function is called. */
  onChange(listener: () => void): () => void
  /** Says that something beside the deliveries changed which the page shows. */
  changed(): void
}

/** How many deliveries are kept, and how many bytes of bodies in all. */
export const mostKept = 500
export const mostBytesKept = 32 * 1024 * 1024
const resendsKept = 5

/** Keeps the last deliveries and drops the rest. */
export function deliveries(): Deliveries {
  let kept: Delivery[] = []
  let [last, dropped, bytes] = [0, 0, 0]
  const listeners = new Set<() => void>()
  const changed = (): void => listeners.forEach((listener) => listener())
  const change = (number: number, changes: (delivery: Delivery) => Partial<Delivery>): void => {
    const found = kept.find((delivery) => delivery.number === number)
    // Answers come late: what they belong to may be gone.
    if (!found) return
    Object.assign(found, changes(found))
    changed()
  }
  const makeRoom = (): void => {
    while (kept.length > mostKept || bytes > mostBytesKept) {
      bytes -= kept.pop()?.body.length ?? 0
      dropped += 1
    }
  }
  return {
    add(draft) {
      last += 1
      const before = draft.told.eventId === null ? undefined : kept.find(({ told }) => told.eventId === draft.told.eventId)
      const delivery = { ...draft, number: last, attempt: (before?.attempt ?? 0) + 1, resends: [] }
      kept.unshift(delivery)
      bytes += draft.body.length
      makeRoom()
      changed()
      return delivery
    },
    answered: (number, answer) => change(number, () => ({ answer })),
    resent: (number, resend) => change(number, ({ resends }) => ({ resends: [resend, ...resends].slice(0, resendsKept) })),
    newest: () => kept,
    ofEvent: (eventId) => kept.filter(({ told }) => told.eventId === eventId).toReversed(),
    find: (number) => kept.find((delivery) => delivery.number === number),
    dropped: () => dropped,
    clear() {
      [kept, dropped, bytes] = [[], 0, 0]
      changed()
    },
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    changed,
  }
}

/** Looks in a body for the members that tell one event from another. */
export function toldBy(body: Buffer): Told {
  const { id, event, data } = membersOf(parsed(body))
  const { intent, refund } = membersOf(data)
  const { id: intentId, amount_idr: amount } = membersOf(intent)
  return {
    eventId: text(id), event: text(event), intentId: text(intentId),
    amountIdr: [membersOf(refund)['amount_idr'], amount].find((value) => typeof value === 'number') ?? null,
  }
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString())
  } catch {
    return null
  }
}

function membersOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? value as Record<string, unknown> : {}
}

function text(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

/** What was answered, in a word or two. */
export function answerInWords({ state, status }: Answer): string {
  return state === 'answered' ? String(status) : state === 'dropped' ? 'connection dropped' : state === 'given up' ? 'sender gave up' : 'answering'
}
