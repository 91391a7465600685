import { isChannelCode } from '../../domain/channels.ts'
import type { ChannelCode } from '../../domain/channels.ts'
import { isObject } from '../readJson.ts'
import { integer, invalid, optionalText } from './chargeRequest.ts'
import type { Served } from './exchange.ts'

/** The calls of the provider's API that can be made to misbehave. */
export const calls = {
  create: 'POST /charges, under a key that is new',
  find: 'GET /charges?key=',
  expire: 'POST /charges/{reference}/expire',
  refund: 'POST /refunds, under a key that is new',
  'find-refund': 'GET /refunds?key=',
} as const

export type CallName = keyof typeof calls

interface Kind {
  /** On which calls; null: on all. */
  readonly on: readonly CallName[] | null
  /** The call fails; with `after` once it has had its effect, else without one. */
  readonly fault: boolean
  readonly meaning: string
}

/** Every behaviour, and what it means. */
export const behaviours = {
  latency: { on: null, fault: false, meaning: 'The answer is right, and waits `ms`. Every other behaviour may carry `ms` too.' },
  'time-out': { on: null, fault: true, meaning: 'No answer ever comes.' },
  reset: { on: null, fault: true, meaning: 'The connection is cut.' },
  'error-500': { on: null, fault: true, meaning: 'Status 500.' },
  malformed: { on: null, fault: true, meaning: 'Status 200, and a page in place of JSON.' },
  'rate-limited': { on: null, fault: true, meaning: 'Status 429, with Retry-After: `retry_after_seconds`.' },
  unauthenticated: { on: null, fault: true, meaning: 'Status 401, as with a wrong API key.' },
  forbidden: { on: null, fault: true, meaning: 'Status 403, as with a channel that is not switched on.' },
  decline: { on: ['create', 'refund'], fault: false, meaning: 'Refused with `code` and `message`.' },
  silent: { on: ['create'], fault: false, meaning: 'The charge is made, but the simulator never says a word about it by itself: no answer, no callback.' },
  'callback-before-answer': { on: ['create'], fault: false, meaning: 'The payer pays, and the callback is answered, before the creation is.' },
  absent: { on: ['find', 'find-refund'], fault: false, meaning: 'Nothing is found, although it is there.' },
  'as-made': { on: ['find'], fault: false, meaning: 'The charge as it was made, pending and unpaid, although it has moved on.' },
  pending: { on: ['refund'], fault: false, meaning: 'The refund is accepted only; /control/refunds/{reference}/succeed or fail ends it.' },
} as const satisfies Record<string, Kind>

export type BehaviourKind = keyof typeof behaviours

/** How a call is treated. */
export interface Behaviour {
  readonly kind: BehaviourKind
  /** The answer waits so long. */
  readonly ms: number
  readonly after: boolean
  readonly code: string | null
  readonly message: string | null
  readonly retryAfterSeconds: number
}

/** What a call is about, as far as it can be told from it. */
export interface CallAbout {
  readonly on: CallName
  /** Of the charge; on refunds that of the refund. */
  readonly key: string
  readonly merchantReference: string | null
  readonly channel: ChannelCode | null
}

export interface Queued {
  readonly behaviour: Behaviour
  remaining: number
  readonly on: CallName
  /** Null matches all. */
  readonly key: string | null
  readonly merchantReference: string | null
  readonly channel: ChannelCode | null
}

/** What the members of POST /control/next mean. */
export const behaviourMembers = {
  behaviour: 'Which; see the table of behaviours.',
  on: `Of which call: ${Object.keys(calls).map((name) => `\`${name}\``).join(', ')}; \`create\` unless told.`,
  n: 'How many calls; 1 unless told.',
  ms: 'Milliseconds that the answer waits; 0 unless told.',
  after: 'True: the fault strikes once the call has had its effect. False unless told.',
  code: 'Of a decline.',
  message: 'Of a decline.',
  retry_after_seconds: 'Of `rate-limited`; 1 unless told.',
  key: 'Only calls about this key of ours (of the charge; on refunds that of the refund).',
  merchant_reference: 'Only calls about this reference of the merchant.',
  channel: 'Only calls about charges over this channel.',
} as const

/** Names of before, for creations. */
const former: Readonly<Record<string, { readonly kind: BehaviourKind; readonly after: boolean }>> = {
  'time-out-after-charging': { kind: 'time-out', after: true },
  'time-out-before-charging': { kind: 'time-out', after: false },
}

/** A behaviour with nothing further to it. */
export function plainBehaviour(kind: BehaviourKind, details: Partial<Behaviour> = {}): Behaviour {
  return { kind, ms: 0, after: false, code: null, message: null, retryAfterSeconds: 1, ...details }
}

/** Reads the body of POST /control/next. Throws a Refusal (400). */
export function readBehaviour(body: unknown): Queued {
  if (!isObject(body)) throw invalid('the body must be a JSON object')
  const { on = 'create', behaviour: name, channel = null, after } = body
  if (typeof on !== 'string' || !Object.hasOwn(calls, on)) throw invalid('on is not a call that the simulator knows')
  if (typeof name !== 'string') throw invalid('behaviour is not one that the simulator knows')
  if (channel !== null && !isChannelCode(channel)) throw invalid('channel is not one of ours')
  if (after !== undefined && typeof after !== 'boolean') throw invalid('after must be true or false')
  const kind = former[name]?.kind ?? name
  if (!isBehaviour(kind)) throw invalid('behaviour is not one that the simulator knows')
  const { on: where, fault }: Kind = behaviours[kind]
  if (where !== null && !where.includes(on as CallName)) throw invalid(`the behaviour ${kind} is not for ${on}`)
  if (after === true && !fault) throw invalid(`the behaviour ${kind} has no after`)
  return {
    behaviour: plainBehaviour(kind, {
      ms: integer(body, 'ms', [0, 600_000], 0),
      after: former[name]?.after ?? after === true,
      code: optionalText(body, 'code', 100),
      message: optionalText(body, 'message', 1000),
      retryAfterSeconds: integer(body, 'retry_after_seconds', [0, 86_400], 1),
    }),
    remaining: integer(body, 'n', [1, 1_000_000], 1),
    on: on as CallName,
    key: optionalText(body, 'key', 100),
    merchantReference: optionalText(body, 'merchant_reference', 255),
    channel,
  }
}

/** Takes the first behaviour that waits for this call out of the queue, one of its times. */
export function takeBehaviour(queue: Queued[], about: CallAbout): Behaviour | null {
  const at = queue.findIndex((queued) => queued.on === about.on
    && (queued.key === null || queued.key === about.key)
    && (queued.merchantReference === null || queued.merchantReference === about.merchantReference)
    && (queued.channel === null || queued.channel === about.channel))
  const queued = queue[at]
  if (queued === undefined) return null
  queued.remaining -= 1
  if (queued.remaining === 0) queue.splice(at, 1)
  return queued.behaviour
}

/** Serves a call under a behaviour: with its fault, before or after the effect, and its latency. */
export async function underBehaviour(
  behaviour: Behaviour | null, sleep: (milliseconds: number) => Promise<void>, act: () => Served | Promise<Served>,
): Promise<Served> {
  if (behaviour === null) return act()
  const fault = behaviours[behaviour.kind].fault
  const served = fault && !behaviour.after ? null : await act()
  if (behaviour.ms > 0) await sleep(behaviour.ms)
  if (!fault && served !== null) return served
  return { ...faultOf(behaviour), ...(served?.after && { after: served.after }) }
}

function faultOf({ kind, retryAfterSeconds }: Behaviour): Served {
  switch (kind) {
    case 'time-out':
      return { silence: true }
    case 'reset':
      return { reset: true }
    case 'malformed':
      return { status: 200, html: '<!doctype html><title>Gateway</title>' }
    case 'rate-limited':
      return { ...refused(429, 'rate_limited', 'too many calls'), headers: { 'retry-after': String(retryAfterSeconds) } }
    case 'unauthenticated':
      return refused(401, 'unauthenticated', 'the API key is missing or wrong')
    case 'forbidden':
      return refused(403, 'forbidden', 'the account may not do this')
    default:
      return refused(500, 'provider_error', 'the provider failed')
  }
}

function refused(status: number, code: string, message: string): { status: number; json: { code: string; message: string } } {
  return { status, json: { code, message } }
}

function isBehaviour(name: string): name is BehaviourKind {
  return Object.hasOwn(behaviours, name)
}
