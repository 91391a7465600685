import { describe, expect, test } from 'vitest'
import type { Charge, ChargeRequest } from '../paymentProvider.ts'
import { SimulatorProvider } from '../simulatorProvider.ts'
import { behaviours } from './behaviours.ts'
import {
  apiKey, byKey, call, charged, heldFor, known, provider, received, requestFor, runtime, simulator, slept, unanswered,
} from './simulatorBench.ts'

const next = async (body: Record<string, unknown>) => {
  const { status, json } = await call('POST', '/control/next', body)
  expect([body, status, json.message]).toEqual([body, 200, undefined])
}
const made = async (change: Partial<ChargeRequest> = {}): Promise<Charge> => charged(await provider.createCharge(requestFor('qris', change)))

/** The calls that can be made to misbehave, each on a charge of its own, with what tells whether it had its effect. */
const calls = {
  create: async () => {
    const request = requestFor('qris')
    return { attempt: () => provider.createCharge(request), hasActed: async () => (await heldFor(request.key))?.charges === 1 }
  },
  expire: async () => {
    const charge = await made()
    return { attempt: () => provider.expireCharge(known(charge)), hasActed: async () => (await statusOf(charge)) === 'expired' }
  },
  refund: async () => {
    const charge = await made(wallet)
    await call('POST', `/control/charges/${charge.reference}/pay`)
    const request = {
      key: `refund-of-${charge.key}`, charge: known(charge), paymentReference: `${charge.reference}-P1`, amountIdr: 1000, reason: 'other' as const,
      note: null, destination: null, callbackUrl: 'http://127.0.0.1:1/',
    }
    return {
      attempt: () => provider.refund(request),
      hasActed: async () => (await call('GET', `/control/refunds?key=${request.key}`)).json.total === 1,
    }
  },
} as const
const wallet = { channel: 'ewallet_wallet_a' } as const
const statusOf = async ({ key }: Charge) => (await call('GET', `/control/charges?key=${key}`)).json.charges?.[0]?.status

describe.each(Object.keys(calls) as (keyof typeof calls)[])('a fault on %s', (on) => {
  const expected = {
    'error-500': { outcome: 'unknown', reason: 'status 500 provider_error' },
    malformed: { outcome: 'unknown', reason: expect.stringMatching(/unreadable/) },
    reset: { outcome: 'unknown', reason: expect.stringMatching(/fetch failed/) },
    unauthenticated: { outcome: 'misconfigured', reason: 'status 401 unauthenticated' },
    forbidden: { outcome: 'misconfigured', reason: 'status 403 forbidden' },
    'rate-limited': { outcome: 'retryable', reason: 'status 429 rate_limited', retryAfterSeconds: 17 },
  } as const

  test.each(Object.entries(expected))('%s: what it leaves to believe, before and after the call has had its effect, once', async (behaviour, result) => {
    for (const after of [false, true]) {
      const { attempt, hasActed } = await calls[on]()
      await next({ on, behaviour, after, ...(behaviour === 'rate-limited' && { retry_after_seconds: 17 }) })
      expect(await attempt()).toEqual(result)
      expect([after, await hasActed()]).toEqual([after, after])
      expect(['charged', 'ended', 'succeeded']).toContain((await attempt()).outcome)
    }
  })

  test('time-out: no answer, before and after the effect', async () => {
    for (const after of [false, true]) {
      const { attempt, hasActed } = await calls[on]()
      await next({ on, behaviour: 'time-out', after })
      expect(await unanswered<{ outcome: string }>(attempt)).toMatchObject({ outcome: 'unknown' })
      expect([after, await hasActed()]).toEqual([after, after])
    }
  })

  test('latency: the answer waits as long as asked for, with a fault too', async () => {
    const [first, second] = [await calls[on](), await calls[on]()]
    await next({ on, behaviour: 'latency', ms: 1234 })
    await next({ on, behaviour: 'error-500', ms: 567 })
    await first.attempt()
    await second.attempt()
    expect(slept).toEqual([1234, 567])
  })
})

describe('the status query', () => {
  test('fails in each of the ways, and tells the truth again afterwards', async () => {
    const charge = await made()
    for (const [behaviour, outcome] of [
      ['error-500', 'unknown'], ['malformed', 'unknown'], ['reset', 'unknown'], ['unauthenticated', 'misconfigured'], ['forbidden', 'misconfigured'],
      ['rate-limited', 'retryable'], ['absent', 'absent'],
    ]) {
      await next({ on: 'find', behaviour })
      expect([behaviour, (await provider.findCharge(byKey(charge.key))).outcome]).toEqual([behaviour, outcome])
    }
    await next({ on: 'find', behaviour: 'time-out' })
    expect((await unanswered(() => provider.findCharge(byKey(charge.key)))).outcome).toBe('unknown')
    await next({ on: 'find', behaviour: 'latency', ms: 99 })
    expect(await provider.findCharge(byKey(charge.key))).toEqual({ outcome: 'found', charge })
    expect(slept).toEqual([99])
  })

  test('lags behind: the charge as it was made, although it is paid', async () => {
    const charge = await made()
    await call('POST', `/control/charges/${charge.reference}/pay`)
    await next({ on: 'find', behaviour: 'as-made' })
    expect(await provider.findCharge(byKey(charge.key))).toMatchObject({ charge: { status: 'pending', payments: [] } })
    expect(await provider.findCharge(byKey(charge.key))).toMatchObject({ charge: { status: 'paid', payments: [{}] } })
  })
})

describe('the queue', () => {
  test('a behaviour is for its call, key, merchant\'s reference or channel, and for no other', async () => {
    const [qris, va] = [requestFor('qris'), requestFor('va_bank_a')]
    await next({ on: 'find', behaviour: 'absent', key: 'another' })
    await next({ behaviour: 'decline', channel: 'va_bank_a', code: 'VA_DOWN', message: 'The bank is away.' })
    await next({ on: 'expire', behaviour: 'error-500', merchant_reference: qris.merchantReference })
    const charge = charged(await provider.createCharge(qris))
    expect(await provider.createCharge(va)).toMatchObject({ outcome: 'declined', decline: { code: 'VA_DOWN', message: 'The bank is away.' } })
    expect((await provider.findCharge(byKey(charge.key))).outcome).toBe('found')
    expect((await provider.expireCharge(known(charge))).outcome).toBe('unknown')
    expect((await call('GET', '/control/next')).json).toEqual({
      queued: [{ on: 'find', behaviour: 'absent', remaining: 1, key: 'another', merchant_reference: null, channel: null }],
    })
  })

  test('clear ends what waits and leaves the charges; the names of before still work', async () => {
    const charge = await made()
    await next({ behaviour: 'time-out-before-charging', n: 1000 })
    await next({ behaviour: 'time-out-after-charging', n: 1000 })
    await call('POST', '/control/clear')
    expect((await provider.createCharge(requestFor('qris'))).outcome).toBe('charged')
    expect((await provider.findCharge(byKey(charge.key))).outcome).toBe('found')
    await next({ behaviour: 'time-out-after-charging' })
    const request = requestFor('qris')
    await unanswered(() => provider.createCharge(request))
    expect((await provider.findCharge(byKey(request.key))).outcome).toBe('found')
  })

  test('a behaviour that is not for the call, an after that nothing follows, and a stranger are refused by name', async () => {
    for (const [body, named] of [
      [{ behaviour: 'absent' }, 'absent is not for create'], [{ behaviour: 'silent', on: 'find' }, 'silent is not for find'],
      [{ behaviour: 'decline', after: true }, 'decline has no after'], [{ behaviour: 'latency', on: 'pay' }, 'on is not'],
      [{ behaviour: 'error-500', after: 1 }, 'after must be'],
      [{ behaviour: 'error-500', chanel: 'qris' }, 'no member chanel'], [{ behaviour: 'error-500', channel: 'gold' }, 'channel is not'],
    ] as const) {
      const { status, json } = await call('POST', '/control/next', body)
      expect([body, status, json.message]).toEqual([body, 400, expect.stringContaining(named)])
    }
  })

  test('every behaviour of the table is taken on a call that it names', async () => {
    for (const [behaviour, { on }] of Object.entries(behaviours)) await next({ behaviour, on: on?.[0] ?? 'create' })
  })
})

test('silent: nothing is told of the charge by itself, but a tester can tell of it', async () => {
  await next({ behaviour: 'silent' })
  const request = requestFor('qris')
  await unanswered(() => provider.createCharge(request))
  const found = await provider.findCharge(byKey(request.key))
  if (found.outcome !== 'found') throw new Error(found.outcome)
  const at = `/control/charges/${found.charge.reference}`
  expect((await call('POST', `${at}/pay`)).json.callbacks).toEqual([])
  await call('POST', `${at}/notify`)
  expect(received).toHaveLength(1)
})

test('an API key that is wrong is misconfigured, not declined, on every call', async () => {
  const stranger = new SimulatorProvider({ baseUrl: simulator.url, apiKey: `${apiKey}x`, runtime })
  const charge = await made()
  const refund = { key: 'refund', reference: null, charge: known(charge) }
  for (const result of [
    stranger.createCharge(requestFor('qris')), stranger.findCharge(byKey(charge.key)), stranger.expireCharge(known(charge)), stranger.findRefund(refund),
    stranger.sandbox.complete(charge.reference),
  ]) expect(await result).toEqual({ outcome: 'misconfigured', reason: 'status 401 unauthenticated' })
})
