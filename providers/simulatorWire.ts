import { isChannelCode } from '../domain/channels.ts'
import type { Charge, ChargeFields, ChargePayment, ChargeRequest, ChargeStatus, Callback } from './paymentProvider.ts'

// The simulator's API as it travels: snake_case JSON, times in RFC 3339. Readers give null for what is not of the form.

const statuses: readonly string[] = ['pending', 'paid', 'failed', 'expired', 'reversed'] satisfies ChargeStatus[]
const fieldNames = [
  'qr_string', 'va_number', 'va_bank', 'expires_at', 'redirect_url', 'payment_url', 'payment_code', 'challenge',
] as const satisfies (keyof ChargeFields)[]

/** The body of POST /charges. */
export function writeChargeRequest(request: ChargeRequest): Record<string, unknown> {
  const { merchant } = request
  return {
    key: request.key,
    channel: request.channel,
    currency: 'IDR',
    amount_idr: request.amountIdr,
    multi_use: request.multiUse,
    expires_at: request.expiresAt?.toISOString() ?? null,
    description: request.description,
    merchant_reference: request.merchantReference,
    merchant: {
      id: merchant.id,
      name: merchant.name,
      city: merchant.city,
      postal_code: merchant.postalCode,
      mcc: merchant.mcc,
      nmid: merchant.nmid,
      qris_criteria: merchant.qrisCriteria,
    },
    customer: request.customer,
    callback_url: request.callbackUrl,
    return_url: request.returnUrl,
  }
}

/** A charge in an answer; null when anything that a payment could hang on is missing or odd. */
export function readCharge(json: unknown): Charge | null {
  if (!isObject(json)) return null
  const { reference, key, status, amount_idr: amountIdr, channel, fields, payments } = json
  if (!isText(reference) || !isText(key) || !isStatus(status) || !isAmount(amountIdr)) return null
  if (!isChannelCode(channel) || !isObject(fields) || !Array.isArray(payments)) return null
  const read = payments.map(readPayment)
  if (read.some((payment) => payment === null)) return null
  const texts = fieldNames.flatMap((name) => (fields[name] === undefined ? [] : [[name, fields[name]] as const]))
  if (!texts.every(([, value]) => isText(value))) return null
  return {
    reference,
    key,
    status,
    amountIdr,
    fields: Object.fromEntries(texts),
    payments: read.filter((payment) => payment !== null),
  }
}

/** The refusal in a 4xx answer; null when it is none. */
export function readRefusal(json: unknown): { code: string; message: string } | null {
  if (!isObject(json) || !isText(json.code) || !isText(json.message)) return null
  return { code: json.code, message: json.message }
}

/** A callback's body; `provider` is put into its refusal. Null when it is not of the form. */
export function readCallback(json: unknown, provider: string): Callback | null {
  if (!isObject(json)) return null
  const { event_id: eventId, key, reference, payment_reference: paymentReference, status, currency } = json
  if (!isText(eventId) || !isText(key) || !isText(reference) || !isStatus(status) || !isText(currency)) return null
  if (!isAmount(json.amount_idr)) return null
  const completedAt = json.completed_at === null ? null : readTime(json.completed_at)
  if (completedAt === null && json.completed_at !== null) return null
  if (paymentReference !== null && !isText(paymentReference)) return null
  // Without its own reference a payment could not be counted once.
  if ((status === 'paid' || status === 'reversed') && (paymentReference === null || completedAt === null)) return null
  const refusal = readRefusal(json.decline)
  if (json.decline !== null && refusal === null) return null
  const payer = isObject(json.payer) ? json.payer : null
  const told = (name: string) => (payer !== null && isText(payer[name]) ? payer[name] : null)
  return {
    eventId,
    key,
    reference,
    paymentReference,
    status,
    currency,
    amountIdr: json.amount_idr,
    completedAt,
    decline: refusal === null ? null : { provider, ...refusal },
    payer: payer === null ? null : {
      issuer: told('issuer'),
      bankCode: told('bank_code'),
      accountNumber: told('account_number'),
      accountName: told('account_name'),
    },
  }
}

/** JSON text as a value; undefined when it is none (which no JSON text is). */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A time in RFC 3339 with a zone; null for anything else. */
export function readTime(value: unknown): Date | null {
  if (typeof value !== 'string') return null
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/.test(value)) return null
  const time = new Date(value)
  return Number.isNaN(time.getTime()) ? null : time
}

function readPayment(json: unknown): ChargePayment | null {
  if (!isObject(json) || !isText(json.reference) || !isAmount(json.amount_idr)) return null
  const completedAt = readTime(json.completed_at)
  if (completedAt === null || typeof json.reversed !== 'boolean') return null
  return { reference: json.reference, amountIdr: json.amount_idr, completedAt, reversed: json.reversed }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

function isAmount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 1
}

function isStatus(value: unknown): value is ChargeStatus {
  return typeof value === 'string' && statuses.includes(value)
}
