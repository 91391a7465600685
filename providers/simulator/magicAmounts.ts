/** What happens to the creation of a charge. */
export type CreationOutcome =
  | { readonly kind: 'decline'; readonly code: string; readonly message: string }
  | { readonly kind: 'time-out-after-charging' }
  | { readonly kind: 'time-out-before-charging' }

/** What happens when the charge is completed in the sandbox; it is kept with the charge. */
export type CompletionOutcome = 'decline' | 'late' | 'duplicate' | 'reversed' | 'silence' | 'expiry'

export interface MagicAmount {
  readonly amountIdr: number
  readonly creation: CreationOutcome | null
  readonly completion: CompletionOutcome | null
  readonly meaning: string
}

/**
 * Amounts that make a charge end otherwise than well (decision 3.13). All lie within the limits of every channel and
 * above the pay-later minimum, so each works everywhere.
 */
export const magicAmounts: readonly MagicAmount[] = [
  {
    amountIdr: 111_001,
    creation: { kind: 'decline', code: 'CHARGE_DECLINED', message: 'The charge was declined.' },
    completion: null,
    meaning: 'The provider refuses the charge.',
  },
  {
    amountIdr: 111_002,
    creation: { kind: 'time-out-after-charging' },
    completion: null,
    meaning: 'The provider makes the charge, but its first answer never comes.',
  },
  {
    amountIdr: 111_003,
    creation: { kind: 'time-out-before-charging' },
    completion: null,
    meaning: 'The first call is lost before the provider makes the charge; sent again, it is made.',
  },
  { amountIdr: 111_011, creation: null, completion: 'decline', meaning: 'The payment is declined.' },
  { amountIdr: 111_012, creation: null, completion: 'late', meaning: 'The payment is reported after the deadline.' },
  { amountIdr: 111_013, creation: null, completion: 'duplicate', meaning: 'The payment is reported twice.' },
  { amountIdr: 111_014, creation: null, completion: 'reversed', meaning: 'The payment is made, then taken back.' },
  { amountIdr: 111_015, creation: null, completion: 'silence', meaning: 'The payment is made, but never reported.' },
  { amountIdr: 111_016, creation: null, completion: 'expiry', meaning: 'The charge expires at the provider instead.' },
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
