import type { components } from '../generated/payments.ts'
import { channelOf, isChannelCode, takesAnyAmount } from './channels.ts'
import type { ChannelCode } from './channels.ts'
import { isPastDeadline, typedFields } from './paymentIntentView.ts'
import type { ViewSettings } from './paymentIntentView.ts'

export type PublicCheckoutView = components['schemas']['PublicCheckout']
export type PublicAttemptView = components['schemas']['PublicAttempt']
export type PublicCheckoutStatusView = components['schemas']['PublicCheckoutStatus']

/** How a payment presents itself. */
export type Brand = PublicCheckoutView['brand']

interface CheckoutRow {
  id: string
  shortcode: string
  status: string
  late: boolean
  amount_idr: number
  max_uses: number
  description: string | null
  allowed_channels: string[]
  return_url: string | null
  intent_expires_at: Date | null
  changed_at: Date
  merchant_name: string
  merchant_channels: string[]
}

interface AttemptRow {
  id: string
  channel: string
  status: string
  amount_idr: number
  fields: Readonly<Record<string, string>>
  expires_at: Date | null
}

/** A neutral presentation, for a tenant whose branding cannot be looked up. */
export function neutralBrand(merchantName: string): Brand {
  return { display_name: merchantName, logo_url: null, accent_hex: '#334155' }
}

/** An attempt as its payer sees it: past its deadline it reads expired, and what to pay with is shown while it can be paid. */
export function publicAttemptView(attempt: AttemptRow, shortcode: string, { baseUrl }: ViewSettings, now: Date): PublicAttemptView {
  const status = attemptStatus(attempt.status, attempt.expires_at, now)
  return {
    id: attempt.id,
    channel: attempt.channel,
    kind: kindOf(attempt.channel),
    status,
    amount_idr: attempt.amount_idr,
    attempt_expires_at: attempt.expires_at?.toISOString() ?? null,
    ...(status === 'pending' && typedFields(attempt.fields, `${baseUrl}/pay/${shortcode}`)),
  }
}

/** Whether this deployment takes a payment over the channel, of an amount in whole rupiah. */
export type TakesPayment = (code: ChannelCode, maxUses: number, amountIdr: number) => boolean

/** A payment as its payer sees it. */
export function publicCheckoutView(
  intent: CheckoutRow, attempt: AttemptRow | null, brand: Brand, takes: TakesPayment, settings: ViewSettings, now: Date,
): PublicCheckoutView {
  const status = isPastDeadline(intent, now) ? 'expired' : intent.status
  const shown = attempt && publicAttemptView(attempt, intent.shortcode, settings, now)
  return {
    id: intent.id,
    shortcode: intent.shortcode,
    environment: settings.environment,
    status,
    late: intent.late,
    amount_idr: intent.amount_idr,
    amount_open: shown !== null && takesAnyAmount(shown.channel, intent.max_uses),
    description: intent.description,
    merchant: { name: intent.merchant_name },
    brand,
    channels: status === 'open' ? channelsFor(intent, takes) : [],
    // What cannot be paid any more is not shown as if it could.
    attempt: shown && status !== 'open' && shown.status === 'pending' ? ended(shown) : shown,
    intent_expires_at: intent.intent_expires_at?.toISOString() ?? null,
    return_url: intent.return_url,
  }
}

/** How a payment stands, in a few members. */
export function publicCheckoutStatusView(
  intent: CheckoutRow, attempt: (Pick<AttemptRow, 'id' | 'status' | 'expires_at'> & { changed_at: Date }) | null, now: Date,
): PublicCheckoutStatusView {
  const isPast = isPastDeadline(intent, now)
  const status = isPast ? 'expired' : intent.status
  const own = attempt && attemptStatus(attempt.status, attempt.expires_at, now)
  const times = [intent.changed_at, attempt?.changed_at, isPast ? intent.intent_expires_at : null, own === attempt?.status ? null : attempt?.expires_at]
  return {
    status,
    late: intent.late,
    attempt_id: attempt?.id ?? null,
    attempt_status: own === 'pending' && status !== 'open' ? 'expired' : own,
    updated_at: new Date(Math.max(...times.map((time) => time?.getTime() ?? 0))).toISOString(),
  }
}

function attemptStatus(status: string, expiresAt: Date | null, now: Date): string {
  return status === 'pending' && expiresAt !== null && expiresAt <= now ? 'expired' : status
}

function ended({ id, channel, kind, amount_idr, attempt_expires_at }: PublicAttemptView): PublicAttemptView {
  return { id, channel, kind, status: 'expired', amount_idr, attempt_expires_at }
}

function channelsFor({ allowed_channels, merchant_channels, amount_idr, max_uses }: CheckoutRow, takes: TakesPayment): PublicCheckoutView['channels'] {
  return allowed_channels.filter(isChannelCode).flatMap((code) => {
    const { kind, name_en, name_id } = channelOf(code)
    return merchant_channels.includes(code) && takes(code, max_uses, amount_idr) ? [{ code, kind, name_en, name_id }] : []
  })
}

function kindOf(channel: string): string {
  return isChannelCode(channel) ? channelOf(channel).kind : channel
}
