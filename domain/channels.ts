export type ChannelKind = 'qris' | 'va' | 'ewallet' | 'cash' | 'otc' | 'paylater' | 'card'

/** Members of an attempt that only some channels produce. Not `checkout_url`: every hosted intent has that. */
export type TypedField =
  | 'qr_string'
  | 'va_number'
  | 'va_bank'
  | 'expires_at'
  | 'redirect_url'
  | 'payment_url'
  | 'payment_code'
  | 'challenge_url'

export type ChannelEvent =
  | 'payment_intent.created'
  | 'payment.completed'
  | 'payment.failed'
  | 'payment_intent.expired'
  | 'payment.refunded'

export type Settlement = 'T+0' | 'T+1'

/** One payment channel. The members go out as they are in lists of channels, hence snake_case. */
export interface Channel {
  readonly kind: ChannelKind
  readonly name_en: string
  readonly name_id: string
  /** Life of a payment over this channel, in seconds; null: it has none of its own. */
  readonly ttl_seconds: number | null
  readonly settlement: Settlement
  /** What differs when max_uses is not 1 (decision 3.5: static QRIS). */
  readonly multi_use?: { readonly ttl_seconds: number; readonly settlement: Settlement; readonly open_amount: boolean }
  readonly refund: 'manual' | 'programmatic'
  /** Only where the channel itself ends the right; the tenant's refund policy holds besides. */
  readonly refund_window_days: number | null
  readonly typed_fields: readonly TypedField[]
  readonly min_amount_idr: number
  readonly max_amount_idr: number
  /** What brings an attempt to its end in the sandbox. */
  readonly sandbox: 'sandbox-complete' | '3ds-callback'
  /** The events that are usual on this channel (decision 3.9); a succeeded refund emits its event everywhere. */
  readonly events: readonly ChannelEvent[]
  /** With max_uses other than 1: one standing pending attempt, each success recorded beside it (decision 3.4). */
  readonly standing_attempt: boolean
  /** False: nobody outside is asked to make the charge. */
  readonly needs_provider: boolean
}

const MINUTE = 60
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const MILLION = 1_000_000

const qris = {
  kind: 'qris',
  ttl_seconds: 30 * MINUTE,
  settlement: 'T+0',
  multi_use: { ttl_seconds: DAY, settlement: 'T+1', open_amount: true },
  refund: 'manual',
  refund_window_days: null,
  typed_fields: ['qr_string'],
  sandbox: 'sandbox-complete',
  events: ['payment_intent.created', 'payment.completed', 'payment_intent.expired'],
  standing_attempt: true,
  needs_provider: true,
} as const

const virtualAccount = {
  kind: 'va',
  ttl_seconds: DAY,
  settlement: 'T+1',
  refund: 'programmatic',
  refund_window_days: null,
  typed_fields: ['va_number', 'va_bank', 'expires_at'],
  sandbox: 'sandbox-complete',
  events: ['payment_intent.created', 'payment.completed', 'payment_intent.expired', 'payment.refunded'],
  standing_attempt: true,
  needs_provider: true,
} as const

const ewallet = {
  kind: 'ewallet',
  ttl_seconds: 15 * MINUTE,
  settlement: 'T+1',
  refund: 'programmatic',
  refund_window_days: null,
  typed_fields: ['redirect_url'],
  sandbox: 'sandbox-complete',
  events: ['payment_intent.created', 'payment.completed', 'payment_intent.expired', 'payment.refunded'],
  standing_attempt: false,
  needs_provider: true,
} as const

const overTheCounter = {
  kind: 'otc',
  ttl_seconds: DAY,
  settlement: 'T+1',
  refund: 'programmatic',
  refund_window_days: null,
  typed_fields: ['payment_code'],
  sandbox: 'sandbox-complete',
  events: ['payment_intent.created', 'payment.completed', 'payment_intent.expired', 'payment.refunded'],
  standing_attempt: false,
  needs_provider: true,
} as const

const paylater = {
  kind: 'paylater',
  ttl_seconds: 30 * DAY,
  settlement: 'T+1',
  refund: 'programmatic',
  refund_window_days: 30,
  typed_fields: ['payment_url'],
  sandbox: 'sandbox-complete',
  events: ['payment_intent.created', 'payment.completed', 'payment.failed', 'payment_intent.expired'],
  standing_attempt: false,
  needs_provider: true,
  // The floor is the provider's own, and its refusal is passed on unchanged; a floor here would hide it.
  min_amount_idr: 1,
} as const

const cash = {
  kind: 'cash',
  ttl_seconds: null,
  settlement: 'T+0',
  refund: 'manual',
  refund_window_days: null,
  typed_fields: [],
  sandbox: 'sandbox-complete',
  events: ['payment_intent.created', 'payment.completed'],
  standing_attempt: true,
  needs_provider: false,
} as const

const card = {
  kind: 'card',
  ttl_seconds: DAY,
  settlement: 'T+1',
  refund: 'programmatic',
  refund_window_days: null,
  typed_fields: ['challenge_url'],
  sandbox: '3ds-callback',
  events: ['payment_intent.created', 'payment.completed', 'payment.failed', 'payment_intent.expired'],
  standing_attempt: false,
  needs_provider: true,
} as const

const table = {
  qris: { ...qris, name_en: 'QRIS', name_id: 'QRIS', min_amount_idr: 1, max_amount_idr: 10 * MILLION },
  va_bank_a: {
    ...virtualAccount, name_en: 'Bank A virtual account', name_id: 'Virtual account Bank A',
    min_amount_idr: 10_000, max_amount_idr: 50 * MILLION,
  },
  va_bank_b: {
    ...virtualAccount, name_en: 'Bank B virtual account', name_id: 'Virtual account Bank B',
    min_amount_idr: 1, max_amount_idr: 50_000 * MILLION,
  },
  va_bank_c: {
    ...virtualAccount, name_en: 'Bank C virtual account', name_id: 'Virtual account Bank C',
    min_amount_idr: 10_000, max_amount_idr: 50_000 * MILLION,
  },
  va_bank_d: {
    ...virtualAccount, name_en: 'Bank D virtual account', name_id: 'Virtual account Bank D',
    min_amount_idr: 10_000, max_amount_idr: 50_000 * MILLION,
  },
  va_bank_e: {
    ...virtualAccount, name_en: 'Bank E virtual account', name_id: 'Virtual account Bank E',
    min_amount_idr: 10_000, max_amount_idr: 9_999_999_999,
  },
  va_bank_f: {
    ...virtualAccount, name_en: 'Bank F virtual account', name_id: 'Virtual account Bank F',
    min_amount_idr: 10_000, max_amount_idr: 50 * MILLION,
  },
  ewallet_wallet_a: {
    ...ewallet, name_en: 'Wallet A', name_id: 'Dompet digital A', min_amount_idr: 100, max_amount_idr: 20 * MILLION,
  },
  ewallet_wallet_b: {
    ...ewallet, name_en: 'Wallet B', name_id: 'Dompet digital B', min_amount_idr: 100, max_amount_idr: 20 * MILLION,
  },
  ewallet_wallet_c: {
    ...ewallet, name_en: 'Wallet C', name_id: 'Dompet digital C', min_amount_idr: 100, max_amount_idr: 10 * MILLION,
  },
  ewallet_wallet_d: {
    ...ewallet, name_en: 'Wallet D', name_id: 'Dompet digital D', min_amount_idr: 100, max_amount_idr: 20 * MILLION,
  },
  ewallet_wallet_e: {
    ...ewallet, name_en: 'Wallet E', name_id: 'Dompet digital E', min_amount_idr: 100, max_amount_idr: 20 * MILLION,
  },
  cash: { ...cash, name_en: 'Cash', name_id: 'Tunai', min_amount_idr: 1, max_amount_idr: 999_999_999_999 },
  otc_store_a: {
    ...overTheCounter, name_en: 'Store A counter', name_id: 'Gerai A',
    min_amount_idr: 10_000, max_amount_idr: 5 * MILLION,
  },
  otc_store_b: {
    ...overTheCounter, name_en: 'Store B counter', name_id: 'Gerai B',
    min_amount_idr: 10_000, max_amount_idr: 5 * MILLION,
  },
  paylater_a: { ...paylater, name_en: 'Pay later A', name_id: 'Bayar nanti A', max_amount_idr: 25 * MILLION },
  paylater_b: { ...paylater, name_en: 'Pay later B', name_id: 'Bayar nanti B', max_amount_idr: 30 * MILLION },
  card_3ds: {
    ...card, name_en: 'Card (3-D Secure)', name_id: 'Kartu (3-D Secure)',
    min_amount_idr: 5_000, max_amount_idr: 200 * MILLION,
  },
} as const satisfies Record<string, Channel>

export type ChannelCode = keyof typeof table

/** Every channel by its code; the brief's channel table, and nothing else in the program knows a channel by name. */
export const channels: Readonly<Record<ChannelCode, Channel>> = table

/** The codes in the order of the table. */
export const channelCodes = Object.keys(table) as readonly ChannelCode[]

/** Whether `value` is the code of a channel. */
export function isChannelCode(value: unknown): value is ChannelCode {
  return typeof value === 'string' && Object.hasOwn(table, value)
}

/** The channel behind a code. */
export function channelOf(code: ChannelCode): Channel {
  return channels[code]
}

/** Life of a payment in seconds, null for cash; max_uses other than 1 makes QRIS static (decision 3.5). */
export function ttlSeconds(code: ChannelCode, maxUses: number): number | null {
  const channel = channels[code]
  return maxUses === 1 ? channel.ttl_seconds : (channel.multi_use?.ttl_seconds ?? channel.ttl_seconds)
}

/** When the money of a payment over the channel is settled, in business days. */
export function settlementOf(code: ChannelCode, maxUses: number): Settlement {
  const channel = channels[code]
  return maxUses === 1 ? channel.settlement : (channel.multi_use?.settlement ?? channel.settlement)
}

/** Whether the payer sets the amount, and that of the intent is a suggestion (decision 3.5: static QRIS). */
export function takesAnyAmount(code: string, maxUses: number): boolean {
  return maxUses !== 1 && isChannelCode(code) && channelOf(code).multi_use?.open_amount === true
}

/**
 * The range that expires_in_seconds may have: 60 to the longest TTL of the channels (decision 3.6).
 * Null where no channel has a TTL (cash alone): there is nothing to shorten.
 */
export function expiresInBound(codes: readonly ChannelCode[], maxUses: number): { min: number; max: number } | null {
  const lives = codes.map((code) => ttlSeconds(code, maxUses)).filter((ttl) => ttl !== null)
  return lives.length === 0 ? null : { min: MINUTE, max: Math.max(...lives) }
}

/**
 * When the intent ends: the longest TTL of its channels after its creation, or earlier by expires_in_seconds
 * (decision 3.6). Null: never (cash alone). A RangeError when expires_in_seconds is outside `expiresInBound`.
 */
export function intentDeadline(
  codes: readonly ChannelCode[],
  maxUses: number,
  createdAt: Date,
  expiresInSeconds?: number,
): Date | null {
  const bound = expiresInBound(codes, maxUses)
  if (expiresInSeconds === undefined) return bound === null ? null : secondsAfter(createdAt, bound.max)
  if (bound === null) throw new RangeError('expires_in_seconds needs a channel with a TTL')
  if (!Number.isInteger(expiresInSeconds) || expiresInSeconds < bound.min || expiresInSeconds > bound.max) {
    throw new RangeError(`expires_in_seconds must be an integer from ${bound.min} to ${bound.max}`)
  }
  return secondsAfter(createdAt, expiresInSeconds)
}

/** When an attempt ends: its own channel's TTL after its creation, never past the intent's deadline (decision 3.6). */
export function attemptDeadline(
  code: ChannelCode,
  maxUses: number,
  createdAt: Date,
  intentEnds: Date | null,
): Date | null {
  const ttl = ttlSeconds(code, maxUses)
  if (ttl === null) return intentEnds
  const own = secondsAfter(createdAt, ttl)
  return intentEnds !== null && intentEnds < own ? intentEnds : own
}

function secondsAfter(time: Date, seconds: number): Date {
  return new Date(time.getTime() + seconds * 1000)
}
