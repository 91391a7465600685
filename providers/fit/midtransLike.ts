import { createHash, timingSafeEqual } from 'node:crypto'
import type { ChannelCode } from '../../domain/channels.ts'
import type { Runtime } from '../../domain/runtime.ts'
import { eventIdOf } from '../eventId.ts'
import type {
  CallbackReading, CallbackVerdict, ChannelCapability, Charge, ChargeIdentity, ChargePayment, ChargeRequest, ChargeStatus, CreateChargeResult,
  Decline, ExpireChargeResult, FindChargeResult, KnownCharge, PaymentProvider, ReceivedCallback, Unsettled,
} from '../paymentProvider.ts'
import { callProvider, unsettled } from '../providerCall.ts'
import type { CallSettings, ProviderAnswer } from '../providerCall.ts'
import { isObject, isText, parseJson, readTime } from '../readJson.ts'
import type { FindRefundResult, RefundIdentity, RefundRequest, RefundResult } from '../refundCalls.ts'

type Json = Record<string, unknown>
interface Settings extends CallSettings { readonly url: string, readonly serverKey: string, readonly runtime: Pick<Runtime, 'fetch' | 'now'> }
/** What every answer and every notice has. */
interface Transaction {
  json: Json
  code: string
  key: string
  reference: string
  status: ChargeStatus
  currency: string
  amountIdr: number
  payment: ChargePayment | null
}

const types: Partial<Record<ChannelCode, Json>> = {
  qris: { payment_type: 'qris' }, va_bank_b: { payment_type: 'bank_transfer', bank_transfer: { bank: 'bni' } }, ewallet_wallet_a: { payment_type: 'gopay' },
}
const channel: ChannelCapability = {
  multiUse: false, minAmountIdr: null, maxAmountIdr: null, refund: 'partial', canExpire: true, canFindByKey: true, longestExpirySeconds: null,
}
const jakarta = '+07:00'

/** An adapter of the shape that Midtrans asks for: outcomes and signatures in the body, our key as order_id, "amount.00", Jakarta's time without a zone. */
export class MidtransLike implements PaymentProvider {
  readonly name = 'midtrans-like'
  readonly capabilities = { qris: channel, va_bank_b: { ...channel, refund: 'none' as const, longestExpirySeconds: 15_552_000 }, ewallet_wallet_a: channel }
  readonly callbackHeaders = ['content-type', 'user-agent']
  readonly #settings: Settings

  constructor(settings: Settings) {
    this.#settings = settings
  }

  async createCharge(request: ChargeRequest, withinMs?: number): Promise<CreateChargeResult> {
    const minutes = request.expiresAt && Math.max(1, Math.floor((request.expiresAt.getTime() - this.#settings.runtime.now().getTime()) / 60_000))
    const answer = await this.#call('POST', '/v2/charge', {
      ...types[request.channel], transaction_details: { order_id: request.key, gross_amount: request.amountIdr },
      ...(minutes !== null && { custom_expiry: { expiry_duration: minutes, unit: 'minute' } }), custom_field1: request.merchantReference,
    }, { 'x-override-notification': request.callbackUrl }, withinMs)
    if ('outcome' in answer) return answer
    const code = codeOf(answer)
    if (code === '201' || code === '200') {
      const charge = this.#charge(answer.json)
      return charge?.key === request.key ? { outcome: 'charged', charge } : open(answer)
    }
    // The key was used: by us, in a try without an answer.
    if (code === '406') {
      const found = await this.findCharge({ key: request.key, reference: null, channel: request.channel }, withinMs)
      return found.outcome === 'found' ? { outcome: 'charged', charge: found.charge } : found.outcome === 'absent' ? open(answer) : found
    }
    return this.#declined(answer, ['202', '400', '410', '411', '412']) ?? open(answer)
  }

  async findCharge({ key }: ChargeIdentity, withinMs?: number): Promise<FindChargeResult> {
    const answer = await this.#call('GET', `/v2/${key}/status`, undefined, {}, withinMs)
    if ('outcome' in answer) return answer
    if (codeOf(answer) === '404') return { outcome: 'absent' }
    const charge = this.#charge(answer.json)
    return charge?.key === key ? { outcome: 'found', charge } : open(answer)
  }

  async expireCharge(identity: KnownCharge): Promise<ExpireChargeResult> {
    const answer = await this.#call('POST', `/v2/${identity.key}/expire`)
    if ('outcome' in answer) return answer
    const code = codeOf(answer)
    if (code === '404') return { outcome: 'absent' }
    // 407: it is expired now. 412: it has ended otherwise. Neither says enough.
    if (code !== '407' && code !== '412') return open(answer)
    const found = await this.findCharge(identity)
    return found.outcome === 'found' ? { outcome: 'ended', charge: found.charge } : found
  }

  async refund(request: RefundRequest): Promise<RefundResult> {
    const reason = request.note === null ? request.reason : `${request.reason}: ${request.note}`.slice(0, 255)
    const answer = await this.#call('POST', `/v2/${request.charge.key}/refund/online/direct`, { refund_key: request.key, amount: request.amountIdr, reason })
    if ('outcome' in answer) return answer
    const code = codeOf(answer)
    // The answer says that it was taken, or that the key was used: the status says how the refund under it stands.
    if (code === '200' || code === '406') {
      const found = await this.findRefund({ key: request.key, reference: null, charge: request.charge })
      return found.outcome === 'absent' ? open(answer) : found
    }
    return this.#declined(answer, ['400', '412', '414']) ?? open(answer)
  }

  /** There is no question about a refund alone: each stands beside its transaction. */
  async findRefund({ key, charge }: RefundIdentity): Promise<FindRefundResult> {
    const answer = await this.#call('GET', `/v2/${charge.key}/status`)
    if ('outcome' in answer) return answer
    if (codeOf(answer) === '404') return { outcome: 'absent' }
    const transaction = read(answer.json)
    if (transaction?.key !== charge.key) return open(answer)
    const refund = refundsIn(transaction.json).find((one) => one.key === key)
    if (refund === undefined) return { outcome: 'absent' }
    return { outcome: refund.completedAt === null ? 'pending' : 'succeeded', refund }
  }

  verifyCallback({ rawBody }: ReceivedCallback, secret: string): CallbackVerdict {
    const json = parseJson(Buffer.from(rawBody).toString())
    const signature = isObject(json) ? json.signature_key : null
    if (!isObject(json) || typeof signature !== 'string' || !/^[0-9a-f]{128}$/.test(signature)) return { verified: false, reason: 'malformed' }
    const signed = createHash('sha512').update(`${String(json.order_id)}${String(json.status_code)}${String(json.gross_amount)}${secret}`).digest()
    return timingSafeEqual(signed, Buffer.from(signature, 'hex')) ? { verified: true } : { verified: false, reason: 'mismatch' }
  }

  parseCallback(rawBody: Uint8Array): CallbackReading {
    const transaction = read(parseJson(Buffer.from(rawBody).toString()))
    if (transaction === null) return { outcome: 'unintelligible', reason: 'not a notice about a transaction' }
    const { json, code, key, reference, status, currency, amountIdr, payment } = transaction
    const told = String(json.transaction_status)
    const refund = told.endsWith('refund') ? refundsIn(json).at(-1) : undefined
    // Of two notices of a refund the second has the bank's word.
    if (refund !== undefined) {
      const state = refund.completedAt === null ? 'pending' : 'succeeded'
      return { outcome: 'refund', callback: { ...refund, eventId: eventIdOf('refund', refund.reference, state), status: state, currency, decline: null } }
    }
    const [account] = Array.isArray(json.va_numbers) ? json.va_numbers.filter(isObject) : []
    return {
      outcome: 'charge', callback: {
        eventId: eventIdOf(reference, told, code), key, reference, merchantReference: isText(json.custom_field1) ? json.custom_field1 : null,
        paymentReference: payment?.reference ?? null, status, currency, amountIdr, completedAt: payment?.completedAt ?? null,
        decline: this.#failure(json, status),
        payer: isText(json.issuer) || isText(account?.bank) ? {
          issuer: isText(json.issuer) ? json.issuer : null, bankCode: isText(account?.bank) ? account.bank : null, accountNumber: null, accountName: null,
        } : null,
      },
    }
  }

  #charge(json: unknown): Charge | null {
    const transaction = read(json)
    if (transaction === null) return null
    const { key, reference, status, currency, amountIdr, payment, json: said } = transaction
    const [account] = Array.isArray(said.va_numbers) ? said.va_numbers.filter(isObject) : []
    return {
      key, reference, status, currency, amountIdr, decline: this.#failure(said, status), payments: payment === null ? [] : [payment],
      fields: {
        ...(isText(said.qr_string) && { qr_string: said.qr_string }),
        ...(isText(account?.va_number) && isText(account.bank) && { va_number: account.va_number, va_bank: account.bank }),
      },
    }
  }

  #failure(json: Json, status: ChargeStatus): Decline | null {
    if (status !== 'failed') return null
    const { channel_response_code: code = json.status_code, channel_response_message: message = json.status_message } = json
    return { provider: this.name, code: String(code), message: String(message) }
  }

  #declined(answer: ProviderAnswer, final: readonly string[]): { outcome: 'declined', decline: Decline } | null {
    const code = codeOf(answer)
    if (code === null || !final.includes(code) || !isObject(answer.json) || !isText(answer.json.status_message)) return null
    return { outcome: 'declined', decline: { provider: this.name, code, message: answer.json.status_message } }
  }

  #call(method: 'GET' | 'POST', path: string, body?: Json, headers: Record<string, string> = {}, withinMs?: number): Promise<ProviderAnswer | Unsettled> {
    const { url, serverKey } = this.#settings
    const authorization = `Basic ${Buffer.from(`${serverKey}:`).toString('base64')}`
    return callProvider(this.#settings, { method, url: url + path, headers: { ...headers, authorization }, body }, withinMs)
  }
}

function read(json: unknown): Transaction | null {
  if (!isObject(json)) return null
  const { order_id: key, transaction_id: reference, status_code: code, currency = 'IDR' } = json
  const amountIdr = rupiah(json.gross_amount)
  const completedAt = time(json.settlement_time)
  const status = statusOf(json, completedAt !== null)
  if (!isText(key) || !isText(reference) || !isText(code) || !isText(currency) || amountIdr === null || status === null) return null
  if ((status === 'paid' || status === 'reversed') && completedAt === null) return null
  const payment = completedAt === null ? null : { reference, amountIdr, completedAt, reversed: status === 'reversed' }
  return { json, code, key, reference, status, currency, amountIdr, payment }
}

/** A bank may deny what it has settled: that is money taken back. What a fraud check holds is not paid yet. */
function statusOf({ transaction_status: status, fraud_status: fraud = 'accept', status_code: code }: Json, isSettled: boolean): ChargeStatus | null {
  switch (status) {
    case 'settlement': case 'capture': return fraud === 'accept' && code === '200' ? 'paid' : 'pending'
    case 'refund': case 'partial_refund': return 'paid'
    case 'pending': return 'pending'
    case 'deny': return isSettled ? 'reversed' : 'failed'
    case 'chargeback': case 'partial_chargeback': return 'reversed'
    case 'expire': case 'cancel': return 'expired'
    default: return null
  }
}

function refundsIn({ refunds }: Json): { reference: string, key: string, amountIdr: number, completedAt: Date | null }[] {
  const listed = Array.isArray(refunds) ? refunds.filter(isObject) : []
  return listed.flatMap(({ refund_chargeback_id: id, refund_key: key, refund_amount: amount, bank_confirmed_at: confirmed }) => {
    const amountIdr = rupiah(amount)
    return isText(key) && amountIdr !== null ? [{ reference: String(id), key, amountIdr, completedAt: time(confirmed) }] : []
  })
}

/** "275000.00" as 275000; null for what is no whole rupiah. */
function rupiah(value: unknown): number | null {
  return typeof value === 'string' && /^[1-9]\d{0,11}\.00$/.test(value) ? Number(value.slice(0, -3)) : null
}

function time(value: unknown): Date | null {
  return typeof value === 'string' ? readTime(`${value.replace(' ', 'T')}${jakarta}`) : null
}

/** The outcome as the body says it; where there is no such member, nothing came from the provider's own program. */
function codeOf({ json }: ProviderAnswer): string | null {
  return isObject(json) && isText(json.status_code) ? json.status_code : null
}

/** 401 and 402 in the body: a wrong key, or a channel that is not switched on for us. */
function open(answer: ProviderAnswer): Unsettled {
  const code = codeOf(answer)
  if (code === '401' || code === '402') return { outcome: 'misconfigured', reason: `status ${answer.status} ${code}` }
  return unsettled({ ...answer, status: code === '429' ? 429 : answer.status }, code)
}
