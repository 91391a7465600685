import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { ChannelCode } from '../../domain/channels.ts'
import type { Charge, ChargeRequest, RefundCallback } from '../paymentProvider.ts'
import type { RefundRequest } from '../refundCalls.ts'
import {
  call, callbackUrl, charged, clockAt, known, launch, provider, received, requestFor, secret, simulator, toCallbackAddress, unanswered,
} from './simulatorBench.ts'

const account = { bankCode: 'bank_a', accountNumber: '1234567890', accountName: 'PENERIMA' }
const paid = async (channel: ChannelCode = 'ewallet_wallet_a', change: Partial<ChargeRequest> = {}): Promise<Charge> => {
  const charge = charged(await provider.createCharge(requestFor(channel, change)))
  await call('POST', `/control/charges/${charge.reference}/pay`)
  received.length = 0
  return charge
}
const requestOf = (charge: Charge, change: Partial<RefundRequest> = {}): RefundRequest => ({
  key: randomUUID(), charge: known(charge), paymentReference: `${charge.reference}-P1`, amountIdr: 100_000, reason: 'customer_request', note: 'Too cold',
  destination: null, callbackUrl, ...change,
})
const find = ({ key, charge }: RefundRequest) => provider.findRefund({ key, reference: null, charge })
const refundsUnder = async ({ key }: RefundRequest) => (await call('GET', `/control/refunds?key=${key}`)).json.refunds ?? []
/** Waits until the simulator has sent so many callbacks, and reads them. */
const told = async (count: number): Promise<RefundCallback[]> => {
  while (received.length < count) await call('GET', '/control/next')
  return received.map(({ headers, rawBody }) => {
    expect(provider.verifyCallback({ ...toCallbackAddress, headers, rawBody }, secret)).toEqual({ verified: true })
    const reading = provider.parseCallback(rawBody)
    if (reading.outcome !== 'refund') throw new Error(reading.outcome)
    return reading.callback
  })
}

describe('a refund', () => {
  test('succeeds, whole or in part, is told by a signed callback, and can be asked for by its key', async () => {
    const charge = await paid()
    const request = requestOf(charge)
    const at = clockAt(60)
    const result = await provider.refund(request)
    expect(result).toEqual({
      outcome: 'succeeded', refund: { reference: expect.stringMatching(/^SIMR[0-9A-F]{20}$/), key: request.key, amountIdr: 100_000, completedAt: at },
    })
    expect(await find(request)).toEqual(result)
    expect(await told(1)).toEqual([{
      eventId: expect.stringMatching(/-E1$/), key: request.key, reference: expect.stringMatching(/^SIMR/), status: 'succeeded', currency: 'IDR',
      amountIdr: 100_000,
      completedAt: at, decline: null,
    }])
    expect((await provider.refund(requestOf(charge, { amountIdr: 50_000 }))).outcome).toBe('succeeded')
  })

  test('is made once by its key, whatever is repeated; another request under the key settles nothing', async () => {
    const charge = await paid()
    const request = requestOf(charge)
    const results = await Promise.all(Array.from({ length: 10 }, () => provider.refund(request)))
    expect(new Set(results.map((result) => JSON.stringify(result))).size).toBe(1)
    expect(await refundsUnder(request)).toHaveLength(1)
    expect(await provider.refund({ ...request, amountIdr: 1 })).toEqual({ outcome: 'unknown', reason: 'status 409 key_reused' })
    expect(await find(request)).toMatchObject({ outcome: 'succeeded', refund: { amountIdr: 100_000 } })
    await told(1)
  })

  test('never gives back more than was paid, however many are asked for at once', async () => {
    const charge = await paid()
    const results = await Promise.all(Array.from({ length: 20 }, () => provider.refund(requestOf(charge, { amountIdr: 40_000 }))))
    expect(results.filter(({ outcome }) => outcome === 'succeeded')).toHaveLength(3)
    expect(results.filter(({ outcome }) => outcome !== 'succeeded')).toEqual(Array.from({ length: 17 }, () => ({
      outcome: 'declined', decline: { provider: 'simulator', code: 'REFUND_EXCEEDS_PAYMENT', message: 'More would be given back than was paid.' },
    })))
    await told(3)
  })

  test('is of one payment: each of a charge for many has its own', async () => {
    const charge = charged(await provider.createCharge(requestFor('va_bank_a', { multiUse: true })))
    for (const amount_idr of [20_000, 30_000]) await call('POST', `/control/charges/${charge.reference}/pay`, { amount_idr })
    const of = (payment: string, amountIdr: number) => provider.refund(requestOf(charge,
      { paymentReference: `${charge.reference}-${payment}`, amountIdr, destination: account }))
    expect((await of('P1', 20_001)).outcome).toBe('declined')
    expect((await of('P2', 30_000)).outcome).toBe('succeeded')
    expect((await of('P1', 20_000)).outcome).toBe('succeeded')
    expect(await of('P3', 1)).toMatchObject({ outcome: 'declined', decline: { code: 'PAYMENT_NOT_FOUND' } })
  })

  test('is declined where there is no way back: by the channel, after its window, without an account, after a reversal', async () => {
    const declines = async (request: RefundRequest) => {
      const result = await provider.refund(request)
      return result.outcome === 'declined' ? result.decline.code : result.outcome
    }
    expect(await declines(requestOf(await paid('qris')))).toBe('REFUND_NOT_SUPPORTED')
    expect(await declines(requestOf(await paid('va_bank_a')))).toBe('DESTINATION_REQUIRED')
    expect(await declines(requestOf(await paid('otc_store_a')))).toBe('DESTINATION_REQUIRED')
    expect(await declines(requestOf(await paid('va_bank_a'), { destination: account }))).toBe('succeeded')
    const reversed = await paid()
    await call('POST', `/control/charges/${reversed.reference}/reverse`)
    expect(await declines(requestOf(reversed))).toBe('PAYMENT_REVERSED')
    const [inTime, tooLate] = [await paid('paylater_a'), await paid('paylater_a')]
    clockAt(30 * 86_400)
    expect(await declines(requestOf(inTime))).toBe('succeeded')
    clockAt(30 * 86_400 + 1)
    expect(await declines(requestOf(tooLate))).toBe('REFUND_WINDOW_CLOSED')
  })

  test('that is declined stays so under its key, and leaves the payment whole', async () => {
    const charge = await paid()
    const request = requestOf(charge, { amountIdr: 150_001 })
    const decline = { outcome: 'declined', decline: { code: 'REFUND_EXCEEDS_PAYMENT' } }
    expect(await provider.refund(request)).toMatchObject(decline)
    expect(await provider.refund(request)).toMatchObject(decline)
    expect(await find(request)).toMatchObject(decline)
    expect((await provider.refund(requestOf(charge, { amountIdr: 150_000 }))).outcome).toBe('succeeded')
  })

  test('that nobody asked for is absent', async () => {
    expect(await find(requestOf(await paid()))).toEqual({ outcome: 'absent' })
  })
})

describe('a refund that is accepted only', () => {
  const pending = async (change: Partial<RefundRequest> = {}) => {
    const charge = await paid()
    await call('POST', '/control/next', { on: 'refund', behaviour: 'pending' })
    const request = requestOf(charge, change)
    const result = await provider.refund(request)
    if (result.outcome !== 'pending') throw new Error(result.outcome)
    return { charge, request, refund: result.refund }
  }

  test('is pending until it succeeds, and holds its part of the payment meanwhile', async () => {
    const { charge, request, refund } = await pending()
    expect(refund.completedAt).toBeNull()
    expect(await find(request)).toEqual({ outcome: 'pending', refund })
    expect(received).toEqual([])
    expect((await provider.refund(requestOf(charge, { amountIdr: 50_001 }))).outcome).toBe('declined')
    const at = clockAt(5)
    await call('POST', `/control/refunds/${refund.reference}/succeed`)
    expect(await find(request)).toEqual({ outcome: 'succeeded', refund: { ...refund, completedAt: at } })
    expect(await told(1)).toMatchObject([{ status: 'succeeded', key: request.key, completedAt: at }])
    expect((await call('POST', `/control/refunds/${refund.reference}/fail`)).status).toBe(409)
  })

  test('may fail, in the provider\'s own words, and gives its part of the payment free', async () => {
    const { charge, request, refund } = await pending()
    await call('POST', `/control/refunds/${refund.reference}/fail`, { code: 'ACCOUNT_CLOSED', message: 'Rekening “ditutup”' })
    const decline = { provider: 'simulator', code: 'ACCOUNT_CLOSED', message: 'Rekening “ditutup”' }
    expect(await find(request)).toEqual({ outcome: 'declined', decline })
    expect(await provider.refund(request)).toEqual({ outcome: 'declined', decline })
    expect(await told(1)).toMatchObject([{ status: 'failed', decline, completedAt: null }])
    expect((await provider.refund(requestOf(charge, { amountIdr: 150_000 }))).outcome).toBe('succeeded')
  })

  test('is told of as callbacks of charges are: twice, wrongly, held back, without an event id', async () => {
    const { request, refund } = await pending()
    await call('POST', '/control/hold', { key: request.key })
    await call('POST', `/control/refunds/${refund.reference}/succeed`, { callback: { repeat: 2, without: ['event_id'] } })
    expect(received).toEqual([])
    await call('POST', '/control/release')
    const [first, second] = await told(2)
    expect([first?.eventId, second?.eventId]).toEqual([expect.stringMatching(/^derived-/), first?.eventId])
    await call('POST', `/control/refunds/${refund.reference}/notify`, { says: { amount_idr: 1 } })
    expect((await told(3))[2]).toMatchObject({ amountIdr: 1, status: 'succeeded' })
    await call('POST', `/control/refunds/${refund.reference}/notify`, { says: { status: 'odd' } })
    expect(provider.parseCallback(received[3]?.rawBody ?? Buffer.alloc(0))).toEqual({ outcome: 'unintelligible', reason: 'not a notice about a refund' })
    expect((await call('POST', '/control/refunds/SIMRNONE/notify')).json.code).toBe('refund_not_found')
  })
})

describe('magic amounts of refunds', () => {
  const refundOf = async (amountIdr: number) => {
    const request = requestOf(await paid('ewallet_wallet_a', { amountIdr: 500_000 }), { amountIdr })
    return { request, result: await provider.refund(request) }
  }

  test('111021 is refused', async () => {
    const { request, result } = await refundOf(111_021)
    expect(result).toMatchObject({ outcome: 'declined', decline: { code: 'REFUND_DECLINED' } })
    expect((await find(request)).outcome).toBe('declined')
  })

  test.each([[111_022, 'failed', 'declined'], [111_023, 'succeeded', 'succeeded']] as const)('%i is accepted, then has %s, once', async (
    amount, status, outcome,
  ) => {
    const { request, result } = await refundOf(amount)
    expect(result.outcome).toBe('pending')
    expect((await find(request)).outcome).toBe('pending')
    await call('POST', '/control/late')
    await call('POST', '/control/late')
    expect(received).toHaveLength(1)
    expect(await told(1)).toMatchObject([{ status }])
    expect((await find(request)).outcome).toBe(outcome)
  })

  test('111024 is accepted and succeeds, and only a question tells', async () => {
    const { request, result } = await refundOf(111_024)
    expect(result.outcome).toBe('pending')
    expect((await find(request)).outcome).toBe('succeeded')
    expect(received).toEqual([])
  })

  test('111025 is made, but its first answer never comes: a question finds it, and the same request again makes no other', async () => {
    const request = requestOf(await paid('ewallet_wallet_a', { amountIdr: 500_000 }), { amountIdr: 111_025 })
    expect((await unanswered(() => provider.refund(request), async () => (await refundsUnder(request)).length)).outcome).toBe('unknown')
    expect((await find(request)).outcome).toBe('succeeded')
    expect((await provider.refund(request)).outcome).toBe('succeeded')
    expect(await refundsUnder(request)).toHaveLength(1)
    await told(1)
  })
})

test('a refund that is malformed is refused by name', async () => {
  const good = {
    key: 'refund', charge_key: 'charge', payment_reference: 'P1', currency: 'IDR', amount_idr: 1, reason: 'other', note: null, destination: null,
    callback_url: null,
  }
  for (const [change, named] of [
    [{ key: 'a b' }, 'key'], [{ charge_key: '' }, 'charge_key'], [{ payment_reference: 1 }, 'payment_reference'], [{ currency: 'USD' }, 'currency'],
    [{ amount_idr: 0 }, 'amount_idr'], [{ amount_idr: 1.5 }, 'amount_idr'], [{ reason: 'mood' }, 'reason'], [{ note: 'n'.repeat(1001) }, 'note'],
    [{ destination: 'bank' }, 'destination'], [{ destination: { bank_code: 'a' } }, 'account_number'], [{ callback_url: 'ftp://x' }, 'callback_url'],
  ] as const) {
    const { status, json } = await call('POST', '/refunds', { ...good, ...change })
    expect([change, status, json.message]).toEqual([change, 400, expect.stringContaining(named)])
  }
  expect((await call('POST', '/refunds', '[]')).status).toBe(400)
  expect((await call('GET', '/refunds')).status).toBe(400)
})

test('refunds outlive the process: none can be made twice over a restart', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'simulator-'))
  const restart = async () => {
    await simulator.close()
    await launch(join(folder, 'journal'))
  }
  await restart()
  const charge = await paid()
  const request = requestOf(charge)
  const result = await provider.refund(request)
  const declined = requestOf(charge, { amountIdr: 50_001 })
  await provider.refund(declined)
  await told(1)
  // The second start reads what the first has written anew.
  for (let time = 0; time < 2; time += 1) {
    await restart()
    expect(await find(request)).toEqual(result)
    expect(await provider.refund(request)).toEqual(result)
    expect((await find(declined)).outcome).toBe('declined')
    expect((await provider.refund(requestOf(charge, { amountIdr: 50_001 }))).outcome).toBe('declined')
  }
  await call('POST', '/control/reset')
  await restart()
  expect((await call('GET', '/control/refunds')).json.total).toBe(0)
  rmSync(folder, { recursive: true })
})
