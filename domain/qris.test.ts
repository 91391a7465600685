import { describe, expect, test } from 'vitest'
import { crc16ccitt } from 'crc'
import { buildQris, crc16, foldName, luhnDigit, parseFields, parseQris, QrisError } from './qris.ts'
import type { QrisDetails } from './qris.ts'

interface ForeignCode { rawData(): string; validate(): boolean; generatePayload(): string }
// The package carries no types.
const packageName: string = 'steplix-emv-qrcps'
const foreign = (await import(packageName)).default as { Merchant: { Parser: { toEMVQR(text: string): ForeignCode } } }

/** What the other library reads: each tag of a payload with its value, those of templates behind their own tag. */
function readByAnother(payload: string): Record<string, string> {
  const code = foreign.Merchant.Parser.toEMVQR(payload)
  expect(code.validate()).toBe(true)
  const read: Record<string, string> = {}
  let template = ''
  for (const line of code.rawData().split('\n').filter((text) => text !== '')) {
    const [, inner, tag, , value] = /^( ?)(\d\d) (\d\d) ?(.*)$/.exec(line) ?? []
    if (tag === undefined || value === undefined) throw new Error(`unreadable line: ${line}`)
    if (inner === '') template = tag
    read[inner === '' ? tag : `${template}.${tag}`] = value
  }
  return read
}

const staticVector = '00020101021126670017ID.CO.EXAMPLE.WWW011993600999000000000100212EX00000000010303UMI51440014'
  + 'ID.CO.QRIS.WWW0215ID12345678901230303UMI5204541153033605802ID5913WARUNG CONTOH6007JAKARTA6105101106304C76B'
const dynamicVector = '00020101021226670017ID.CO.EXAMPLE.WWW011993600999000000000100212EX00000000010303UMI51440014'
  + 'ID.CO.QRIS.WWW0215ID12345678901230303UMI5204541153033605405250005802ID5913WARUNG CONTOH6007JAKARTA610510110'
  + '62180507INV00010703A0163042CCB'

const details: QrisDetails = {
  kind: 'static',
  amountIdr: 25_000,
  acquirer: 'ID.CO.EXAMPLE.WWW',
  merchantPan: '9360099900000000010',
  merchantId: 'EX0000000001',
  nmid: 'ID1234567890123',
  criteria: 'UMI',
  mcc: '5411',
  merchantName: 'Warung Contoh',
  merchantCity: 'Jakarta',
  postalCode: '10110',
}
const dynamic: QrisDetails = { ...details, kind: 'dynamic', reference: 'INV0001' }

function resigned(body: string): string {
  const text = `${body}6304`
  return text + crc16ccitt(text).toString(16).toUpperCase().padStart(4, '0')
}

describe('buildQris', () => {
  test('gives the known static and dynamic payloads to the byte', () => {
    expect(buildQris(details)).toBe(staticVector)
    expect(buildQris({ ...dynamic, terminal: 'A01' })).toBe(dynamicVector)
  })

  test('is read by another library field by field, and its CRC is what another one computes', () => {
    for (let round = 0; round < 300; round += 1) {
      const amountIdr = 1 + ((round * 7_919_317) % 10_000_000)
      const reference = `R${round.toString(36)}`
      const made = buildQris({ ...dynamic, amountIdr, reference })
      expect(readByAnother(made)).toEqual({
        '00': '01', '01': '12',
        '26': '', '26.00': 'ID.CO.EXAMPLE.WWW', '26.01': details.merchantPan,
        '26.02': details.merchantId, '26.03': 'UMI',
        '51': '', '51.00': 'ID.CO.QRIS.WWW', '51.02': details.nmid, '51.03': 'UMI',
        '52': '5411', '53': '360', '54': String(amountIdr), '58': 'ID',
        '59': 'WARUNG CONTOH', '60': 'JAKARTA', '61': '10110', '62': '', '62.05': reference, '63': made.slice(-4),
      })
      expect(parseInt(made.slice(-4), 16)).toBe(crc16ccitt(made.slice(0, -4)))
    }
  })

  test('a static code carries no amount', () => {
    const read = readByAnother(buildQris(details))
    expect(read['01']).toBe('11')
    expect(read).not.toHaveProperty('54')
  })

  test('names are folded to ASCII capitals and cut to 25 and 15 without a trailing space', () => {
    const read = parseQris(buildQris({
      ...details,
      merchantName: 'Kafé “Ørsted”  & Œuvre–Toko Serba Ada',
      merchantCity: 'Kota Tangerang Selatan',
    }))
    expect(read.merchantName).toBe('KAFE "ORSTED" & OEUVRE-TO')
    expect(read.merchantCity).toBe('KOTA TANGERANG')
    expect(foldName('Straße № 5 ½')).toBe('STRASSE NO 5 1 2')
  })

  test('the longest possible payload stays under 512 characters', () => {
    const longest = buildQris({
      kind: 'dynamic', amountIdr: 9_999_999_999_999, acquirer: 'A'.repeat(32),
      merchantPan: `936009990000000001${luhnDigit('936009990000000001')}`,
      merchantId: 'M'.repeat(15), nmid: 'N'.repeat(15), criteria: 'URE', mcc: '5999',
      merchantName: 'N'.repeat(80), merchantCity: 'C'.repeat(80), postalCode: '1234567890',
      reference: 'R'.repeat(25), terminal: 'T'.repeat(25),
    })
    expect(longest.length).toBeLessThan(512)
    expect(parseQris(longest).amountIdr).toBe(9_999_999_999_999)
  })

  test.each([
    ['a name without any ASCII form', { merchantName: '商店' }, 'merchantName'],
    ['a PAN with a wrong check digit', { merchantPan: '9360099900000000011' }, 'Luhn'],
    ['a PAN that is no number', { merchantPan: '93600999000000000x' }, 'merchantPan'],
    ['an id that is too long', { merchantId: 'M'.repeat(16) }, 'merchantId'],
    ['a reference that is too long', { reference: 'R'.repeat(26) }, 'reference'],
    ['a reference outside ASCII', { reference: 'é' }, 'reference'],
    ['three digits of category', { mcc: '541' }, 'mcc'],
    ['an unknown criteria', { criteria: 'XXX' as never }, 'criteria'],
    ['amount zero', { kind: 'dynamic', amountIdr: 0 }, 'amountIdr'],
    ['a fraction of a rupiah', { kind: 'dynamic', amountIdr: 1.5 }, 'amountIdr'],
    ['fourteen digits of rupiah', { kind: 'dynamic', amountIdr: 10_000_000_000_000 }, 'amountIdr'],
  ] as const)('refuses %s', (_case, change, named) => {
    expect(() => buildQris({ ...details, ...change })).toThrow(QrisError)
    expect(() => buildQris({ ...details, ...change })).toThrow(named)
  })
})

describe('parseQris', () => {
  test('reads the known payloads', () => {
    const known = parseQris(staticVector)
    expect(known).toMatchObject({ kind: 'static', amountIdr: null, merchantName: 'WARUNG CONTOH', reference: null })
    expect(parseQris(dynamicVector)).toMatchObject({ kind: 'dynamic', amountIdr: 25_000, reference: 'INV0001' })
    expect(parseFields(parseQris(dynamicVector).tags.get('26') ?? '').get('01')).toBe('9360099900000000010')
  })

  test('does not depend on the order of tags, and takes an amount with two decimals', () => {
    const moved = resigned(dynamicVector.slice(0, -8).replace('540525000', '').replace('6218', '540825000.006218'))
    expect(parseQris(moved).amountIdr).toBe(25_000)
  })

  test('refuses every payload in which one character is changed', () => {
    for (let at = 0; at < dynamicVector.length; at += 1) {
      const other = dynamicVector[at] === '7' ? '8' : '7'
      expect(() => parseQris(dynamicVector.slice(0, at) + other + dynamicVector.slice(at + 1))).toThrow(QrisError)
    }
  })

  test.each([
    ['nothing', ''],
    ['a length past the end', resigned(`${staticVector.slice(0, -8)}6199`)],
    ['a tag that stands twice', resigned(`${staticVector.slice(0, -8)}5802ID`)],
    ['another currency', resigned(staticVector.slice(0, -8).replace('5303360', '5303840'))],
    ['a dynamic code without amount', resigned(staticVector.slice(0, -8).replace('010211', '010212'))],
    ['an amount with sen', resigned(dynamicVector.slice(0, -8).replace('540525000', '5405250.5'))],
    ['an amount of zero', resigned(dynamicVector.slice(0, -8).replace('540525000', '540500000'))],
  ])('refuses %s', (_case, text) => {
    expect(() => parseQris(text)).toThrow(QrisError)
  })

  test('the CRC agrees with the published check value of CRC-16/CCITT-FALSE', () => {
    expect(crc16('123456789')).toBe('29B1')
  })
})
