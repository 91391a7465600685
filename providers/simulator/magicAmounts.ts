import { plainBehaviour } from './behaviours.ts'
import type { Behaviour } from './behaviours.ts'

/** What happens when the charge is completed in the sandbox; it is kept with the charge. */
export type CompletionOutcome = 'decline' | 'late' | 'duplicate' | 'reversed' | 'silence' | 'expiry'

/**
 * What becomes of a refund. `fails` and `succeeds` are pending in the answer and end a second later; `unreported` is
 * pending in the answer, has succeeded, and is never told of: only a look-up knows.
 */
export type RefundOutcome = 'decline' | 'fails' | 'succeeds' | 'unreported' | 'time-out'

export interface MagicAmount {
  readonly amountIdr: number
  /** Of a charge: how its creation is treated. */
  readonly creation: Behaviour | null
  readonly completion: CompletionOutcome | null
  /** Of a refund, whole or partial. */
  readonly refund: RefundOutcome | null
  readonly meaning: string
}

const nothing = { creation: null, completion: null, refund: null } as const

/**
 * Amounts that make a charge or a refund end otherwise than well (decision 3.13). All lie within the limits of every
 * channel and above the pay-later minimum, so each works everywhere.
 */
export const magicAmounts: readonly MagicAmount[] = [
  {
    ...nothing, amountIdr: 111_001, creation: plainBehaviour('decline', { code: 'CHARGE_DECLINED', message: 'The charge was declined.' }),
    meaning: 'The provider refuses the charge.',
  },
  {
    ...nothing, amountIdr: 111_002, creation: plainBehaviour('time-out', { after: true }),
    meaning: 'The provider makes the charge, but its first answer never comes.',
  },
  {
    ...nothing, amountIdr: 111_003, creation: plainBehaviour('time-out'),
    meaning: 'The first call is lost before the provider makes the charge; sent again, it is made.',
  },
  { ...nothing, amountIdr: 111_011, completion: 'decline', meaning: 'The payment is declined.' },
  { ...nothing, amountIdr: 111_012, completion: 'late', meaning: 'The payment is reported after the deadline.' },
  { ...nothing, amountIdr: 111_013, completion: 'duplicate', meaning: 'The payment is reported twice.' },
  { ...nothing, amountIdr: 111_014, completion: 'reversed', meaning: 'The payment is made, then taken back a second later.' },
  { ...nothing, amountIdr: 111_015, completion: 'silence', meaning: 'The payment is made, but never reported.' },
  { ...nothing, amountIdr: 111_016, completion: 'expiry', meaning: 'The charge expires at the provider instead.' },
  { ...nothing, amountIdr: 111_021, refund: 'decline', meaning: 'A refund of the amount is refused.' },
  { ...nothing, amountIdr: 111_022, refund: 'fails', meaning: 'A refund of the amount is accepted, and fails a second later.' },
  { ...nothing, amountIdr: 111_023, refund: 'succeeds', meaning: 'A refund of the amount is accepted, and succeeds a second later.' },
  { ...nothing, amountIdr: 111_024, refund: 'unreported', meaning: 'A refund of the amount is accepted and succeeds, but that is never reported.' },
  { ...nothing, amountIdr: 111_025, refund: 'time-out', meaning: 'A refund of the amount is made, but its first answer never comes.' },
]

/** The row of an amount in whole rupiah, if it has one. */
export function magicOf(amountIdr: number): MagicAmount | undefined {
  return magicAmounts.find((row) => row.amountIdr === amountIdr)
}

/** Pay-later providers' floor, in whole rupiah, and their words below it. */
export const payLaterFloor = {
  amountIdr: 100_000,
  code: 'AMOUNT_BELOW_MINIMUM',
  message: 'The amount is below the minimum transaction of Rp 100,000.',
} as const
