import type { components } from '../../../generated/payments.ts'
import { expiresInBound, intentDeadline, isChannelCode } from '../../../domain/channels.ts'
import type { ChannelCode } from '../../../domain/channels.ts'
import type { NewPaymentIntent } from '../../../db/payments/paymentIntents.ts'
import type { PaymentProvider } from '../../../providers/paymentProvider.ts'
import { amountsTaken } from '../../../providers/servedChannels.ts'
import type { Fail } from '../../http/handler.ts'

type Input = components['schemas']['PaymentIntentCreate']

/** A creation request, checked as far as it can be without the merchant. */
export interface PaymentIntentDraft {
  /** Every channel the payer may use, known or not. */
  codes: string[]
  /** The channel whose attempt exists at creation; null when the payer chooses. */
  attemptChannel: ChannelCode | null
  reference_id: string | null
  customer_id: string | null
  intent: Omit<NewPaymentIntent, 'id' | 'tenant_id' | 'merchant_id' | 'shortcode' | 'visible' | 'current_attempt_id' | 'created_at'>
}

/** Reads the body: defaults, and the rules between its members (decisions 3.6, 3.11 and 3.14). */
export function readDraft(input: Input, now: Date, fail: Fail<'validation_failed'>): PaymentIntentDraft {
  const fields: Record<string, string> = {}
  if (input.channel === undefined && input.allowed_channels === undefined) fields.allowed_channels = 'is required unless channel is given'
  if (input.channel !== undefined && input.allowed_channels !== undefined) fields.channel = 'excludes allowed_channels'
  if (input.customer && input.customer_id) fields.customer_id = 'excludes customer'
  if (input.return_url && !isUrl(input.return_url)) fields.return_url = 'must be an https address or an app link'
  const codes = input.channel === undefined ? input.allowed_channels ?? [] : [input.channel]
  const known = codes.filter(isChannelCode)
  const maxUses = input.max_uses ?? 1
  const expiresIn = input.expires_in_seconds ?? undefined
  if (expiresIn !== undefined && known.length > 0) {
    const bound = expiresInBound(known, maxUses)
    if (bound === null) fields.expires_in_seconds = 'is not possible: none of the channels expires'
    else if (expiresIn > bound.max) fields.expires_in_seconds = `must be at most ${bound.max}, the time to live of the channels`
  }
  if (Object.keys(fields).length > 0) fail('validation_failed', { fields })
  const [only] = known
  return {
    codes,
    attemptChannel: codes.length === 1 && only ? only : null,
    reference_id: input.reference_id ?? null,
    customer_id: input.customer_id ?? null,
    intent: {
      amount_idr: input.amount_idr,
      max_uses: maxUses,
      description: input.description ?? null,
      allowed_channels: input.channel === undefined ? codes : [],
      channel: input.channel ?? null,
      metadata: input.metadata ?? {},
      reference_id: input.reference_id ?? null,
      return_url: input.return_url ?? null,
      customer: input.customer ? { name: input.customer.name ?? null, email: input.customer.email ?? null, phone: input.customer.phone ?? null } : null,
      customer_id: input.customer_id ?? null,
      intent_expires_at: known.length === 0 ? null : intentDeadline(known, maxUses, now, expiresIn),
    },
  }
}

/** Every listed channel must be on for the merchant and take the amount; the refusal names all that are not or do not. */
export function assertChannels(
  { codes, intent: { amount_idr } }: PaymentIntentDraft, enabled: readonly string[], provider: PaymentProvider | null,
  fail: Fail<'channel_unavailable' | 'amount_out_of_range'>,
): void {
  const off = codes.filter((code) => !isChannelCode(code) || !enabled.includes(code))
  if (off.length > 0) fail('channel_unavailable', { message: `Not available for this merchant: ${off.join(', ')}.` })
  const outside = codes.filter(isChannelCode).flatMap((code) => {
    const { min, max } = amountsTaken(code, provider)
    return amount_idr < min || amount_idr > max ? [`${code} takes ${min} to ${max}`] : []
  })
  if (outside.length > 0) fail('amount_out_of_range', { message: `The amount is out of range: ${outside.join(', ')}.` })
}

const dangerous = ['javascript', 'data', 'vbscript', 'file', 'blob', 'about']

function isUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, username, password } = new URL(text)
  return !dangerous.includes(protocol.slice(0, -1)) && username === '' && password === ''
}
