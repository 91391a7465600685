import { createSign, createVerify, createHash, generateKeyPairSync, randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { MidtransLike } from './fit/midtransLike.ts'
import { recordedServer } from './fit/recordedServerBench.ts'
import type { RecordedAnswer } from './fit/recordedServerBench.ts'
import { XenditLike } from './fit/xenditLike.ts'
import type { ChargeRequest, KnownCharge, PaymentProvider, ReceivedCallback } from './paymentProvider.ts'
import type { RefundRequest } from './refundCalls.ts'

// That the interface fits providers as they are: two adapters, against answers in the form that the providers publish.

const server = await recordedServer()
const now = new Date('2026-08-03T03:00:00Z')
const runtime = { now: () => now, fetch }
const xendit = new XenditLike({ url: server.url, secretKey: randomBytes(12).toString('hex'), runtime, callLimitMs: 500 })
const midtrans = new MidtransLike({ url: server.url, serverKey: randomBytes(12).toString('hex'), runtime, callLimitMs: 500 })

const request: ChargeRequest = {
  key: 'operation-1', channel: 'qris', amountIdr: 275_000, multiUse: false, expiresAt: new Date(now.getTime() + 1_800_000), description: null,
  merchantReference: 'order-1',
  merchant: { id: 'm', name: 'WARUNG', city: 'JAKARTA', postalCode: '10110', mcc: '5411', nmid: null, qrisCriteria: null }, customer: null,
  callbackUrl: 'https://bayar.example/callbacks', returnUrl: null,
}
const refundOf = (charge: KnownCharge): RefundRequest => ({
  key: 'refund-1', charge, paymentReference: 'p', amountIdr: 5000, reason: 'order_cancelled', note: null, destination: null, callbackUrl: request.callbackUrl,
})
const received = (body: unknown, headers: Record<string, string> = {}): ReceivedCallback =>
  ({ method: 'POST', path: '/callbacks', headers, rawBody: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)) })
const parse = (provider: PaymentProvider, body: unknown) => provider.parseCallback(Buffer.from(JSON.stringify(body)))
const chargeIn = (provider: PaymentProvider, body: unknown) => {
  const reading = parse(provider, body)
  if (reading.outcome !== 'charge') throw new Error(JSON.stringify(reading))
  return reading.callback
}

describe('a provider of static tokens and ids of its own (Xendit)', () => {
  const made = {
    payment_request_id: 'pr-1', reference_id: 'operation-1', currency: 'IDR', request_amount: 275_000, channel_code: 'QRIS', status: 'REQUIRES_ACTION',
    actions: [{ type: 'PRESENT_TO_CUSTOMER', descriptor: 'QR_STRING', value: '00020101' }],
  }
  const capture = { capture_id: 'cap-1', capture_amount: 275_000, capture_timestamp: '2026-08-03T03:01:02.345Z' }
  const paid = { ...made, status: 'SUCCEEDED', latest_payment_id: 'py-1', captures: [capture] }
  const charge: KnownCharge = { key: 'operation-1', reference: 'pr-1', channel: 'qris' }

  test('is asked for a charge under our key, and told what to pay with', async () => {
    server.answer('POST /v3/payment_requests', { status: 201, body: made })
    expect(await xendit.createCharge(request)).toEqual({
      outcome: 'charged', charge: {
        reference: 'pr-1', key: 'operation-1', status: 'pending', currency: 'IDR', amountIdr: 275_000, fields: { qr_string: '00020101' }, decline: null,
        payments: [],
      },
    })
    expect(server.asked.at(-1)).toMatchObject({
      headers: { 'api-version': '2024-11-11', 'idempotency-key': 'operation-1', authorization: expect.stringMatching(/^Basic /) },
      json: { reference_id: 'operation-1', type: 'PAY', currency: 'IDR', request_amount: 275_000,
        channel_properties: { expires_at: '2026-08-03T03:30:00.000Z' } },
    })
  })

  test.each<[string, RecordedAnswer, object]>([
    ['a refusal', { status: 400, body: { error_code: 'CHANNEL_UNAVAILABLE', message: 'The bank is in maintenance.' } },
      { outcome: 'declined', decline: { provider: 'xendit-like', code: 'CHANNEL_UNAVAILABLE', message: 'The bank is in maintenance.' } }],
    ['a wrong key', { status: 401, body: { error_code: 'INVALID_API_KEY', message: '' } }, { outcome: 'misconfigured', reason: 'status 401 INVALID_API_KEY' }],
    ['a channel not switched on', { status: 403, body: { error_code: 'CHANNEL_NOT_ACTIVATED', message: '' } },
      { outcome: 'misconfigured', reason: 'status 403 CHANNEL_NOT_ACTIVATED' }],
    ['a gateway\'s 403', { status: 403, body: '<html>' }, { outcome: 'misconfigured', reason: 'status 403, not JSON' }],
    ['too many calls', { status: 429, headers: { 'retry-after': '30' }, body: { error_code: 'RATE_LIMIT_EXCEEDED', message: '' } },
      { outcome: 'retryable', reason: 'status 429 RATE_LIMIT_EXCEEDED', retryAfterSeconds: 30 }],
    ['an error of its own', { status: 500, body: { error_code: 'SERVER_ERROR', message: '' } }, { outcome: 'unknown', reason: 'status 500 SERVER_ERROR' }],
    ['a gateway\'s 502', { status: 502, body: '<html>' }, { outcome: 'unknown', reason: 'status 502, not JSON' }],
    ['a charge of another key', { status: 201, body: { ...made, reference_id: 'else' } }, { outcome: 'unknown', reason: 'status 201' }],
  ])('%s is told apart', async (_, answer, result) => {
    server.answer('POST /v3/payment_requests', answer)
    expect(await xendit.createCharge(request)).toEqual(result)
  })

  test('knows a charge by its own reference; by our key alone it knows none, and says so beforehand', async () => {
    server.answer('GET /v3/payment_requests/pr-1', { body: paid })
    expect(await xendit.findCharge(charge)).toMatchObject({
      outcome: 'found', charge: { status: 'paid', payments: [{ reference: 'py-1', amountIdr: 275_000, completedAt: new Date('2026-08-03T03:01:02.345Z'),
        reversed: false }] },
    })
    server.answer('GET /v3/payment_requests/pr-1', { status: 404, body: { error_code: 'DATA_NOT_FOUND', message: '' } })
    expect(await xendit.findCharge(charge)).toEqual({ outcome: 'absent' })
    expect(await xendit.findCharge({ ...charge, reference: null })).toMatchObject({ outcome: 'unknown' })
    expect(xendit.capabilities.qris.canFindByKey).toBe(false)
  })

  test('cancels a charge, and of one that was paid before tells that', async () => {
    server.answer('POST /v3/payment_requests/pr-1/cancel', { body: { ...made, status: 'CANCELED' } },
      { status: 409, body: { error_code: 'INVALID_PAYMENT_REQUEST_STATE', message: '' } })
    expect(await xendit.expireCharge(charge)).toMatchObject({ outcome: 'ended', charge: { status: 'expired', payments: [] } })
    server.answer('GET /v3/payment_requests/pr-1', { body: paid })
    expect(await xendit.expireCharge(charge)).toMatchObject({ outcome: 'ended', charge: { status: 'paid' } })
  })

  test('gives money back under our key: accepted, succeeded, failed, refused, lost', async () => {
    const refund = { id: 'rfd-1', reference_id: 'refund-1', payment_request_id: 'pr-1', amount: 5000, currency: 'IDR', status: 'PENDING',
      updated: '2026-08-03T03:05:00Z' }
    server.answer('POST /refunds', { body: refund }, { status: 400, body: { error_code: 'MAXIMUM_REFUND_AMOUNT_REACHED', message: 'Too much.' } },
      { status: 503, body: {} })
    const asked = refundOf(charge)
    const pending = { reference: 'rfd-1', key: 'refund-1', amountIdr: 5000, completedAt: null }
    expect(await xendit.refund(asked)).toEqual({ outcome: 'pending', refund: pending })
    expect(server.asked.at(-1)).toMatchObject({ headers: { 'idempotency-key': 'refund-1' },
      json: { reference_id: 'refund-1', amount: 5000, reason: 'CANCELLATION' } })
    expect(await xendit.refund(asked)).toMatchObject({ outcome: 'declined', decline: { code: 'MAXIMUM_REFUND_AMOUNT_REACHED', message: 'Too much.' } })
    expect(await xendit.refund(asked)).toMatchObject({ outcome: 'unknown' })
    const identity = { key: 'refund-1', reference: 'rfd-1', charge }
    server.answer('GET /refunds/rfd-1', { body: { ...refund, status: 'SUCCEEDED' } },
      { body: { ...refund, status: 'FAILED', failure_code: 'INSUFFICIENT_BALANCE' } })
    expect(await xendit.findRefund(identity)).toEqual({ outcome: 'succeeded', refund: { ...pending, completedAt: new Date('2026-08-03T03:05:00Z') } })
    expect(await xendit.findRefund(identity)).toMatchObject({ outcome: 'declined', decline: { code: 'INSUFFICIENT_BALANCE' } })
  })

  test('calls back with a static token, and no event id: one is derived, of what is said and not of when', () => {
    const token = randomBytes(16).toString('hex')
    expect(xendit.verifyCallback(received({}, { 'x-callback-token': token }), token)).toEqual({ verified: true })
    expect(xendit.verifyCallback(received({}, { 'x-callback-token': `${token}0` }), token)).toEqual({ verified: false, reason: 'mismatch' })
    expect(xendit.verifyCallback(received({}), token)).toEqual({ verified: false, reason: 'malformed' })
    expect(xendit.callbackHeaders).not.toContain('x-callback-token')
    const event = (kind: string, data: object, created = '2026-08-03T03:01:05Z') => ({ event: kind, business_id: 'b', created, data })
    const data = { ...paid, payment_id: 'py-1', metadata: { merchant_reference: 'order-1' } }
    const first = chargeIn(xendit, event('payment.capture', data))
    expect(first).toEqual({
      eventId: expect.stringMatching(/^derived-/), key: 'operation-1', reference: 'pr-1', merchantReference: 'order-1', paymentReference: 'py-1',
      status: 'paid',
      currency: 'IDR', amountIdr: 275_000, completedAt: new Date('2026-08-03T03:01:02.345Z'), decline: null, payer: null,
    })
    expect(chargeIn(xendit, event('payment.capture', data, '2026-08-03T04:00:00Z')).eventId).toBe(first.eventId)
    const failed = chargeIn(xendit, event('payment.failure', { ...made, payment_id: 'py-1', status: 'FAILED', failure_code: 'INSUFFICIENT_BALANCE' }))
    expect(failed).toMatchObject({ status: 'failed', decline: { code: 'INSUFFICIENT_BALANCE' } })
    expect(chargeIn(xendit, event('payment_request.expiry', { ...made, status: 'EXPIRED' }))).toMatchObject({ status: 'expired', paymentReference: null })
    expect(failed.eventId).not.toBe(first.eventId)
    const refund = { id: 'rfd-1', reference_id: 'refund-1', currency: 'IDR', amount: 5000, updated: '2026-08-03T03:05:00Z' }
    expect(parse(xendit, event('refund.succeeded', refund))).toMatchObject({ outcome: 'refund',
      callback: { key: 'refund-1', status: 'succeeded', amountIdr: 5000 } })
    expect(parse(xendit, event('refund.failed', { ...refund, failure_code: 'ACCOUNT_NOT_FOUND' }))).toMatchObject({ callback: { status: 'failed',
      decline: { code: 'ACCOUNT_NOT_FOUND' } } })
    for (const odd of [event('dispute.created', {}), event('payment.capture', { ...data, captures: [] }),
      event('payment.capture', { ...data, request_amount: 1.5, captures: [] }), 7]) {
      expect(parse(xendit, odd).outcome).toBe('unintelligible')
    }
  })
})

describe('a provider that says all in the body and knows our key alone (Midtrans)', () => {
  const pending = {
    status_code: '201', status_message: 'QRIS transaction is created', transaction_id: 't-1', order_id: 'operation-1', gross_amount: '275000.00',
    currency: 'IDR',
    payment_type: 'qris', transaction_time: '2026-08-03 10:00:01', transaction_status: 'pending', fraud_status: 'accept', acquirer: 'gopay',
    qr_string: '00020101',
  }
  const settled = { ...pending, status_code: '200', transaction_status: 'settlement', settlement_time: '2026-08-03 10:01:02', issuer: 'dana' }
  const charge: KnownCharge = { key: 'operation-1', reference: 't-1', channel: 'qris' }
  const refunds = [{ refund_chargeback_id: 7, refund_amount: '5000.00', created_at: '2026-08-03 10:05:00', reason: 'order_cancelled', refund_key: 'refund-1' }]
  const confirmed = refunds.map((refund) => ({ ...refund, bank_confirmed_at: '2026-08-03 10:06:00' }))

  test('is asked for a charge whose key is its order id, and answers 200 whatever happens', async () => {
    server.answer('POST /v2/charge', { body: pending })
    expect(await midtrans.createCharge(request)).toEqual({
      outcome: 'charged', charge: {
        reference: 't-1', key: 'operation-1', status: 'pending', currency: 'IDR', amountIdr: 275_000, fields: { qr_string: '00020101' }, decline: null,
        payments: [],
      },
    })
    expect(server.asked.at(-1)).toMatchObject({
      headers: { 'x-override-notification': 'https://bayar.example/callbacks' },
      json: { payment_type: 'qris', transaction_details: { order_id: 'operation-1', gross_amount: 275_000 },
        custom_expiry: { expiry_duration: 30, unit: 'minute' } },
    })
    const account = { ...pending, payment_type: 'bank_transfer', qr_string: undefined, va_numbers: [{ bank: 'bni', va_number: '8808000000000001' }] }
    server.answer('POST /v2/charge', { body: account })
    expect(await midtrans.createCharge({ ...request, channel: 'va_bank_b' })).toMatchObject({ charge: { fields: { va_number: '8808000000000001',
      va_bank: 'bni' } } })
  })

  test('answers a key that was used before with 406: the charge under it is looked up', async () => {
    server.answer('POST /v2/charge', { body: { status_code: '406', status_message: 'Duplicate order ID.' } })
    server.answer('GET /v2/operation-1/status', { body: settled }, { status: 500, body: {} })
    expect(await midtrans.createCharge(request)).toMatchObject({ outcome: 'charged', charge: { key: 'operation-1', status: 'paid' } })
    expect(await midtrans.createCharge(request)).toMatchObject({ outcome: 'unknown' })
  })

  test.each<[string, RecordedAnswer, object]>([
    ['a refusal', { body: { status_code: '400', status_message: 'gross_amount must be at least 1' } },
      { outcome: 'declined', decline: { provider: 'midtrans-like', code: '400', message: 'gross_amount must be at least 1' } }],
    ['a wrong key', { status: 401, body: { status_code: '401', status_message: '' } }, { outcome: 'misconfigured', reason: 'status 401 401' }],
    ['a channel not switched on', { body: { status_code: '402', status_message: '' } }, { outcome: 'misconfigured', reason: 'status 200 402' }],
    ['too many calls', { body: { status_code: '429', status_message: '' }, headers: { 'retry-after': '9' } },
      { outcome: 'retryable', reason: 'status 429 429', retryAfterSeconds: 9 }],
    ['an error of its own', { body: { status_code: '500', status_message: '' } }, { outcome: 'unknown', reason: 'status 200 500' }],
    ['a gateway\'s page', { status: 503, body: '<html>' }, { outcome: 'unknown', reason: 'status 503, not JSON' }],
  ])('%s is told apart', async (_, answer, result) => {
    server.answer('POST /v2/charge', answer)
    expect(await midtrans.createCharge(request)).toEqual(result)
  })

  test('tells a payment in Jakarta\'s time and by the transaction\'s id, and knows no charge of another key', async () => {
    server.answer('GET /v2/operation-1/status', { body: settled }, { body: { status_code: '404', status_message: 'Transaction doesn\'t exist.' } })
    expect(await midtrans.findCharge({ ...charge, reference: null })).toMatchObject({
      outcome: 'found', charge: { status: 'paid', payments: [{ reference: 't-1', amountIdr: 275_000, completedAt: new Date('2026-08-03T03:01:02Z'),
        reversed: false }] },
    })
    expect(await midtrans.findCharge(charge)).toEqual({ outcome: 'absent' })
  })

  test('expires a charge, and of one that was paid before tells that', async () => {
    server.answer('POST /v2/operation-1/expire', { body: { status_code: '407', status_message: '' } }, { body: { status_code: '412', status_message: '' } },
      { body: { status_code: '404', status_message: '' } })
    server.answer('GET /v2/operation-1/status', { body: { ...pending, status_code: '407', transaction_status: 'expire' } }, { body: settled })
    expect(await midtrans.expireCharge(charge)).toMatchObject({ outcome: 'ended', charge: { status: 'expired' } })
    expect(await midtrans.expireCharge(charge)).toMatchObject({ outcome: 'ended', charge: { status: 'paid' } })
    expect(await midtrans.expireCharge(charge)).toEqual({ outcome: 'absent' })
  })

  test('gives money back under our key, told beside the transaction: accepted, confirmed, used before, refused, lost', async () => {
    const asked = refundOf(charge)
    server.answer('POST /v2/operation-1/refund/online/direct', { body: { status_code: '200', status_message: '' } },
      { body: { status_code: '406', status_message: '' } },
      { body: { status_code: '414', status_message: 'Refund amount is more than the payment.' } },
      { body: { status_code: '412', status_message: 'No refund for this.' } }, { status: 500, body: {} })
    server.answer('GET /v2/operation-1/status', { body: { ...settled, transaction_status: 'partial_refund', refunds } },
      { body: { ...settled, transaction_status: 'partial_refund', refunds: confirmed } })
    const refund = { reference: '7', key: 'refund-1', amountIdr: 5000, completedAt: null }
    expect(await midtrans.refund(asked)).toEqual({ outcome: 'pending', refund })
    expect(server.asked.at(-2)).toMatchObject({ json: { refund_key: 'refund-1', amount: 5000, reason: 'order_cancelled' } })
    expect(await midtrans.refund(asked)).toEqual({ outcome: 'succeeded', refund: { ...refund, completedAt: new Date('2026-08-03T03:06:00Z') } })
    expect(await midtrans.refund(asked)).toMatchObject({ outcome: 'declined', decline: { code: '414', message: 'Refund amount is more than the payment.' } })
    expect(await midtrans.refund(asked)).toMatchObject({ outcome: 'declined', decline: { code: '412' } })
    expect(await midtrans.refund(asked)).toMatchObject({ outcome: 'unknown' })
    expect(await midtrans.findRefund({ key: 'refund-2', reference: null, charge })).toEqual({ outcome: 'absent' })
  })

  test('signs four members of the body: the published example', () => {
    const example = {
      order_id: 'ORDER-1', status_code: '200', gross_amount: '100000.00',
      signature_key: '80d6381f8364d8d73ac80ce60cc796b160b89a94dfb7dc446f242b945c05bf056f22fb1f92548910e226205c2cca76d4710a43947b54d3cddb507d84b2b0494b',
    }
    const serverKey = 'SB-Mid-server-EXAMPLE'
    expect(midtrans.verifyCallback(received(example), serverKey)).toEqual({ verified: true })
    for (const change of [{ order_id: 'ORDER-2' }, { status_code: '201' }, { gross_amount: '100000.01' }]) {
      expect(midtrans.verifyCallback(received({ ...example, ...change }), serverKey)).toEqual({ verified: false, reason: 'mismatch' })
    }
    expect(midtrans.verifyCallback(received(example), `${serverKey}X`)).toEqual({ verified: false, reason: 'mismatch' })
    for (const odd of ['{', '[]', { ...example, signature_key: '80' }]) expect(midtrans.verifyCallback(received(odd),
      serverKey)).toMatchObject({ reason: 'malformed' })
  })

  test('calls back with amounts of two decimals: paid only with 200, accept and settlement; denied after that is taken back', () => {
    const paid = chargeIn(midtrans, { ...settled, custom_field1: 'order-1' })
    expect(paid).toEqual({
      eventId: expect.stringMatching(/^derived-/), key: 'operation-1', reference: 't-1', merchantReference: 'order-1', paymentReference: 't-1', status: 'paid',
      currency: 'IDR',
      amountIdr: 275_000, completedAt: new Date('2026-08-03T03:01:02Z'), decline: null,
      payer: { issuer: 'dana', bankCode: null, accountNumber: null, accountName: null },
    })
    expect(chargeIn(midtrans, settled).eventId).toBe(paid.eventId)
    for (const [change, status] of [
      [{ fraud_status: 'challenge', settlement_time: undefined }, 'pending'], [{ status_code: '201', settlement_time: undefined }, 'pending'],
      [{ transaction_status: 'deny' }, 'reversed'],
      [{ transaction_status: 'deny', settlement_time: undefined }, 'failed'], [{ transaction_status: 'chargeback' }, 'reversed'],
      [{ transaction_status: 'expire', settlement_time: undefined }, 'expired'],
    ] as const) expect([change, chargeIn(midtrans, { ...settled, ...change }).status]).toEqual([change, status])
    for (const odd of [{ ...settled, gross_amount: '275000.50' }, { ...settled, gross_amount: 275_000 }, { ...settled, transaction_status: 'odd' },
      { ...settled, settlement_time: 'today' }]) {
      expect(parse(midtrans, odd).outcome).toBe('unintelligible')
    }
  })

  test('tells a refund twice, the second time with the bank\'s word', () => {
    const first = parse(midtrans, { ...settled, transaction_status: 'partial_refund', refunds })
    const second = parse(midtrans, { ...settled, transaction_status: 'partial_refund', refunds: confirmed })
    expect(first).toMatchObject({ outcome: 'refund', callback: { key: 'refund-1', amountIdr: 5000, status: 'pending' } })
    expect(second).toMatchObject({ outcome: 'refund', callback: { status: 'succeeded', completedAt: new Date('2026-08-03T03:06:00Z') } })
    expect(first.outcome === 'refund' && second.outcome === 'refund' && first.callback.eventId !== second.callback.eventId).toBe(true)
  })
})

test('a provider that signs method, path, body and time (SNAP) is proved by what a received callback holds, under its public key', () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const signed = ({ method, path, rawBody }: ReceivedCallback, timestamp: string) =>
    `${method}:${path}:${createHash('sha256').update(JSON.stringify(JSON.parse(rawBody.toString()))).digest('hex')}:${timestamp}`
  const verify = (callback: ReceivedCallback, secret: string): boolean => {
    const { 'x-timestamp': timestamp, 'x-signature': signature } = callback.headers
    return createVerify('RSA-SHA256').update(signed(callback, String(timestamp))).verify(secret, String(signature), 'base64')
  }
  const body = received('{ "latestTransactionStatus": "00", "originalPartnerReferenceNo": "operation-1", "amount": {"value": "10000.00", "currency": "IDR"} }')
  const timestamp = '2026-08-03T10:00:00+07:00'
  const signature = createSign('RSA-SHA256').update(signed(body, timestamp)).sign(privateKey, 'base64')
  const callback = { ...body, headers: { 'x-timestamp': timestamp, 'x-signature': signature } }
  const secret = publicKey.export({ type: 'spki', format: 'pem' }).toString()
  expect(verify(callback, secret)).toBe(true)
  expect(verify({ ...callback, path: '/else' }, secret)).toBe(false)
  expect(verify({ ...callback, headers: { ...callback.headers, 'x-timestamp': '2026-08-03T10:00:01+07:00' } }, secret)).toBe(false)
})
