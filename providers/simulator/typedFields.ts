import { createHash } from 'node:crypto'
import { channelOf } from '../../domain/channels.ts'
import type { ChannelCode } from '../../domain/channels.ts'
import { buildQris, luhnDigit, QrisError } from '../../domain/qris.ts'
import type { ChargeFields } from '../paymentProvider.ts'
import type { AcceptedRequest } from './chargeRequest.ts'
import { Refusal } from './exchange.ts'

/** How the numbers of a bank's accounts and a store's codes look: company prefix and whole length in digits. */
const numberForms: Partial<Record<ChannelCode, { readonly prefix: string; readonly length: number }>> = {
  va_bank_a: { prefix: '38165', length: 13 },
  va_bank_b: { prefix: '8808', length: 12 },
  va_bank_c: { prefix: '92001', length: 18 },
  va_bank_d: { prefix: '88608', length: 13 },
  va_bank_e: { prefix: '7293', length: 12 },
  va_bank_f: { prefix: '9347', length: 12 },
  otc_store_a: { prefix: '7719', length: 14 },
  otc_store_b: { prefix: '8820', length: 16 },
}

/** Member number of the simulated acquirer within the national PAN numbering. */
const PAN_PREFIX = '93600999'

export interface FieldSource {
  readonly request: AcceptedRequest
  readonly reference: string
  readonly expiresAt: Date
  /** Where the payer reaches the simulator's own pages. */
  readonly publicUrl: string
  /** Whether a number of the channel is already someone else's. */
  readonly taken: (number: string) => boolean
}

/**
 * The members of a new charge that its channel produces. The numbers follow from the charge's key. Throws a Refusal
 * (400) where the merchant's details have no form in QRIS.
 */
export function typedFields(source: FieldSource): ChargeFields {
  const { request, reference, publicUrl } = source
  switch (channelOf(request.channel).kind) {
    case 'qris':
      return { qr_string: qrString(source) }
    case 'va':
      return {
        va_number: freeNumber(source),
        va_bank: request.channel.slice('va_'.length),
        expires_at: source.expiresAt.toISOString(),
      }
    case 'ewallet':
      return { redirect_url: `${publicUrl}/pages/${reference}` }
    case 'paylater':
      return { payment_url: `${publicUrl}/pages/${reference}` }
    case 'otc':
      return { payment_code: freeNumber(source) }
    case 'card':
      return { challenge: `3ds_${sha256(`challenge:${request.key}`).slice(0, 32)}` }
    case 'cash':
      throw new Refusal(400, 'invalid_request', 'cash passes no provider')
  }
}

/** The reference of the charge under `key`: 23 characters, so that it fits tag 62 of a QRIS payload. */
export function referenceOf(key: string): string {
  return `SIM${sha256(`charge:${key}`).slice(0, 20).toUpperCase()}`
}

/** The reference of the refund under `key`. */
export function refundReferenceOf(key: string): string {
  return `SIMR${sha256(`refund:${key}`).slice(0, 20).toUpperCase()}`
}

function qrString({ request, reference }: FieldSource): string {
  const { merchant } = request
  const pan = PAN_PREFIX + digits(`pan:${merchant.id}`, 10)
  try {
    return buildQris({
      kind: request.multiUse ? 'static' : 'dynamic',
      amountIdr: request.amountIdr,
      acquirer: 'ID.CO.SIMULATOR.WWW',
      merchantPan: pan + luhnDigit(pan),
      merchantId: `M${digits(`merchant:${merchant.id}`, 14)}`,
      nmid: merchant.nmid ?? `ID${digits(`nmid:${merchant.id}`, 13)}`,
      criteria: merchant.criteria ?? 'URE',
      mcc: merchant.mcc,
      merchantName: merchant.name,
      merchantCity: merchant.city,
      postalCode: merchant.postalCode,
      reference,
    })
  } catch (error) {
    if (error instanceof QrisError) throw new Refusal(400, 'merchant_unfit_for_qris', error.message)
    throw error
  }
}

function freeNumber({ request, taken }: FieldSource): string {
  const form = numberForms[request.channel]
  if (form === undefined) throw new Error(`no form of numbers for ${request.channel}`)
  for (let turn = 0; turn < 1000; turn += 1) {
    const number = form.prefix + digits(`${request.channel}:${request.key}:${turn}`, form.length - form.prefix.length)
    if (!taken(number)) return number
  }
  throw new Error(`no free number left for ${request.channel}`)
}

function digits(seed: string, count: number): string {
  return BigInt(`0x${sha256(seed)}`).toString().padStart(count, '0').slice(-count)
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
