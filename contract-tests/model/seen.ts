import type { components } from '../../generated/payments.ts'
import type { Channel } from './steps.ts'
import { isPast } from './world.ts'
import type { Attempt, World } from './world.ts'

type Schemas = components['schemas']

/** All that can be seen of an intent through the API, in a form that can be compared and read. */
export interface Seen {
  /** Null: it is not there. */
  intent: string | null
  attempts: readonly string[]
  /** In their order. */
  events: readonly string[]
  cases: readonly string[]
}

const fieldsOf: Record<Channel, readonly string[]> = {
  qris: ['qr_string'], va_bank_a: ['expires_at', 'va_bank', 'va_number'], ewallet_wallet_a: ['redirect_url'], otc_store_a: ['payment_code'],
  paylater_a: ['payment_url'], card_3ds: ['challenge_url'], cash: [],
}
const typedFields = [...new Set(Object.values(fieldsOf).flat())]

/** What can be seen of an intent that is `world`. */
export function seenOf(world: World, now: number): Seen {
  const cases = [...world.cases].sort()
  if (!world.shown) return { intent: null, attempts: [], events: [], cases }
  const status = isPast(world, now) ? 'expired' : world.status
  const { uses, paid, overpaid, late, paidAt } = world
  return {
    intent: intentText(`${status}${world.nameless ? ' without reference' : ''}`, { uses, paid, overpaid, late, paidAt: timeText(paidAt) }, shownFields(world)),
    attempts: world.attempts.map((attempt) => attemptText({ ...attempt, status: readStatus(attempt, now), completedAt: timeText(attempt.completedAt) })).sort(),
    events: world.events, cases,
  }
}

function readStatus({ status, endsAt }: Attempt, now: number): string {
  return status === 'pending' && endsAt !== null && endsAt <= now ? 'expired' : status
}

function shownFields({ attempts, current, status }: World): readonly string[] {
  const attempt = current === null ? undefined : attempts[current]
  if (!attempt?.charged || (status === 'open' && attempt.status !== 'pending')) return []
  return fieldsOf[attempt.channel]
}

/** What holds of everything that is seen, whatever was done: a check on the model itself. Answers what does not. */
export function brokenLaws({ intent, events = [] }: Partial<Seen>): string[] {
  const count = (kind: string) => events.filter((event) => event.startsWith(`${kind} `)).length
  const uses = /, (\d+) uses/.exec(intent ?? '')?.[1]
  return [
    ...(events.length > 0 && (count('payment_intent.created') !== 1 || !events[0]?.startsWith('payment_intent.created ')) ? ['payment_intent.created comes once, and first'] : []),
    ...(count('payment_intent.expired') > 1 ? ['payment_intent.expired comes once'] : []),
    ...(uses !== undefined && Number(uses) !== count('payment.completed') ? ['payment.completed comes once for each use'] : []),
  ]
}

/** The same of what the API answered. */
export function intentSeen(intent: Schemas['PaymentIntent']): string {
  const { status, uses, paid_idr: paid, overpaid_idr: overpaid, late, paid_at: paidAt } = intent
  return intentText(`${status}${intent.reference_id === null ? ' without reference' : ''}`, { uses, paid, overpaid, late, paidAt }, typedFields.filter((name) => name in intent))
}

export function attemptSeen(attempt: Schemas['PaymentAttempt']): string {
  const { channel, amount_idr: amount, status, provider_reference: reference, failure_code: failure, completed_at: completedAt } = attempt
  return attemptText({ channel, amount, status, reference, failure, completedAt })
}

export function eventSeen({ event, data }: { event: string, data: unknown }): string {
  const { intent, attempt } = data as { intent: Schemas['PaymentIntent'], attempt?: Schemas['PaymentAttempt'] }
  const about = attempt ? ` | ${attempt.channel} ${attempt.status} ${attempt.amount_idr} ${attempt.provider_reference}` : ''
  return `${event} | ${intent.status} ${intent.uses} ${intent.paid_idr} ${intent.overpaid_idr}${intent.late ? ' late' : ''}${about}`
}

export function caseSeen({ kind, provider_reference, expected_idr, received_idr }: { kind: string, provider_reference: string | null, expected_idr: number | null, received_idr: number | null }): string {
  return `${kind} ${provider_reference} ${expected_idr} ${received_idr}`
}

interface Sums { uses: number, paid: number, overpaid: number, late: boolean, paidAt: string | null }

function intentText(status: string, { uses, paid, overpaid, late, paidAt }: Sums, fields: readonly string[]): string {
  return `${status}, ${uses} uses, paid ${paid}, overpaid ${overpaid}${late ? ', late' : ''}, paid at ${paidAt}, fields [${[...fields].sort().join(' ')}]`
}

interface AttemptText { channel: string, amount: number, status: string, reference: string | null, failure: string | null, completedAt: string | null }

function attemptText({ channel, amount, status, reference, failure, completedAt }: AttemptText): string {
  return `${channel} ${amount} ${status}, ${reference}${failure === null ? '' : `, ${failure}`}${completedAt === null ? '' : `, completed ${completedAt}`}`
}

function timeText(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString()
}
