import { isChannelCode } from '../domain/channels.ts'
import { eventIdOf } from './eventId.ts'
import type {
  CallbackReading, Charge, ChargeCallback, ChargeFields, ChargePayment, ChargeRequest, ChargeStatus, Decline, Payer, RefundCallback,
} from './paymentProvider.ts'
import { isObject, isText, readTime } from './readJson.ts'
import type { Refund, RefundRequest } from './refundCalls.ts'

// The simulator's API as it travels: snake_case JSON, times in RFC 3339. Readers give null for what is not of the form.

const statuses: readonly string[] = ['pending', 'paid', 'failed', 'expired', 'reversed'] satisfies ChargeStatus[]
const refundStatuses: readonly string[] = ['pending', 'succeeded', 'failed'] satisfies RefundCallback['status'][]
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

/** A charge in an answer, `provider` put into its refusal; null when anything that a payment could hang on is missing or odd. */
export function readCharge(json: unknown, provider: string): Charge | null {
  if (!isObject(json)) return null
  const { reference, key, status, currency, amount_idr: amountIdr, channel, fields, payments } = json
  if (!isText(reference) || !isText(key) || !isStatus(status) || !isText(currency) || !isAmount(amountIdr)) return null
  if (!isChannelCode(channel) || !isObject(fields) || !Array.isArray(payments)) return null
  const read = payments.map(readPayment)
  if (read.some((payment) => payment === null)) return null
  const texts = fieldNames.flatMap((name) => (fields[name] === undefined ? [] : [[name, fields[name]] as const]))
  if (!texts.every(([, value]) => isText(value))) return null
  const refusal = readRefusal(json.decline)
  return {
    reference,
    key,
    status,
    currency,
    amountIdr,
    decline: refusal === null ? null : { provider, ...refusal },
    fields: Object.fromEntries(texts),
    payments: read.filter((payment) => payment !== null),
  }
}

/** The refusal in a 4xx answer; null when it is none. */
export function readRefusal(json: unknown): { code: string; message: string } | null {
  if (!isObject(json) || !isText(json.code) || !isText(json.message)) return null
  return { code: json.code, message: json.message }
}

/** The body of POST /refunds. */
export function writeRefundRequest(request: RefundRequest): Record<string, unknown> {
  const { destination } = request
  return {
    key: request.key,
    charge_key: request.charge.key,
    payment_reference: request.paymentReference,
    currency: 'IDR',
    amount_idr: request.amountIdr,
    reason: request.reason,
    note: request.note,
    destination: destination === null ? null : {
      bank_code: destination.bankCode,
      account_number: destination.accountNumber,
      account_name: destination.accountName,
    },
    callback_url: request.callbackUrl,
  }
}

/** A refund in an answer; null when it is not of the form. */
export function readRefund(json: unknown): (Refund & { readonly status: RefundCallback['status']; readonly decline: Omit<Decline, 'provider'> | null }) | null {
  if (!isObject(json)) return null
  const { reference, key, status, amount_idr: amountIdr } = json
  if (!isText(reference) || !isText(key) || !isRefundStatus(status) || !isAmount(amountIdr)) return null
  const completedAt = json.completed_at === null ? null : readTime(json.completed_at)
  const decline = readRefusal(json.decline)
  if ((status === 'succeeded' && completedAt === null) || (status === 'failed' && decline === null)) return null
  return { reference, key, status, amountIdr, completedAt, decline }
}

/** A callback's body; `provider` is put into its refusal. */
export function readCallback(json: unknown, provider: string): CallbackReading {
  const isRefund = isObject(json) && typeof json.event === 'string' && json.event.startsWith('refund.')
  if (isRefund) {
    const callback = readRefundCallback(json, provider)
    return callback === null ? { outcome: 'unintelligible', reason: 'not a notice about a refund' } : { outcome: 'refund', callback }
  }
  const callback = isObject(json) ? readChargeCallback(json, provider) : null
  return callback === null ? { outcome: 'unintelligible', reason: 'not a notice about a charge' } : { outcome: 'charge', callback }
}

function readRefundCallback(json: Record<string, unknown>, provider: string): RefundCallback | null {
  const refund = readRefund(json)
  if (refund === null || !isText(json.currency) || !isAbsentOrText(json.event_id)) return null
  const { key, reference, status, amountIdr, completedAt, decline } = refund
  return {
    eventId: json.event_id ?? eventIdOf('refund', reference, status),
    key, reference, status, currency: json.currency, amountIdr, completedAt,
    decline: decline === null ? null : { provider, ...decline },
  }
}

function readChargeCallback(json: Record<string, unknown>, provider: string): ChargeCallback | null {
  const { key, reference, status, currency, event_id: eventId, merchant_reference: merchantReference } = json
  if (!isAbsentOrText(eventId) || !isText(key) || !isText(reference) || !isStatus(status) || !isText(currency)) return null
  if (!isAmount(json.amount_idr) || !isAbsentOrText(merchantReference)) return null
  const paymentReference = json.payment_reference ?? null
  if (paymentReference !== null && !isText(paymentReference)) return null
  const completedAt = isAbsent(json.completed_at) ? null : readTime(json.completed_at)
  if (completedAt === null && !isAbsent(json.completed_at)) return null
  // Without its own reference a payment could not be counted once.
  if ((status === 'paid' || status === 'reversed') && (paymentReference === null || completedAt === null)) return null
  const refusal = readRefusal(json.decline)
  if (!isAbsent(json.decline) && refusal === null) return null
  return {
    eventId: eventId ?? eventIdOf('charge', reference, status, paymentReference),
    key,
    reference,
    merchantReference: merchantReference ?? null,
    paymentReference,
    status,
    currency,
    amountIdr: json.amount_idr,
    completedAt,
    decline: refusal === null ? null : { provider, ...refusal },
    payer: isObject(json.payer) ? readPayer(json.payer) : null,
  }
}

function readPayer(json: Record<string, unknown>): Payer {
  const told = (name: string) => (isText(json[name]) ? json[name] : null)
  return { issuer: told('issuer'), bankCode: told('bank_code'), accountNumber: told('account_number'), accountName: told('account_name') }
}

function readPayment(json: unknown): ChargePayment | null {
  if (!isObject(json) || !isText(json.reference) || !isAmount(json.amount_idr)) return null
  const completedAt = readTime(json.completed_at)
  if (completedAt === null || typeof json.reversed !== 'boolean') return null
  return { reference: json.reference, amountIdr: json.amount_idr, completedAt, reversed: json.reversed }
}

function isAbsent(value: unknown): value is null | undefined {
  return value === null || value === undefined
}

function isAbsentOrText(value: unknown): value is string | null | undefined {
  return isAbsent(value) || isText(value)
}

function isRefundStatus(value: unknown): value is RefundCallback['status'] {
  return typeof value === 'string' && refundStatuses.includes(value)
}

function isAmount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 1
}

function isStatus(value: unknown): value is ChargeStatus {
  return typeof value === 'string' && statuses.includes(value)
}
