import { createHash } from 'node:crypto'
import { channelOf, isChannelCode } from '../../domain/channels.ts'
import type { ChannelCode } from '../../domain/channels.ts'
import { qrisCriteria } from '../../domain/qris.ts'
import type { QrisCriteria } from '../../domain/qris.ts'
import { isObject, readTime } from '../readJson.ts'
import { Refusal } from './exchange.ts'

/** A charge as asked for, checked. */
export interface AcceptedRequest {
  readonly key: string
  readonly channel: ChannelCode
  readonly amountIdr: number
  readonly multiUse: boolean
  readonly expiresAt: Date | null
  readonly description: string | null
  readonly merchantReference: string | null
  readonly merchant: {
    readonly id: string
    readonly name: string
    readonly city: string
    readonly postalCode: string
    readonly mcc: string
    readonly nmid: string | null
    readonly criteria: QrisCriteria | null
  }
  readonly callbackUrl: string | null
  readonly returnUrl: string | null
}

/** Reads the body of a creation. Throws a Refusal (400) naming the first member that is wrong. */
export function readRequest(body: unknown): AcceptedRequest {
  if (!isObject(body)) throw invalid('the body must be a JSON object')
  const { channel, amount_idr: amountIdr, multi_use: multiUse, merchant } = body
  if (!isChannelCode(channel) || !channelOf(channel).needs_provider) throw invalid('channel is not one of ours')
  if (body.currency !== 'IDR') throw invalid('currency must be IDR')
  if (!Number.isSafeInteger(amountIdr) || Number(amountIdr) < 1 || Number(amountIdr) > 999_999_999_999) {
    throw invalid('amount_idr must be an integer from 1 to 999999999999')
  }
  if (typeof multiUse !== 'boolean') throw invalid('multi_use must be true or false')
  if (multiUse && !channelOf(channel).standing_attempt) throw invalid('the channel takes no multi_use charge')
  if (!isObject(merchant)) throw invalid('merchant must be an object')
  return {
    key: readKey(body),
    channel,
    amountIdr: Number(amountIdr),
    multiUse,
    expiresAt: time(body, 'expires_at'),
    description: optionalText(body, 'description', 1000),
    merchantReference: optionalText(body, 'merchant_reference', 255),
    merchant: {
      id: text(merchant, 'id', 100),
      name: text(merchant, 'name', 255),
      city: text(merchant, 'city', 255),
      postalCode: pattern(merchant, 'postal_code', /^\d{5}$/, 'five digits'),
      mcc: pattern(merchant, 'mcc', /^\d{4}$/, 'four digits'),
      nmid: merchant.nmid === null ? null : pattern(merchant, 'nmid', /^ID\d{8,13}$/, 'ID and 8 to 13 digits'),
      criteria: criteria(merchant.qris_criteria),
    },
    callbackUrl: callbackAddress(body),
    returnUrl: url(body, 'return_url', /^(?!javascript:|data:)[a-z][a-z0-9+.-]*:$/),
  }
}

/** The key of a request: visible ASCII of 1 to 100 characters. */
export function readKey(body: Record<string, unknown>): string {
  const key = text(body, 'key', 100)
  if (!/^[\x21-\x7e]+$/.test(key)) throw invalid('key must be visible ASCII')
  return key
}

/** Where the request wants its callbacks; null: where the simulator sends them otherwise. */
export function callbackAddress(body: Record<string, unknown>): string | null {
  return url(body, 'callback_url', /^https?:$/)
}

/** The same for two requests exactly when everything we read in them is the same. */
export function fingerprintOf(request: AcceptedRequest): string {
  return createHash('sha256').update(JSON.stringify(request)).digest('hex')
}

export function invalid(message: string): Refusal {
  return new Refusal(400, 'invalid_request', message)
}

/** A member that must be text of 1 to `longest` characters. */
export function text(from: Record<string, unknown>, name: string, longest: number): string {
  const value = from[name]
  if (typeof value !== 'string' || value === '' || value.length > longest) {
    throw invalid(`${name} must be text of 1 to ${longest} characters`)
  }
  return value
}

/** The same, where null and absence stand for none. */
export function optionalText(from: Record<string, unknown>, name: string, longest: number): string | null {
  return from[name] === null || from[name] === undefined ? null : text(from, name, longest)
}

/** A member that must be an integer of the range; `otherwise` where it is absent. */
export function integer(
  from: Record<string, unknown>, name: string, range: readonly [number, number], otherwise: number,
): number {
  const value = from[name] ?? otherwise
  if (!Number.isSafeInteger(value) || Number(value) < range[0] || Number(value) > range[1]) {
    throw invalid(`${name} must be an integer from ${range[0]} to ${range[1]}`)
  }
  return Number(value)
}

/** A member that must be true or false; false where it is absent. */
export function flag(from: Readonly<Record<string, unknown>>, name: string): boolean {
  const value = from[name] ?? false
  if (typeof value !== 'boolean') throw invalid(`${name} must be true or false`)
  return value
}

/** A member that must be a time in RFC 3339; null where it is null or absent. */
export function time(from: Record<string, unknown>, name: string): Date | null {
  if (from[name] === null || from[name] === undefined) return null
  const read = readTime(from[name])
  if (read === null) throw invalid(`${name} must be a time in RFC 3339`)
  return read
}

function pattern(from: Record<string, unknown>, name: string, form: RegExp, words: string): string {
  const value = text(from, name, 100)
  if (!form.test(value)) throw invalid(`${name} must be ${words}`)
  return value
}

function criteria(value: unknown): QrisCriteria | null {
  if (value === null || value === undefined) return null
  const known = qrisCriteria.find((name) => name === value)
  if (known === undefined) throw invalid(`qris_criteria must be one of ${qrisCriteria.join(', ')}`)
  return known
}

function url(from: Record<string, unknown>, name: string, protocols: RegExp): string | null {
  const value = optionalText(from, name, 2048)
  if (value === null) return null
  const parsed = URL.parse(value)
  if (parsed === null || !protocols.test(parsed.protocol)) throw invalid(`${name} must be an absolute URL`)
  return parsed.href
}
