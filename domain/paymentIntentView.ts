import type { components } from '../generated/payments.ts'
import type { Environment } from './apiKeys.ts'

export type PaymentIntentView = components['schemas']['PaymentIntent']
export type PaymentAttemptView = components['schemas']['PaymentAttempt']

/** What the views of a deployment have in common. */
export interface ViewSettings {
  environment: Environment
  /** Public address under which the hosted pages are. */
  baseUrl: string
}

interface IntentRow {
  id: string
  merchant_id: string
  shortcode: string
  status: string
  amount_idr: number
  max_uses: number
  uses: number
  paid_idr: number
  refunded_idr: number
  overpaid_idr: number
  description: string | null
  allowed_channels: string[]
  channel: string | null
  metadata: Record<string, string>
  reference_id: string | null
  return_url: string | null
  customer: { name: string | null, email: string | null, phone: string | null } | null
  customer_id: string | null
  late: boolean
  created_at: Date
  intent_expires_at: Date | null
  paid_at: Date | null
}

interface AttemptRow {
  id: string
  intent_id: string
  channel: string
  amount_idr: number
  status: string
  provider_reference: string | null
  failure_code: string | null
  expires_at: Date | null
  created_at: Date
  completed_at: Date | null
}

/** Whether the deadline of an open intent is past: it reads expired before any sweep (decision 3.7). */
export function isPastDeadline({ status, intent_expires_at }: Pick<IntentRow, 'status' | 'intent_expires_at'>, now: Date): boolean {
  return status === 'open' && intent_expires_at !== null && intent_expires_at <= now
}

/** The intent as merchants see it; `fields` are the channel-typed fields of its current attempt. */
export function paymentIntentView(
  intent: IntentRow, fields: Readonly<Record<string, string>> | null, { environment, baseUrl }: ViewSettings, now: Date,
): PaymentIntentView {
  const page = `${baseUrl}/pay/${intent.shortcode}`
  return {
    id: intent.id,
    shortcode: intent.shortcode,
    status: isPastDeadline(intent, now) ? 'expired' : intent.status,
    environment,
    merchant_id: intent.merchant_id,
    amount_idr: intent.amount_idr,
    max_uses: intent.max_uses,
    uses: intent.uses,
    paid_idr: intent.paid_idr,
    refunded_idr: intent.refunded_idr,
    overpaid_idr: intent.overpaid_idr,
    description: intent.description,
    allowed_channels: intent.allowed_channels,
    channel: intent.channel,
    metadata: intent.metadata,
    reference_id: intent.reference_id,
    return_url: intent.return_url,
    customer: intent.customer && { name: intent.customer.name, email: intent.customer.email, phone: intent.customer.phone },
    customer_id: intent.customer_id,
    checkout_url: intent.channel === null ? page : null,
    late: intent.late,
    created_at: intent.created_at.toISOString(),
    intent_expires_at: intent.intent_expires_at?.toISOString() ?? null,
    paid_at: intent.paid_at?.toISOString() ?? null,
    ...(fields && typedFields(fields, page)),
  }
}

/** Whether the own deadline of a pending attempt is past: it reads expired before any sweep, as its intent does. */
export function isAttemptPastDeadline({ status, expires_at }: Pick<AttemptRow, 'status' | 'expires_at'>, now: Date): boolean {
  return status === 'pending' && expires_at !== null && expires_at <= now
}

/** An attempt as merchants see it; `now` is left out where it has ended. */
export function paymentAttemptView(attempt: AttemptRow, now?: Date): PaymentAttemptView {
  return {
    id: attempt.id,
    intent_id: attempt.intent_id,
    channel: attempt.channel,
    amount_idr: attempt.amount_idr,
    status: now && isAttemptPastDeadline(attempt, now) ? 'expired' : attempt.status,
    provider_reference: attempt.provider_reference,
    failure_code: attempt.failure_code,
    created_at: attempt.created_at.toISOString(),
    completed_at: attempt.completed_at?.toISOString() ?? null,
  }
}

const shown = ['qr_string', 'va_number', 'va_bank', 'expires_at', 'redirect_url', 'payment_code', 'payment_url'] as const

type TypedFields = Pick<PaymentIntentView, typeof shown[number] | 'challenge_url'>

/** Picks what is public of an attempt's fields; the acquirer's challenge is shown by our own page, under `page`. */
export function typedFields(fields: Readonly<Record<string, string>>, page: string): TypedFields {
  return {
    ...Object.fromEntries(shown.filter((name) => fields[name] !== undefined).map((name) => [name, fields[name]])),
    ...(fields.challenge !== undefined && { challenge_url: `${page}/3ds` }),
  }
}
