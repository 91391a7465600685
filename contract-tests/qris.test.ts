import { crc16ccitt } from 'crc'
import { describe, expect, test } from 'vitest'
import { channelCodes, channelOf } from '../domain/channels.ts'
import type { ChannelCode } from '../domain/channels.ts'
import { startPayments } from './harness/payments.ts'

interface ForeignCode { rawData(): string, validate(): boolean }
// The package carries no types.
const packageName: string = 'steplix-emv-qrcps'
const foreign = (await import(packageName)).default as { Merchant: { Parser: { toEMVQR(text: string): ForeignCode } } }

const bench = await startPayments()
const merchant = await bench.given.merchant()
const as = await bench.given.apiKey(merchant)
const amount = 123_456
const typedMembers = ['qr_string', 'va_number', 'va_bank', 'expires_at', 'redirect_url', 'payment_url', 'payment_code', 'challenge_url']
/** What a payer or another program makes of a member; nothing in it is the simulator's own form. */
const forms: Record<string, RegExp> = {
  qr_string: /^000201[\x20-\x7e]+6304[0-9A-F]{4}$/, va_number: /^\d{8,20}$/, va_bank: /^[a-z][a-z0-9_]*$/,
  expires_at: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/, redirect_url: /^https?:\/\/\S+$/, payment_url: /^https?:\/\/\S+$/,
  payment_code: /^[0-9A-Z]{6,32}$/, challenge_url: /^https?:\/\/\S+$/,
}

async function create(code: ChannelCode, maxUses = 1): Promise<Record<string, unknown>> {
  const body = { amount_idr: amount, max_uses: maxUses, ...(code === 'cash' ? { channel: code } : { allowed_channels: [code] }) }
  const answer = await bench.call('createPaymentIntent', { as, body })
  expect(answer.status, JSON.stringify(answer.body)).toBe(201)
  return answer.body
}

/** Each tag of a payload with its value as another library reads them, those of templates behind their own tag. */
function readByAnother(payload: string): Record<string, string> {
  const code = foreign.Merchant.Parser.toEMVQR(payload)
  expect(code.validate()).toBe(true)
  const read: Record<string, string> = {}
  let template = ''
  for (const line of code.rawData().split('\n').filter((text) => text !== '')) {
    const [, inner, tag, length, value] = /^( ?)(\d\d) (\d\d) ?(.*)$/.exec(line) ?? []
    if (tag === undefined || value === undefined) throw new Error(`unreadable line: ${line}`)
    if (inner === '') template = tag
    // A template's own line carries no value.
    if (value !== '') expect(value).toHaveLength(Number(length))
    read[inner === '' ? tag : `${template}.${tag}`] = value
  }
  return read
}

function readChecked(payload: string): Record<string, string> {
  expect(payload.length).toBeLessThan(512)
  expect(payload.slice(-4)).toBe(crc16ccitt(payload.slice(0, -4)).toString(16).toUpperCase().padStart(4, '0'))
  return readByAnother(payload)
}

const ofMerchant = {
  '00': '01', '51.00': 'ID.CO.QRIS.WWW', '51.02': 'ID1234567890123', '52': '5411', '53': '360', '58': 'ID',
  '59': 'WARUNG CONTOH', '60': 'JAKARTA', '61': '10110',
}

describe('the payload of a QRIS intent, read by another library', () => {
  test('is dynamic for one use: its amount, its merchant, its CRC', async () => {
    const { qr_string: payload } = await create('qris')
    expect(readChecked(String(payload))).toMatchObject({ ...ofMerchant, '01': '12', '54': String(amount) })
  })

  test.each([0, 5])('is static for max_uses %i: no amount, its merchant, its CRC', async (maxUses) => {
    const { qr_string: payload } = await create('qris', maxUses)
    const read = readChecked(String(payload))
    expect(read).toMatchObject({ ...ofMerchant, '01': '11' })
    expect(read).not.toHaveProperty('54')
  })

  test('has a PAN whose last digit is its Luhn digit', async () => {
    const { qr_string: payload } = await create('qris')
    const pan = readChecked(String(payload))['26.01'] ?? ''
    const sum = [...pan].reverse().map((digit, place) => Number(digit) * (place % 2 === 0 ? 1 : 2)).reduce((total, value) => total + (value > 9 ? value - 9 : value), 0)
    expect([pan.length, sum % 10]).toEqual([19, 0])
  })

  test('tells two intents apart', async () => {
    const [first, second] = await Promise.all([create('qris'), create('qris')])
    expect(readChecked(String(first?.qr_string))['62.05']).not.toBe(readChecked(String(second?.qr_string))['62.05'])
  })
})

describe('an intent of one channel has the members of that channel and no other', () => {
  test.each(channelCodes)('%s', async (code) => {
    const intent = await create(code)
    const present = typedMembers.filter((name) => name in intent)
    expect(present.sort()).toEqual([...channelOf(code).typed_fields].sort())
    for (const name of present) expect(intent[name], name).toMatch(forms[name] as RegExp)
  })
})
