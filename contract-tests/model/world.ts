import type { Channel } from './steps.ts'

/** What a creation asks for. */
export interface Plan {
  reference: string
  amount: number
  /** max_uses. */
  uses: number
  channels: readonly Channel[]
  pos: boolean
  keyed: boolean
  /** expires_in_seconds. */
  seconds: number | undefined
  /** Whether another intent has the reference at present. */
  taken: boolean
}

export type IntentStatus = 'open' | 'paid' | 'failed' | 'expired' | 'cancelled' | 'reversed'
export type AttemptStatus = 'pending' | 'succeeded' | 'failed' | 'expired' | 'reversed'

export interface Attempt {
  channel: Channel
  amount: number
  status: AttemptStatus
  /** Takes several payments, each recorded beside it. */
  standing: boolean
  /** Key of its charge; null: it has none of its own. */
  key: string | null
  /** Whether the provider's answer to the charge's creation is known. */
  charged: boolean
  /** provider_reference, as it is shown. */
  reference: string | null
  failure: string | null
  endsAt: number | null
  completedAt: number | null
}

/** An intent as it may be: everything that can be seen of it, and what decides about what can become of it. */
export interface World {
  /** How far its creation is; `none`: nothing of it is there. */
  making: 'none' | 'calling' | 'made' | 'refused' | 'abandoned'
  shown: boolean
  /** Its reference is another's since. */
  nameless: boolean
  deadline: number | null
  status: IntentStatus
  uses: number
  paid: number
  overpaid: number
  late: boolean
  paidAt: number | null
  attempts: readonly Attempt[]
  /** Index of the attempt whose fields are shown. */
  current: number | null
  /** Index of the attempt of a choice that the provider has not answered. */
  choosing: number | null
  /** Kind and snapshot of each event, in order. */
  events: readonly string[]
  cases: readonly string[]
}

export const nothing: World = {
  making: 'none', shown: false, nameless: false, deadline: null, status: 'open', uses: 0, paid: 0, overpaid: 0, late: false, paidAt: null, attempts: [], current: null, choosing: null,
  events: [], cases: [],
}

/** Life of an attempt in seconds, as the brief's channel table has it. */
export function lifeOf(channel: Channel, uses: number): number | null {
  switch (channel) {
    case 'qris': return uses === 1 ? 1800 : 86_400
    case 'ewallet_wallet_a': return 900
    case 'paylater_a': return 30 * 86_400
    case 'cash': return null
    default: return 86_400
  }
}

/** When an intent over these channels ends by itself. */
export function deadlineOf({ channels, uses, seconds }: Plan, now: number): number | null {
  const lives = channels.map((channel) => lifeOf(channel, uses)).filter((life) => life !== null)
  return lives.length === 0 ? null : now + (seconds ?? Math.max(...lives)) * 1000
}

/** One charge takes several payments. */
export function isStanding(channel: Channel, uses: number): boolean {
  return uses !== 1 && ['qris', 'va_bank_a', 'cash'].includes(channel)
}

export function newAttempt({ deadline }: World, { amount, uses }: Plan, channel: Channel, key: string | null, now: number): Attempt {
  const life = lifeOf(channel, uses)
  const own = life === null ? null : now + life * 1000
  return {
    channel, amount, status: 'pending', standing: isStanding(channel, uses), key, charged: false, reference: null, failure: null, completedAt: null,
    endsAt: own === null || (deadline !== null && deadline < own) ? deadline : own,
  }
}

/** Whether an open intent is past its deadline: it reads expired. */
export function isPast({ deadline, status }: World, now: number): boolean {
  return status === 'open' && deadline !== null && deadline <= now
}

/** Whether nothing can be done with an intent any more, but money be recorded. */
export function isClosed(world: World, now: number): boolean {
  return world.status !== 'open' || isPast(world, now)
}

export function withAttempt(world: World, at: number, change: Partial<Attempt>): World {
  return { ...world, attempts: world.attempts.map((attempt, index) => (index === at ? { ...attempt, ...change } : attempt)) }
}

export function attemptOf(world: World, key: string): number {
  return world.attempts.findIndex((attempt) => attempt.key === key)
}

/** Writes an event: the intent as it reads now, and the attempt that it is about. */
export function tell(world: World, now: number, kind: string, attempt?: Attempt): World {
  const { uses, paid, overpaid, late } = world
  const status = isPast(world, now) ? 'expired' : world.status
  const about = attempt ? ` | ${attempt.channel} ${attempt.status} ${attempt.amount} ${attempt.reference}` : ''
  return { ...world, events: [...world.events, `${kind} | ${status} ${uses} ${paid} ${overpaid}${late ? ' late' : ''}${about}`] }
}

/** Shows a hidden intent. One that had ended has given its reference back. */
export function reveal(world: World, { taken }: Plan, now: number): World {
  return world.shown ? world : tell({ ...world, shown: true, nameless: taken && world.status !== 'open' }, now, 'payment_intent.created')
}

/** Ends what is pending. */
export function endAttempts(world: World, but: number | null = null): World {
  return {
    ...world,
    attempts: world.attempts.map((attempt, at) => (attempt.status === 'pending' && at !== but ? { ...attempt, status: 'expired' } : attempt)),
  }
}

/** An open intent's time is up. */
export function expire(world: World, now: number): World {
  return tell(endAttempts({ ...world, status: 'expired' }), now, 'payment_intent.expired')
}

/** A case is opened once for each kind and payment. */
export function openCase(world: World, kind: string, reference: string, expected: number | null, received: number | null): World {
  const head = `${kind} ${reference} `
  if (world.cases.some((text) => text.startsWith(head))) return world
  return { ...world, cases: [...world.cases, `${head}${expected} ${received}`] }
}

export interface Payment {
  reference: string
  amount: number
  completedAt: number
}

export function isRecorded(world: World, reference: string): boolean {
  return world.attempts.some((attempt) => attempt.reference === reference && ['succeeded', 'reversed'].includes(attempt.status))
}

/** An attempt that has taken a payment, or takes several, gets the next one recorded beside it. Answers where it stands. */
export function record(world: World, at: number, { reference, amount, completedAt }: Omit<Payment, 'reference'> & { reference: string | null }): [World, number] {
  const attempt = world.attempts[at]
  if (!attempt) throw new Error('no such attempt')
  const paid = { status: 'succeeded', amount, reference, completedAt, failure: null } as const
  if (!attempt.standing && ['pending', 'failed', 'expired'].includes(attempt.status)) return [withAttempt(world, at, paid), at]
  const beside: Attempt = { ...attempt, ...paid, standing: false, key: null, endsAt: null }
  return [{ ...world, attempts: [...world.attempts, beside] }, world.attempts.length]
}
