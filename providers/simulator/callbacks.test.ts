import { createHmac, randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { describe, expect, test } from 'vitest'
import {
  answerWith, byKey, call, callbackAt, callbackUrl, charged, clockAt, known, provider, received, requestFor, secret, toCallbackAddress,
} from './simulatorBench.ts'

describe('completion and callbacks', () => {
  test('a payment is reported by a callback signed over its raw body, and the receiver\'s answer is told', async () => {
    const charge = charged(await provider.createCharge(requestFor('va_bank_a')))
    const paidAt = clockAt(60)
    answerWith(503)
    const paid = await call('POST', `/control/charges/${charge.reference}/pay`)
    expect(paid.json.callback).toEqual({ url: callbackUrl, status: 503, body: 'noted' })

    const { headers, rawBody } = callbackAt(0)
    const t = Math.floor(paidAt.getTime() / 1000)
    const v1 = createHmac('sha256', secret).update(`${t}.${rawBody.toString()}`).digest('hex')
    expect(headers['x-simulator-signature']).toBe(`t=${t},v1=${v1}`)
    expect(provider.verifyCallback({ ...toCallbackAddress, headers, rawBody }, secret)).toEqual({ verified: true })
    expect(provider.parseCallback(rawBody)).toEqual({
      outcome: 'charge',
      callback: {
        eventId: `${charge.reference}-E1`, key: charge.key, reference: charge.reference, merchantReference: expect.stringMatching(/^order-/),
        paymentReference: `${charge.reference}-P1`, status: 'paid', currency: 'IDR', amountIdr: 150_000,
        completedAt: paidAt, decline: null,
        payer: {
          issuer: 'SIMULATED ISSUER', bankCode: 'bank_a', accountNumber: expect.stringMatching(/^\d{10}$/),
          accountName: 'SIMULATED PAYER',
        },
      },
    })
    expect(await provider.findCharge(byKey(charge.key))).toMatchObject({
      charge: {
        status: 'paid',
        payments: [{ reference: `${charge.reference}-P1`, amountIdr: 150_000, completedAt: paidAt, reversed: false }],
      },
    })
  })

  test('a callback with another secret, body, form or age is not verified', async () => {
    const charge = charged(await provider.createCharge(requestFor('qris')))
    await call('POST', `/control/charges/${charge.reference}/pay`)
    const { headers, rawBody } = callbackAt(0)
    const verdict = (change: { headers?: IncomingHttpHeaders; rawBody?: Buffer }, under = secret) =>
      provider.verifyCallback({ ...toCallbackAddress, headers, rawBody, ...change }, under)
    expect(verdict({}, randomBytes(32).toString('hex'))).toEqual({ verified: false, reason: 'mismatch' })
    expect(verdict({ rawBody: Buffer.concat([rawBody, Buffer.from(' ')]) })).toMatchObject({ reason: 'mismatch' })
    expect(verdict({ headers: {} })).toMatchObject({ reason: 'malformed' })
    expect(verdict({ headers: { 'x-simulator-signature': 't=1,v1=00' } })).toMatchObject({ reason: 'malformed' })
    for (const [offset, expected] of [[300, true], [-300, true], [301, false], [-301, false]] as const) {
      clockAt(offset - 0.678)
      expect(verdict({}).verified).toBe(expected)
    }
    expect(verdict({})).toEqual({ verified: false, reason: 'stale' })
  })

  test('what is no callback about a charge is not understood', async () => {
    const charge = charged(await provider.createCharge(requestFor('qris')))
    await call('POST', `/control/charges/${charge.reference}/pay`)
    const body = JSON.parse(callbackAt(0).rawBody.toString()) as Record<string, unknown>
    const reading = (change: Record<string, unknown>) =>
      provider.parseCallback(Buffer.from(JSON.stringify({ ...body, ...change }))).outcome
    expect(reading({})).toBe('charge')
    for (const change of [
      { event_id: 7 }, { key: '' }, { status: 'settled' }, { amount_idr: '150000' }, { amount_idr: 1.5 },
      { payment_reference: null }, { completed_at: 'yesterday' }, { completed_at: null }, { decline: {} },
    ]) expect([change, reading(change)]).toEqual([change, 'unintelligible'])
    for (const text of ['', 'null', '[]', '{']) {
      expect(provider.parseCallback(Buffer.from(text)).outcome).toBe('unintelligible')
    }
  })

  test('a multi-use charge takes payment after payment, each with a reference of its own', async () => {
    const charge = charged(await provider.createCharge(requestFor('qris', { multiUse: true })))
    const { reference } = charge
    for (const amount_idr of [10_000, 20_000]) {
      await call('POST', `/control/charges/${reference}/pay`, { amount_idr })
    }
    expect(await provider.findCharge(byKey(charge.key))).toMatchObject({
      charge: { status: 'pending', payments: [{ amountIdr: 10_000 }, { amountIdr: 20_000 }] },
    })
    const read = received.map(({ rawBody }) => provider.parseCallback(rawBody))
    expect(read).toMatchObject([
      { callback: { amountIdr: 10_000, paymentReference: `${reference}-P1`, eventId: `${reference}-E1` } },
      { callback: { amountIdr: 20_000, paymentReference: `${reference}-P2`, eventId: `${reference}-E2` } },
    ])
  })

  test('a paid charge is not paid again, nor an expired one, unless the money is forced', async () => {
    const charge = charged(await provider.createCharge(requestFor('qris')))
    const pay = (body: unknown) => call('POST', `/control/charges/${charge.reference}/pay`, body)
    clockAt(600)
    expect((await pay({})).json).toEqual({ code: 'invalid_state', message: 'the charge is expired', reported: false })
    expect((await pay({ force: true, completed_at: '2026-08-03T03:10:00Z' })).status).toBe(200)
    expect((await pay({})).json.message).toBe('the charge is paid')
    expect(received).toHaveLength(1)
    expect(await provider.findCharge(byKey(charge.key))).toMatchObject({
      charge: { status: 'paid', payments: [{ completedAt: new Date('2026-08-03T03:10:00Z') }] },
    })
  })

  test('a declined payment fails the charge and reports the provider\'s words', async () => {
    const charge = charged(await provider.createCharge(requestFor('card_3ds')))
    await call('POST', `/control/charges/${charge.reference}/decline`, { code: '05', message: 'Do not honour' })
    expect(provider.parseCallback(callbackAt(0).rawBody)).toMatchObject({
      callback: {
        status: 'failed', paymentReference: null, completedAt: null,
        decline: { provider: 'simulator', code: '05', message: 'Do not honour' },
      },
    })
    expect(await provider.findCharge(byKey(charge.key))).toMatchObject({ charge: { status: 'failed' } })
  })

  test('a charge expires by its time, by our word without a callback, and by the provider\'s with one', async () => {
    const [timed, ours, theirs] = await Promise.all([
      provider.createCharge(requestFor('qris')).then(charged),
      provider.createCharge(requestFor('qris')).then(charged),
      provider.createCharge(requestFor('qris')).then(charged),
    ])
    expect(await provider.expireCharge(known(ours)))
      .toMatchObject({ outcome: 'ended', charge: { status: 'expired' } })
    expect(received).toHaveLength(0)
    await call('POST', `/control/charges/${theirs.reference}/expire`)
    expect(provider.parseCallback(callbackAt(0).rawBody)).toMatchObject({ callback: { status: 'expired' } })
    clockAt(600)
    expect(await provider.findCharge(byKey(timed.key))).toMatchObject({ charge: { status: 'expired' } })
  })

  test('expiring a paid charge tells that it was paid; an unknown one is absent', async () => {
    const charge = charged(await provider.createCharge(requestFor('qris')))
    await call('POST', `/control/charges/${charge.reference}/pay`)
    expect(await provider.expireCharge(known(charge)))
      .toMatchObject({ outcome: 'ended', charge: { status: 'paid' } })
    expect(await provider.expireCharge(known({ key: 'none', reference: 'SIM00' }))).toEqual({ outcome: 'absent' })
  })

  test('a receiver that is not there is reported, and the payment stands', async () => {
    const gone = requestFor('qris', { callbackUrl: 'http://127.0.0.1:1/callbacks' })
    const charge = charged(await provider.createCharge(gone))
    const { json } = await call('POST', `/control/charges/${charge.reference}/pay`)
    expect(json).toMatchObject({ charge: { status: 'paid' }, callback: { error: expect.any(String) } })
  })
})
