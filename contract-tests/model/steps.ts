import * as fc from 'fast-check'
import type { Fault } from './faults.ts'
import type { Mood } from './network.ts'

/** Channels that the model pays by: one of each kind, and what differs within a kind. */
export const channels = ['qris', 'va_bank_a', 'ewallet_wallet_a', 'otc_store_a', 'paylater_a', 'card_3ds', 'cash'] as const
export type Channel = (typeof channels)[number]

/** What a callback says otherwise than the provider does when it is asked. */
export type Lie = 'amount' | 'payment' | 'currency' | 'reference'

/**
 * One thing that somebody does. `intent` and `charge` count what has been created in the sequence, from 0, and begin
 * anew past the last; a step that has nothing to be done to is left out. `reference`: the intent whose reference is used again.
 */
export type Act =
  | { do: 'create', channels: readonly Channel[], pos?: boolean, uses: number, amount: number, seconds?: number, keyed?: boolean, reference?: number }
  /** The same creation again, under its key. */
  | { do: 'create again', intent: number }
  | { do: 'choose', intent: number, channel: number }
  | { do: 'cancel', intent: number }
  | { do: 'confirm cash', intent: number, amount?: 'wrong' }
  | { do: 'complete in sandbox', intent: number }
  | { do: 'expire in sandbox', intent: number }
  | { do: 'answer 3DS', intent: number, code: 'approve' | 'decline' | 'unknown' }
  /** The payer pays a charge: `wrong` another amount, `late` although it has ended. `tell`: its callback arrives at once, or waits. */
  | { do: 'pay', charge: number, amount?: 'wrong', late?: boolean, tell: boolean }
  | { do: 'decline', charge: number, tell: boolean }
  | { do: 'expire at provider', charge: number, tell: boolean }
  | { do: 'reverse', charge: number, tell: boolean }
  /** A callback that waits arrives, out of order or not; `keep`: it will come again. */
  | { do: 'deliver', letter: number, keep?: boolean }
  /** A callback arrives that says what the provider does not. */
  | { do: 'deliver lie', charge: number, about: Lie }
  /** A callback arrives under a wrong signature. */
  | { do: 'deliver forged', letter: number }
  | { do: 'wait', seconds: number }
  /** Until some seconds before or after an intent's deadline. */
  | { do: 'wait for deadline', intent: number, seconds: number }
  | { do: 'run', job: Job }

export const jobs = ['expiry', 'charge sweep', 'withdrawals', 'callbacks', 'reconciler'] as const
export type Job = (typeof jobs)[number]

/** What is done, and how the network and the machine treat it. */
export type Step = Act & { mood?: Mood, fault?: Fault }

/** Long enough for each lease, retry, deadline and look of the reconciler to be met now and then. */
const waits = [1, 16, 31, 61, 125, 300, 605, 905, 1805, 3605, 24 * 3600 + 5] as const

const number = fc.nat(7)
const amounts = fc.constantFrom(150_000, 150_000, 150_000, 99_000)

const create = fc.record({
  do: fc.constant('create' as const),
  channels: fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...channels).map((channel) => [channel]) },
    { weight: 2, arbitrary: fc.uniqueArray(fc.constantFrom(...channels), { minLength: 2, maxLength: 3 }) },
  ),
  uses: fc.constantFrom(1, 1, 1, 2, 3, 0),
  amount: amounts,
  keyed: fc.boolean(),
  pos: fc.constantFrom(false, false, false, true),
  seconds: fc.constantFrom(undefined, undefined, 60, 300),
  reference: fc.oneof({ weight: 5, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: number }),
}).map(({ pos, seconds, keyed, reference, ...rest }): Act => ({
  ...rest, ...(reference !== undefined && { reference }), ...(pos && rest.channels.length === 1 && { pos }), ...(keyed && { keyed }), ...(seconds !== undefined && !rest.channels.every((code) => code === 'cash') && { seconds }),
}))

const tell = fc.constantFrom(true, true, true, false)
const rarely = fc.constantFrom(false, false, false, true)

const pay = fc.record({ charge: number, tell, late: rarely, wrong: fc.constantFrom(false, false, false, false, true) })
  .map(({ charge, tell: tells, late, wrong }): Act => ({ do: 'pay', charge, tell: tells, ...(late && { late }), ...(wrong && { amount: 'wrong' as const }) }))

const ofCharge = (move: 'decline' | 'expire at provider' | 'reverse') => fc.record({ charge: number, tell })
  .map((rest): Act => ({ do: move, ...rest }))
const ofIntent = (move: 'cancel' | 'complete in sandbox' | 'expire in sandbox' | 'create again') => number.map((intent): Act => ({ do: move, intent }))

const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 16, arbitrary: create },
  { weight: 6, arbitrary: ofIntent('create again') },
  { weight: 12, arbitrary: fc.record({ do: fc.constant('choose' as const), intent: number, channel: fc.nat(3) }) },
  { weight: 6, arbitrary: ofIntent('cancel') },
  { weight: 5, arbitrary: fc.record({ intent: number, wrong: rarely }).map(({ intent, wrong }): Act => ({ do: 'confirm cash', intent, ...(wrong && { amount: 'wrong' as const }) })) },
  { weight: 4, arbitrary: ofIntent('complete in sandbox') },
  { weight: 2, arbitrary: ofIntent('expire in sandbox') },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('answer 3DS' as const), intent: number, code: fc.constantFrom('approve', 'approve', 'decline', 'unknown' as const) }) },
  { weight: 24, arbitrary: pay },
  { weight: 6, arbitrary: ofCharge('decline') },
  { weight: 4, arbitrary: ofCharge('expire at provider') },
  { weight: 6, arbitrary: ofCharge('reverse') },
  { weight: 12, arbitrary: fc.record({ letter: number, keep: rarely }).map(({ letter, keep }): Act => ({ do: 'deliver', letter, ...(keep && { keep }) })) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('deliver lie' as const), charge: number, about: fc.constantFrom<Lie>('amount', 'payment', 'currency', 'reference') }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('deliver forged' as const), letter: number }) },
  { weight: 8, arbitrary: fc.constantFrom(...waits).map((seconds): Act => ({ do: 'wait', seconds })) },
  { weight: 8, arbitrary: fc.record({ intent: number, seconds: fc.constantFrom(-1, 0, 1) }).map((rest): Act => ({ do: 'wait for deadline', ...rest })) },
  { weight: 14, arbitrary: fc.constantFrom(...jobs).map((job): Act => ({ do: 'run', job })) },
)

const moods = fc.constantFrom<Mood>('silent before', 'silent after', 'error 500', 'too many calls', 'declines', 'calls back first')
/** Most points are near the start of the work. */
const point = fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 60 }))
const fault = fc.record({ kind: fc.constantFrom('crash', 'lost' as const), point })

const step: fc.Arbitrary<Step> = fc.record({
  act,
  mood: fc.oneof({ weight: 8, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: moods }),
  fault: fc.oneof({ weight: 9, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: fault }),
}).map(({ act: what, mood, fault: strikes }) => ({ ...what, ...(mood && { mood }), ...(strikes && { fault: strikes }) }))

/** A sequence as long as fits one story of a few intents. */
export const sequences: fc.Arbitrary<Step[]> = fc.array(step, { minLength: 1, maxLength: 60, size: 'max' })

/** A step as a test that repeats it would write it. */
export function written(step: Step): string {
  return JSON.stringify(step).replaceAll(/"([a-z]+)":/gi, ' $1: ').replaceAll(',', ',').replaceAll('"', '\'').replaceAll(/\{ /g, '{ ').replaceAll(/\}/g, ' }')
}
