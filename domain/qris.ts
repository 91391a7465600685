/** Merchant criteria of the national standard: size class or purpose of the merchant. */
export const qrisCriteria = ['UMI', 'UKE', 'UME', 'UBE', 'URE', 'PSO', 'BLU'] as const
export type QrisCriteria = (typeof qrisCriteria)[number]

export interface QrisDetails {
  /** static: any number of payments, the payer enters the amount; dynamic: one payment of `amountIdr`. */
  readonly kind: 'static' | 'dynamic'
  /** Whole rupiah; of a static code it is ignored, as its amount is open (decision 3.5). */
  readonly amountIdr: number
  /** The acquirer's domain, reversed, at most 32 characters. */
  readonly acquirer: string
  /** 16 to 19 digits, the last one their Luhn digit. */
  readonly merchantPan: string
  /** The acquirer's own id of the merchant, at most 15 characters. */
  readonly merchantId: string
  /** National merchant id, at most 15 characters. */
  readonly nmid: string
  readonly criteria: QrisCriteria
  /** Merchant category code, four digits. */
  readonly mcc: string
  readonly merchantName: string
  readonly merchantCity: string
  readonly postalCode: string
  /** Told back with the payment (tag 62, 05), at most 25 characters. */
  readonly reference?: string
  /** Terminal label (tag 62, 07), at most 25 characters. */
  readonly terminal?: string
}

export interface ParsedQris {
  readonly kind: 'static' | 'dynamic'
  readonly amountIdr: number | null
  readonly merchantName: string
  readonly merchantCity: string
  readonly reference: string | null
  /** Every top-level tag with its value. */
  readonly tags: ReadonlyMap<string, string>
}

/** A payload that can't be built from the details given, or that does not parse. */
export class QrisError extends Error {
  override readonly name = 'QrisError'
}

/**
 * A QRIS payload after EMVCo's merchant-presented specification: static (tag 01 = 11, no amount) or dynamic
 * (12, amount in tag 54), with its CRC. Throws a QrisError naming the first detail that the standard doesn't allow.
 */
export function buildQris(details: QrisDetails): string {
  const dynamic = details.kind === 'dynamic'
  const additional = [
    details.reference === undefined ? '' : field('05', plain('reference', details.reference, 25)),
    details.terminal === undefined ? '' : field('07', plain('terminal', details.terminal, 25)),
  ].join('')
  const payload = [
    field('00', '01'),
    field('01', dynamic ? '12' : '11'),
    field('26', [
      field('00', plain('acquirer', details.acquirer, 32)),
      field('01', pan(details.merchantPan)),
      field('02', plain('merchantId', details.merchantId, 15)),
      field('03', criteria(details.criteria)),
    ].join('')),
    field('51', [
      field('00', 'ID.CO.QRIS.WWW'),
      field('02', plain('nmid', details.nmid, 15)),
      field('03', criteria(details.criteria)),
    ].join('')),
    field('52', digits('mcc', details.mcc, 4, 4)),
    field('53', '360'),
    dynamic ? field('54', amount(details.amountIdr)) : '',
    field('58', 'ID'),
    field('59', folded('merchantName', details.merchantName, 25)),
    field('60', folded('merchantCity', details.merchantCity, 15)),
    field('61', digits('postalCode', details.postalCode, 1, 10)),
    additional === '' ? '' : field('62', additional),
    '6304',
  ].join('')
  return payload + crc16(payload)
}

/**
 * Reads a payload by tag, in whatever order they stand, and checks its CRC. Throws a QrisError on anything that the
 * standard doesn't allow: a length past the end, a tag twice, a missing tag, a wrong CRC, an amount with sen.
 */
export function parseQris(payload: string): ParsedQris {
  const end = payload.length - 8
  if (end < 0 || payload.slice(end, end + 4) !== '6304') throw new QrisError('tag 63 is not the last one')
  if (payload.slice(-4) !== crc16(payload.slice(0, -4))) throw new QrisError('the CRC does not match')
  const tags = parseFields(payload)
  if (!payload.startsWith('000201')) throw new QrisError('tag 00 is not first, or not 01')
  const kind = tags.get('01') === '11' ? 'static' : tags.get('01') === '12' ? 'dynamic' : null
  if (kind === null) throw new QrisError('tag 01 is neither 11 nor 12')
  if (required(tags, '53') !== '360') throw new QrisError('tag 53 is not rupiah')
  if (required(tags, '58') !== 'ID') throw new QrisError('tag 58 is not Indonesia')
  required(tags, '52')
  const written = tags.get('54')
  if (kind === 'dynamic' && written === undefined) throw new QrisError('a dynamic code has no amount')
  return {
    kind,
    amountIdr: written === undefined ? null : parseAmount(written),
    merchantName: required(tags, '59'),
    merchantCity: required(tags, '60'),
    reference: parseFields(tags.get('62') ?? '').get('05') ?? null,
    tags,
  }
}

/** The fields of a template or a whole payload by tag. Throws a QrisError when lengths don't add up. */
export function parseFields(text: string): Map<string, string> {
  const fields = new Map<string, string>()
  for (let at = 0; at < text.length;) {
    const head = /^(\d\d)(\d\d)$/.exec(text.slice(at, at + 4))
    const tag = head?.[1]
    if (tag === undefined) throw new QrisError(`no tag and length at ${at}`)
    const value = text.slice(at + 4, at + 4 + Number(head?.[2]))
    if (value.length !== Number(head?.[2])) throw new QrisError(`tag ${tag} runs past the end`)
    if (fields.has(tag)) throw new QrisError(`tag ${tag} stands twice`)
    fields.set(tag, value)
    at += 4 + value.length
  }
  return fields
}

/** CRC-16/CCITT-FALSE (polynomial 0x1021, start 0xFFFF) over the bytes, as four upper-case hexadecimal digits. */
export function crc16(text: string): string {
  let crc = 0xffff
  for (const byte of Buffer.from(text)) {
    crc ^= byte << 8
    for (let bit = 0; bit < 8; bit += 1) crc = (crc & 0x8000) === 0 ? crc << 1 : (crc << 1) ^ 0x1021
    crc &= 0xffff
  }
  return crc.toString(16).toUpperCase().padStart(4, '0')
}

/** The digit that makes `body` followed by it pass the Luhn check (ISO/IEC 7812). */
export function luhnDigit(body: string): string {
  let sum = 0
  for (let place = 0; place < body.length; place += 1) {
    const digit = Number(body[body.length - 1 - place])
    const weighted = place % 2 === 0 ? digit * 2 : digit
    sum += weighted > 9 ? weighted - 9 : weighted
  }
  return String((10 - (sum % 10)) % 10)
}

/** Upper-case ASCII of a name: accents dropped, what has no ASCII form left out. May be empty. */
export function foldName(name: string): string {
  return name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[ØøŁłĐđÆæŒœÞþ’‘“”–—]/g, (letter) => foldings[letter] ?? '')
    .toUpperCase()
    .replace(/[^\x20-\x7e]+/g, ' ')
    .replace(/ +/g, ' ')
    .trim()
}

// Letters that Unicode does not decompose, and the marks of print.
const foldings: Record<string, string> = {
  Ø: 'O', ø: 'O', Ł: 'L', ł: 'L', Đ: 'D', đ: 'D', Æ: 'AE', æ: 'AE', Œ: 'OE', œ: 'OE', Þ: 'TH', þ: 'TH',
  '’': "'", '‘': "'", '“': '"', '”': '"', '–': '-', '—': '-',
}

function field(tag: string, value: string): string {
  return tag + String(value.length).padStart(2, '0') + value
}

function plain(name: string, value: string, longest: number): string {
  if (value.length < 1 || value.length > longest || !/^[\x20-\x7e]+$/.test(value)) {
    throw new QrisError(`${name} must be 1 to ${longest} printable ASCII characters`)
  }
  return value
}

function digits(name: string, value: string, shortest: number, longest: number): string {
  if (!/^\d+$/.test(value) || value.length < shortest || value.length > longest) {
    throw new QrisError(`${name} must be ${shortest} to ${longest} digits`)
  }
  return value
}

function pan(value: string): string {
  digits('merchantPan', value, 16, 19)
  if (luhnDigit(value.slice(0, -1)) !== value.slice(-1)) throw new QrisError('merchantPan fails the Luhn check')
  return value
}

function criteria(value: QrisCriteria): string {
  if (!qrisCriteria.includes(value)) throw new QrisError(`criteria must be one of ${qrisCriteria.join(', ')}`)
  return value
}

function amount(value: number): string {
  if (!Number.isSafeInteger(value) || value < 1 || value > 9_999_999_999_999) {
    throw new QrisError('amountIdr must be whole rupiah of at most 13 digits')
  }
  return String(value)
}

function folded(name: string, value: string, longest: number): string {
  const text = foldName(value).slice(0, longest).trimEnd()
  if (text === '') throw new QrisError(`${name} has no character that QRIS can carry`)
  return text
}

function parseAmount(written: string): number {
  const whole = /^(\d{1,13})(?:\.0{0,2})?$/.exec(written)?.[1]
  if (whole === undefined || written.length > 13 || Number(whole) === 0) {
    throw new QrisError('tag 54 is not an amount in whole rupiah')
  }
  return Number(whole)
}

function required(tags: ReadonlyMap<string, string>, tag: string): string {
  const value = tags.get(tag)
  if (value === undefined || value === '') throw new QrisError(`tag ${tag} is missing`)
  return value
}
