import { describe, expect, test } from 'vitest'
import type { Charge, ChargeCallback } from '../paymentProvider.ts'
import { magicAmounts } from './magicAmounts.ts'
import { answerWith, byKey, call, callbackAt, charged, clockAt, provider, received, requestFor, secret, toCallbackAddress } from './simulatorBench.ts'

const made = async (): Promise<Charge> => charged(await provider.createCharge(requestFor('qris')))
const move = async ({ reference }: Charge, name: string, body: Record<string, unknown> = {}) => {
  const { status, json } = await call('POST', `/control/charges/${reference}/${name}`, body)
  expect([name, status, json.message]).toEqual([name, 200, undefined])
  return json
}
/** What the receiver made of each callback: verified or why not, and what it reads. */
const told = () => received.map(({ headers, rawBody }) => {
  const verdict = provider.verifyCallback({ ...toCallbackAddress, headers, rawBody }, secret)
  return { verdict: verdict.verified ? 'verified' : verdict.reason, reading: provider.parseCallback(rawBody) }
})
const read = (): ChargeCallback[] => told().map(({ verdict, reading }) => {
  if (verdict !== 'verified' || reading.outcome !== 'charge') throw new Error(`${verdict} ${reading.outcome}`)
  return reading.callback
})
const statusNow = async ({ key }: Charge) => {
  const found = await provider.findCharge(byKey(key))
  return found.outcome === 'found' ? found.charge.status : found.outcome
}

describe('a callback that is not true', () => {
  test('of another amount, currency, reference, merchant\'s reference, key or event id says so, and the status query the truth', async () => {
    const charge = await made()
    const lies = {
      amount_idr: 1, currency: 'USD', reference: 'SIM-ELSE', merchant_reference: 'order-else', key: 'key-else', event_id: 'event-else',
      payment_reference: 'P-ELSE',
      completed_at: '2026-08-03T00:00:00Z',
    }
    await move(charge, 'pay', { callback: { says: lies } })
    expect(read()).toEqual([expect.objectContaining({
      amountIdr: 1, currency: 'USD', reference: 'SIM-ELSE', merchantReference: 'order-else', key: 'key-else', eventId: 'event-else', paymentReference: 'P-ELSE',
      completedAt: new Date('2026-08-03T00:00:00Z'), status: 'paid',
    })])
    expect(await provider.findCharge(byKey(charge.key))).toMatchObject({
      charge: { status: 'paid', amountIdr: 150_000, payments: [{ reference: `${charge.reference}-P1`, amountIdr: 150_000 }] },
    })
  })

  test('says that the charge is paid while the status query says that it is pending', async () => {
    const charge = await made()
    await move(charge, 'notify', { status: 'paid' })
    expect(read()).toMatchObject([{ status: 'paid', amountIdr: 150_000, paymentReference: `${charge.reference}-P1`, reference: charge.reference }])
    expect(await provider.findCharge(byKey(charge.key))).toMatchObject({ charge: { status: 'pending', payments: [] } })
  })

  test('tells each status of a paid charge, each under an event id of its own: expired, pending and failed after paid', async () => {
    const charge = await made()
    await move(charge, 'pay')
    for (const status of ['expired', 'pending', 'failed', 'reversed']) await move(charge, 'notify', { status })
    await move(charge, 'notify')
    expect(read().map(({ status }) => status)).toEqual(['paid', 'expired', 'pending', 'failed', 'reversed', 'paid'])
    expect(new Set(read().map(({ eventId }) => eventId)).size).toBe(6)
    expect(await statusNow(charge)).toBe('paid')
  })

  test('without an event id has one derived, the same on a repeat and another on another notice; without a payer has none', async () => {
    const [charge, other] = [await made(), await made()]
    const without = ['event_id', 'payer', 'merchant_reference']
    await move(charge, 'pay', { callback: { without, repeat: 2 } })
    await move(charge, 'notify', { without })
    await move(charge, 'notify', { without, status: 'expired' })
    await move(other, 'pay', { callback: { without } })
    const [first, second, again, expired, others] = read()
    expect(first).toMatchObject({ payer: null, merchantReference: null, eventId: expect.stringMatching(/^derived-[0-9a-f]{40}$/) })
    expect([second?.eventId, again?.eventId]).toEqual([first?.eventId, first?.eventId])
    expect(new Set([first?.eventId, expired?.eventId, others?.eventId]).size).toBe(3)
  })

  test('with a body that is no JSON, or no notice, is signed all the same and is not understood', async () => {
    const charge = await made()
    await move(charge, 'pay', { callback: { body: '{"status":' } })
    await move(charge, 'notify', { body: '{}' })
    await move(charge, 'notify', { without: ['status'] })
    expect(told().map(({ verdict, reading }) => [verdict, reading.outcome])).toEqual(Array.from({ length: 3 }, () => ['verified', 'unintelligible']))
  })

  test.each([
    ['right', 'verified'], ['wrong-secret', 'mismatch'], ['altered-body', 'mismatch'], ['stale', 'stale'], ['missing', 'malformed'], ['malformed', 'malformed'],
  ])('signed %s is %s', async (signature, verdict) => {
    const charge = await made()
    await move(charge, 'pay', { callback: { signature } })
    expect(told()).toMatchObject([{ verdict, reading: { outcome: 'charge' } }])
    await move(charge, 'notify', { signature, body: 'text' })
    expect(told()[1]).toMatchObject({ verdict, reading: { outcome: 'unintelligible' } })
  })
})

describe('how often and when', () => {
  test('repeats come under one event id; a second notice of the same payment under another', async () => {
    const charge = await made()
    const { callbacks } = await move(charge, 'pay', { callback: { repeat: 3 } })
    await move(charge, 'notify')
    expect(callbacks).toHaveLength(3)
    const eventIds = read().map(({ eventId }) => eventId)
    expect(eventIds).toHaveLength(4)
    expect(new Set(eventIds.slice(0, 3)).size).toBe(1)
    expect(eventIds[3]).not.toBe(eventIds[0])
    expect(new Set(read().map(({ paymentReference }) => paymentReference)).size).toBe(1)
  })

  test('silence: the charge moves, and nobody is told', async () => {
    for (const [name, status] of [['pay', 'paid'], ['complete', 'paid'], ['decline', 'failed'], ['expire', 'expired']] as const) {
      const charge = await made()
      expect(await move(charge, name, { callback: null })).toMatchObject({ callback: null, callbacks: [] })
      expect(await statusNow(charge)).toBe(status)
    }
    expect(received).toEqual([])
  })

  test('reversed before paid, or any other order: held back and let go as asked, each signed as it goes', async () => {
    const charge = await made()
    await call('POST', '/control/hold', { key: charge.key })
    expect(await move(charge, 'pay')).toMatchObject({ callback: { held: 'held-1' } })
    await move(charge, 'reverse')
    const other = await made()
    await move(other, 'pay')
    expect(read().map(({ key }) => key)).toEqual([other.key])
    const { json: { held } } = await call('GET', '/control/held')
    expect(held?.map(({ event }) => event)).toEqual(['charge.paid', 'charge.reversed'])
    clockAt(500)
    const { json } = await call('POST', '/control/release', { ids: held?.map(({ id }) => id).reverse() })
    expect(json.released).toMatchObject([{ id: 'held-2', callback: { status: 200 } }, { id: 'held-1', callback: { status: 200 } }])
    expect(told().slice(1)).toMatchObject([
      { verdict: 'verified', reading: { callback: { status: 'reversed', key: charge.key } } },
      { verdict: 'verified', reading: { callback: { status: 'paid', key: charge.key } } },
    ])
    await move(charge, 'notify', { status: 'expired' })
    expect(received).toHaveLength(3)
  })

  test('holding back is by key, reference or merchant\'s reference; a release without ids sends all in order and ends it', async () => {
    const charges = await Promise.all([made(), made(), made(), made()])
    const [byItsKey, byReference, byMerchant, free] = charges
    const references = (await call('GET', '/control/charges')).json.charges ?? []
    await call('POST', '/control/hold', { key: byItsKey.key })
    await call('POST', '/control/hold', { reference: byReference.reference })
    await call('POST', '/control/hold', { merchant_reference: references[2]?.merchant_reference })
    for (const charge of charges) await move(charge, 'pay')
    expect(read().map(({ key }) => key)).toEqual([free.key])
    await call('POST', '/control/release', { keep_holding: true })
    expect(read().map(({ key }) => key)).toEqual([free, byItsKey, byReference, byMerchant].map(({ key }) => key))
    await move(byItsKey, 'notify')
    expect(received).toHaveLength(4)
    await call('POST', '/control/release', { discard: true })
    await move(byItsKey, 'notify')
    expect(received).toHaveLength(5)
    expect((await call('POST', '/control/release', { ids: ['held-9'] })).status).toBe(404)
  })

  test('held back for all, by a sandbox move too, which is then not reported yet; clear throws away what is held', async () => {
    const charge = await made()
    await call('POST', '/control/hold')
    expect(await provider.sandbox.complete(charge.reference)).toEqual({ outcome: 'moved', reported: false })
    await call('POST', '/control/clear')
    expect((await call('GET', '/control/held')).json.held).toEqual([])
    expect(received).toEqual([])
    expect(await provider.sandbox.complete(charge.reference)).toEqual({ outcome: 'moved', reported: true })
  })

  test('repeats are of the same bytes, and the answer to each is told', async () => {
    const charge = await made()
    answerWith(503)
    expect((await move(charge, 'pay', { callback: { repeat: 5 } })).callbacks).toMatchObject(Array.from({ length: 5 }, () => ({ status: 503, body: 'noted' })))
    expect(received).toHaveLength(5)
    expect(callbackAt(4).rawBody).toEqual(callbackAt(0).rawBody)
  })
})

test('the callback of a creation comes before its answer, which waits and then speaks of the charge as it was made', async () => {
  await call('POST', '/control/next', { behaviour: 'callback-before-answer', ms: 50 })
  const request = requestFor('qris')
  expect(charged(await provider.createCharge(request))).toMatchObject({ status: 'pending', payments: [] })
  expect(read()).toMatchObject([{ key: request.key, status: 'paid' }])
})

test('money after the end, for another amount, at the provider\'s own time', async () => {
  const charge = await made()
  await move(charge, 'expire')
  await move(charge, 'pay', { force: true, amount_idr: 149_999, completed_at: '2026-08-03T03:05:00Z' })
  expect(read().map(({ status, amountIdr }) => [status, amountIdr])).toEqual([['expired', 150_000], ['paid', 149_999]])
})

test('what a control call does not know is refused by name, and moves nothing', async () => {
  const charge = await made()
  const at = `/control/charges/${charge.reference}`
  for (const [path, body, named] of [
    ['pay', { amount: 1 }, 'no member amount'], ['pay', { callback: { sign: 'x' } }, 'no member sign'],
    ['pay', { callback: { signature: 'odd' } }, 'signature'],
    ['pay', { callback: 'loud' }, 'callback must be'], ['pay', { callback: { says: [] } }, 'says'], ['pay', { callback: { without: 'x' } }, 'without'],
    ['pay', { callback: { body: 1 } }, 'body'], ['pay', { callback: { repeat: 101 } }, 'repeat'], ['pay', { force: 'yes' }, 'force'],
    ['notify', { status: 'settled' }, 'status'],
    ['complete', { again: 1 }, 'again'], ['decline', { callback: { repeat: 0 } }, 'repeat'], ['expire', { callback: 1 }, 'callback'],
    ['reverse', { force: true }, 'no member force'],
  ] as const) {
    const { status, json } = await call('POST', `${at}/${path}`, body)
    expect([path, body, status, json.message]).toEqual([path, body, 400, expect.stringContaining(named)])
  }
  expect((await call('POST', '/control/release', { ids: [1] })).json.message).toContain('ids')
  expect((await call('POST', '/control/hold', { key: 7 })).json.message).toContain('key')
  expect([await statusNow(charge), received]).toEqual(['pending', []])
})

test('the magic amounts are distinct, and mean one thing each', () => {
  expect(new Set(magicAmounts.map(({ amountIdr }) => amountIdr)).size).toBe(magicAmounts.length)
  for (const row of magicAmounts) expect([row.amountIdr, [row.creation, row.completion, row.refund].filter((one) => one !== null)]).toEqual([row.amountIdr,
    [expect.anything()]])
})
