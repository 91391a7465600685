import { createHash, timingSafeEqual } from 'node:crypto'
import type { ChannelCode } from '../../domain/channels.ts'
import type { RefundReason } from '../../domain/refundReasons.ts'
import { eventIdOf } from '../eventId.ts'
import type {
  CallbackReading, CallbackVerdict, ChannelCapability, Charge, ChargeFields, ChargeIdentity, ChargeRequest, ChargeStatus, CreateChargeResult,
  Decline, ExpireChargeResult, FindChargeResult, KnownCharge, PaymentProvider, ReceivedCallback, Unsettled,
} from '../paymentProvider.ts'
import { callProvider, unknown, unsettled } from '../providerCall.ts'
import type { CallSettings, ProviderAnswer } from '../providerCall.ts'
import { isObject, isText, parseJson, readTime } from '../readJson.ts'
import type { FindRefundResult, RefundIdentity, RefundRequest, RefundResult } from '../refundCalls.ts'

type Json = Record<string, unknown>
interface Settings extends CallSettings { readonly url: string, readonly secretKey: string }

const codes: Partial<Record<ChannelCode, string>> = {
  qris: 'QRIS', va_bank_a: 'BCA_VIRTUAL_ACCOUNT', ewallet_wallet_a: 'DANA', ewallet_wallet_b: 'OVO', ewallet_wallet_c: 'LINKAJA',
}
const channel: ChannelCapability = {
  // Its status tells of the latest payment only: of several the earlier ones could not be confirmed.
  multiUse: false, minAmountIdr: 100, maxAmountIdr: 20_000_000, refund: 'partial', canExpire: true, canFindByKey: false, longestExpirySeconds: 86_400,
}
const statuses: Record<string, ChargeStatus> = {
  ACCEPTING_PAYMENTS: 'pending', REQUIRES_ACTION: 'pending', AUTHORIZED: 'pending', SUCCEEDED: 'paid', FAILED: 'failed', EXPIRED: 'expired',
  CANCELED: 'expired',
}
const descriptors: Record<string, keyof ChargeFields> = {
  QR_STRING: 'qr_string', VIRTUAL_ACCOUNT_NUMBER: 'va_number', WEB_URL: 'redirect_url', PAYMENT_CODE: 'payment_code',
}
const reasons: Record<RefundReason, string> = {
  customer_request: 'REQUESTED_BY_CUSTOMER', duplicate: 'DUPLICATE', fraudulent: 'FRAUDULENT', order_cancelled: 'CANCELLATION', product_returned: 'OTHERS',
  product_not_received: 'OTHERS', product_unsatisfactory: 'OTHERS', other: 'OTHERS',
}

/** An adapter of the shape that Xendit asks for: a static token on callbacks, looked up by its own ids, JSON numbers, UTC. */
export class XenditLike implements PaymentProvider {
  readonly name = 'xendit-like'
  readonly capabilities = {
    qris: { ...channel, minAmountIdr: 1, maxAmountIdr: 10_000_000, longestExpirySeconds: 172_800 },
    va_bank_a: { ...channel, minAmountIdr: 10_000, maxAmountIdr: 50_000_000, refund: 'none' as const },
    ewallet_wallet_a: channel,
    ewallet_wallet_b: { ...channel, canExpire: false, longestExpirySeconds: 55 },
    ewallet_wallet_c: { ...channel, minAmountIdr: null, maxAmountIdr: 10_000_000, refund: 'full' as const, longestExpirySeconds: 1800 },
  }
  // The token in x-callback-token is the credential itself.
  readonly callbackHeaders = ['content-type', 'webhook-id']
  readonly #settings: Settings

  constructor(settings: Settings) {
    this.#settings = settings
  }

  async createCharge(request: ChargeRequest, withinMs?: number): Promise<CreateChargeResult> {
    const answer = await this.#call('POST', '/v3/payment_requests', { 'idempotency-key': request.key }, {
      reference_id: request.key, type: 'PAY', country: 'ID', currency: 'IDR', channel_code: codes[request.channel], request_amount: request.amountIdr,
      channel_properties: { expires_at: request.expiresAt?.toISOString(), success_return_url: request.returnUrl },
      metadata: { merchant_reference: request.merchantReference },
    }, withinMs)
    if ('outcome' in answer) return answer
    const charge = answer.status === 201 ? this.#charge(answer.json) : null
    if (charge?.key === request.key) return { outcome: 'charged', charge }
    return this.#declined(answer) ?? open(answer)
  }

  async findCharge({ key, reference }: ChargeIdentity, withinMs?: number): Promise<FindChargeResult> {
    if (reference === null) return unknown('it looks nothing up by our key')
    const answer = await this.#call('GET', `/v3/payment_requests/${reference}`, {}, undefined, withinMs)
    if ('outcome' in answer) return answer
    if (answer.status === 404 && codeOf(answer) === 'DATA_NOT_FOUND') return { outcome: 'absent' }
    const charge = answer.status === 200 ? this.#charge(answer.json) : null
    return charge?.key === key ? { outcome: 'found', charge } : open(answer)
  }

  async expireCharge(identity: KnownCharge): Promise<ExpireChargeResult> {
    const answer = await this.#call('POST', `/v3/payment_requests/${identity.reference}/cancel`, {})
    if ('outcome' in answer) return answer
    const charge = answer.status === 200 ? this.#charge(answer.json) : null
    if (charge?.key === identity.key) return { outcome: 'ended', charge }
    if (codeOf(answer) !== 'INVALID_PAYMENT_REQUEST_STATE') return open(answer)
    const found = await this.findCharge(identity)
    return found.outcome === 'found' ? { outcome: 'ended', charge: found.charge } : found
  }

  async refund(request: RefundRequest): Promise<RefundResult> {
    const answer = await this.#call('POST', '/refunds', { 'idempotency-key': request.key }, {
      reference_id: request.key, payment_request_id: request.charge.reference, currency: 'IDR', amount: request.amountIdr, reason: reasons[request.reason],
    })
    if ('outcome' in answer) return answer
    return answer.status === 200 ? this.#refund(answer, request.key) : this.#declined(answer) ?? open(answer)
  }

  async findRefund({ key, reference }: RefundIdentity): Promise<FindRefundResult> {
    // The same request once more, under its key, is the only question where the first was not answered.
    if (reference === null) return unknown('it looks nothing up by our key')
    const answer = await this.#call('GET', `/refunds/${reference}`, {})
    if ('outcome' in answer) return answer
    if (answer.status === 404 && codeOf(answer) === 'DATA_NOT_FOUND') return { outcome: 'absent' }
    return answer.status === 200 ? this.#refund(answer, key) : open(answer)
  }

  verifyCallback({ headers }: ReceivedCallback, secret: string): CallbackVerdict {
    const token = headers['x-callback-token']
    if (typeof token !== 'string') return { verified: false, reason: 'malformed' }
    return timingSafeEqual(sha256(token), sha256(secret)) ? { verified: true } : { verified: false, reason: 'mismatch' }
  }

  parseCallback(rawBody: Uint8Array): CallbackReading {
    const json = parseJson(Buffer.from(rawBody).toString())
    if (!isObject(json) || !isText(json.event) || !isObject(json.data)) return { outcome: 'unintelligible', reason: 'not an event' }
    if (json.event.startsWith('refund.')) return this.#refundEvent(json.event, json.data)
    if (/^payment(_request)?\./.test(json.event)) return this.#paymentEvent(json.event, json.data)
    return { outcome: 'unintelligible', reason: `the event ${json.event} is not about a payment` }
  }

  #paymentEvent(event: string, data: Json): CallbackReading {
    const { reference_id: key, payment_request_id: reference, payment_id: payment, currency } = data
    const status = statuses[String(data.status)]
    const captured = capture(data)
    const amountIdr = captured?.amountIdr ?? data.request_amount
    if (!isText(key) || !isText(reference) || !isText(currency) || status === undefined || !isRupiah(amountIdr)) {
      return { outcome: 'unintelligible', reason: 'not a payment' }
    }
    const paymentReference = isText(payment) ? payment : null
    if (status === 'paid' && (captured === null || paymentReference === null)) return { outcome: 'unintelligible', reason: 'a payment without its capture' }
    const metadata = isObject(data.metadata) ? data.metadata : {}
    return {
      outcome: 'charge', callback: {
        eventId: eventIdOf(event, reference, paymentReference, status), key, reference,
        merchantReference: isText(metadata.merchant_reference) ? metadata.merchant_reference : null, paymentReference, status, currency, amountIdr,
        completedAt: captured?.completedAt ?? null, decline: this.#failure(data.failure_code), payer: null,
      },
    }
  }

  #refundEvent(event: string, data: Json): CallbackReading {
    const { id: reference, reference_id: key, currency, amount } = data
    if (!isText(reference) || !isText(key) || !isText(currency) || !isRupiah(amount)) return { outcome: 'unintelligible', reason: 'not a refund' }
    const status = event === 'refund.succeeded' ? 'succeeded' : 'failed'
    return {
      outcome: 'refund', callback: {
        eventId: eventIdOf(event, reference), key, reference, status, currency, amountIdr: amount, completedAt: readTime(data.updated),
        decline: this.#failure(data.failure_code),
      },
    }
  }

  #charge(json: unknown): Charge | null {
    if (!isObject(json)) return null
    const { payment_request_id: reference, reference_id: key, currency, request_amount: amount } = json
    const status = statuses[String(json.status)]
    if (!isText(reference) || !isText(key) || !isText(currency) || !isRupiah(amount) || status === undefined) return null
    const actions = Array.isArray(json.actions) ? json.actions.filter(isObject) : []
    const fields = actions.flatMap(({ descriptor, value }) => {
      const name = descriptors[String(descriptor)]
      return name !== undefined && isText(value) ? [[name, value] as const] : []
    })
    const captured = capture(json)
    const payment = json.latest_payment_id
    return {
      reference, key, status, currency, amountIdr: amount, fields: Object.fromEntries(fields), decline: this.#failure(json.failure_code),
      payments: captured !== null && isText(payment) ? [{ reference: payment, ...captured, reversed: false }] : [],
    }
  }

  #refund(answer: ProviderAnswer, key: string): RefundResult {
    const { json } = answer
    if (!isObject(json) || json.reference_id !== key || !isText(json.id) || !isRupiah(json.amount)) return open(answer)
    const decline = this.#failure(json.failure_code)
    if (json.status === 'FAILED' && decline !== null) return { outcome: 'declined', decline }
    const refund = { reference: json.id, key, amountIdr: json.amount, completedAt: json.status === 'SUCCEEDED' ? readTime(json.updated) : null }
    if (json.status === 'SUCCEEDED') return { outcome: 'succeeded', refund }
    return json.status === 'PENDING' ? { outcome: 'pending', refund } : open(answer)
  }

  /** A failure has a code of its own and no further words. */
  #failure(code: unknown): Decline | null {
    return isText(code) ? { provider: this.name, code, message: code } : null
  }

  #declined({ status, json }: ProviderAnswer): { outcome: 'declined', decline: Decline } | null {
    if (status !== 400 && status !== 422) return null
    return isObject(json) && isText(json.error_code) && isText(json.message)
      ? { outcome: 'declined', decline: { provider: this.name, code: json.error_code, message: json.message } } : null
  }

  #call(method: 'GET' | 'POST', path: string, headers: Record<string, string>, body?: Json, withinMs?: number): Promise<ProviderAnswer | Unsettled> {
    const { url, secretKey } = this.#settings
    const authorization = `Basic ${Buffer.from(`${secretKey}:`).toString('base64')}`
    return callProvider(this.#settings, { method, url: url + path, headers: { ...headers, authorization, 'api-version': '2024-11-11' }, body }, withinMs)
  }
}

function capture({ captures }: Json): { amountIdr: number, completedAt: Date } | null {
  const [first] = Array.isArray(captures) ? captures.filter(isObject) : []
  const completedAt = readTime(first?.capture_timestamp)
  return completedAt !== null && isRupiah(first?.capture_amount) ? { amountIdr: first.capture_amount, completedAt } : null
}

function isRupiah(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) > 0
}

function codeOf({ json }: ProviderAnswer): string | null {
  return isObject(json) && isText(json.error_code) ? json.error_code : null
}

function open(answer: ProviderAnswer): Unsettled {
  return unsettled(answer, codeOf(answer))
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
