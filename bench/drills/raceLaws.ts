import type { RawAnswer } from './rawRequests.ts'

/** What many callers of one key were answered, and the intents there are of it. */
export interface Round {
  key: string
  answers: readonly Pick<RawAnswer, 'status' | 'text'>[]
  intents: number
}

/** Pay, cancel and expire at once: their answers, null where one was not asked, and what became of the intent. */
export interface Ending {
  id: string
  asked: readonly string[]
  pay: number | null
  cancel: number | null
  expire: number | null
  status: string
  late: boolean
  events: readonly string[]
}

/** A choice of channel beside another or a cancellation, and what became of the intent. */
export interface Choice {
  id: string
  kind: 'twins' | 'rivals' | 'cancel'
  answers: readonly (number | null)[]
  /** Ids of the attempts that were answered. */
  attempts: readonly string[]
  status: string
  events: readonly string[]
  /** Attempts that may still be paid. */
  pending: number
}

/** What is wrong with a round; null when every caller got the same 201, byte for byte, of the one intent. */
export function judgeRound({ key, answers, intents }: Round): string | null {
  const others = answers.filter(({ status }) => status !== 201)
  const texts = new Set(answers.map(({ text }) => text)).size
  if (others.length > 0) return `${key}: ${others.length} answers were not 201, first ${others[0]?.status ?? 'none'} ${others[0]?.text}`
  if (texts !== 1) return `${key}: ${texts} different answers`
  return intents === 1 ? null : `${key}: ${intents} intents`
}

/**
 * What is wrong with an ending; null when exactly one act came first and the law was kept (decision 3.7): what came
 * first is answered 200, the others 409, but proven money counts all the same, late after another end.
 */
export function judgeEnding(race: Ending): string | null {
  const { id, asked, pay, cancel, expire, status, late, events } = race
  const first = [...(cancel === 200 ? ['cancelled'] : []), ...(expire === 200 ? ['expired'] : [])]
  const isPaid = asked.includes('pay')
  const legal = [cancel, expire].every((answer) => answer === null || answer === 200 || answer === 409)
    && (asked.includes('cancel') === (cancel !== null)) && (asked.includes('expire') === (expire !== null))
    && (isPaid ? pay === 200 && first.length <= 1 : first.length === 1)
  const expected = {
    status: isPaid ? 'paid' : first[0], late: isPaid && first.length === 1,
    events: ['payment_intent.created', ...(first[0] === 'expired' ? ['payment_intent.expired'] : []), ...(isPaid ? ['payment.completed'] : [])],
  }
  if (legal && status === expected.status && late === expected.late && events.join() === expected.events.join()) return null
  return `${id}: pay ${pay ?? '-'}, cancel ${cancel ?? '-'}, expire ${expire ?? '-'}: ${status}${late ? ' late' : ''} [${events.join(' ')}]`
}

/** What is wrong with a choice; null when one attempt at most is left to be paid, and none of a cancelled intent. */
export function judgeChoice({ id, kind, answers, attempts, status, events, pending }: Choice): string | null {
  const [chosen = null, other = null] = answers
  const legal = kind === 'cancel'
    ? other === 200 && (chosen === 201 || chosen === 409) && status === 'cancelled' && pending === 0
    : chosen === 201 && other === 201 && status === 'open' && pending === 1
  // Twins are shown the same attempt.
  const same = kind !== 'twins' || new Set(attempts).size === 1
  if (legal && same && events.join() === 'payment_intent.created') return null
  return `${id}, ${kind}: ${answers.map((answer) => answer ?? 'none').join(', ')}: ${status}, ${pending} pending [${events.join(' ')}]`
}
