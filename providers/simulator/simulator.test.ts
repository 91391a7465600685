import { describe, expect, test } from 'vitest'
import { channelCodes, channelOf } from '../../domain/channels.ts'
import type { ChannelCode } from '../../domain/channels.ts'
import { parseQris } from '../../domain/qris.ts'
import { SimulatorProvider } from '../simulatorProvider.ts'
import { magicAmounts } from './magicAmounts.ts'
import {
  apiKey, byKey, call, callbackAt, charged, createUnanswered, heldFor, known, provider, received, requestFor, runtime,
  simulator, slept, start,
} from './simulatorBench.ts'

describe('typed fields', () => {
  test('qris with one use is dynamic: amount in tag 54, the charge reference in tag 62', async () => {
    const charge = charged(await provider.createCharge(requestFor('qris')))
    expect(Object.keys(charge.fields)).toEqual(['qr_string'])
    expect(parseQris(charge.fields.qr_string ?? '')).toMatchObject({
      kind: 'dynamic', amountIdr: 150_000, merchantName: 'WARUNG KOPI EMAS', merchantCity: 'BANDUNG',
      reference: charge.reference,
    })
  })

  test('qris with more uses is static and has no amount', async () => {
    const charge = charged(await provider.createCharge(requestFor('qris', { multiUse: true })))
    expect(parseQris(charge.fields.qr_string ?? '')).toMatchObject({ kind: 'static', amountIdr: null })
  })

  test.each([
    ['va_bank_a', /^38165\d{8}$/], ['va_bank_b', /^8808\d{8}$/], ['va_bank_c', /^92001\d{13}$/],
    ['va_bank_d', /^88608\d{8}$/], ['va_bank_e', /^7293\d{8}$/], ['va_bank_f', /^9347\d{8}$/],
  ] as const)('%s gives a number of its bank, the bank and the account\'s end', async (channel, form) => {
    const charge = charged(await provider.createCharge(requestFor(channel)))
    expect(charge.fields).toEqual({
      va_number: expect.stringMatching(form), va_bank: channel.slice(3), expires_at: '2026-08-03T03:14:05.678Z',
    })
  })

  test('two charges never share an account number', async () => {
    const numbers = new Set<string | undefined>()
    for (let turn = 0; turn < 50; turn += 1) {
      numbers.add(charged(await provider.createCharge(requestFor('va_bank_a'))).fields.va_number)
    }
    expect(numbers.size).toBe(50)
  })

  test('a charge without an end gets the channel\'s own', async () => {
    const { fields } = charged(await provider.createCharge(requestFor('va_bank_a', { expiresAt: null })))
    expect(fields.expires_at).toBe('2026-08-04T03:04:05.678Z')
  })

  test.each([
    ['ewallet_wallet_a', 'redirect_url'], ['ewallet_wallet_b', 'redirect_url'], ['ewallet_wallet_c', 'redirect_url'],
    ['ewallet_wallet_d', 'redirect_url'], ['ewallet_wallet_e', 'redirect_url'],
    ['paylater_a', 'payment_url'], ['paylater_b', 'payment_url'],
  ] as const)('%s gives %s, a page that is there and on which the payer pays', async (channel, name) => {
    const returnUrl = 'https://shop.example/thanks'
    const made = charged(await provider.createCharge(requestFor(channel, { returnUrl })))
    expect(Object.keys(made.fields)).toEqual([name])
    const address = made.fields[name] ?? ''
    const page = await fetch(address)
    expect(page.status).toBe(200)
    expect(await page.text()).toContain('Rp 150.000')
    const paid = await fetch(`${address}/pay`, { method: 'POST', redirect: 'manual' })
    expect(paid.headers.get('location')).toBe(returnUrl)
    expect(await provider.findCharge(byKey(made.key))).toMatchObject({ charge: { status: 'paid' } })
    expect(received).toHaveLength(1)
  })

  test.each([['otc_store_a', /^7719\d{10}$/], ['otc_store_b', /^8820\d{12}$/]] as const)(
    '%s gives a payment code of the store', async (channel, form) => {
      const { fields } = charged(await provider.createCharge(requestFor(channel)))
      expect(fields).toEqual({ payment_code: expect.stringMatching(form) })
    })

  test('card_3ds gives the reference of a challenge', async () => {
    const { fields } = charged(await provider.createCharge(requestFor('card_3ds')))
    expect(fields).toEqual({ challenge: expect.stringMatching(/^3ds_[0-9a-f]{32}$/) })
  })

  test('every channel with a provider can be charged, and takes every magic amount', async () => {
    const servedChannels = Object.keys(provider.capabilities) as ChannelCode[]
    for (const channel of servedChannels) {
      expect((await provider.createCharge(requestFor(channel))).outcome).toBe('charged')
      for (const { amountIdr } of magicAmounts) {
        expect(amountIdr).toBeGreaterThanOrEqual(channelOf(channel).min_amount_idr)
        expect(amountIdr).toBeLessThanOrEqual(channelOf(channel).max_amount_idr)
      }
    }
    expect(servedChannels).toEqual(channelCodes.filter((code) => code !== 'cash'))
    expect((await provider.createCharge(requestFor('cash'))).outcome).toBe('declined')
  })
})

describe('creation', () => {
  test('fifty at once under one key make one charge, and each gets it', async () => {
    const request = requestFor('va_bank_b')
    const made = await Promise.all(Array.from({ length: 50 }, () => provider.createCharge(request)))
    expect(new Set(made.map((result) => charged(result).fields.va_number)).size).toBe(1)
    expect(await heldFor(request.key)).toEqual({ charges: 1, create_calls: 50 })
  })

  test('another request under the same key is refused, and says nothing about the charge that is there', async () => {
    const request = requestFor('qris')
    await provider.createCharge(request)
    expect(await provider.createCharge({ ...request, amountIdr: 150_001 })).toMatchObject({ outcome: 'unknown' })
    expect(await provider.findCharge(byKey(request.key))).toMatchObject({ outcome: 'found', charge: { amountIdr: 150_000 } })
  })

  test('findCharge tells a charge made under our key from none', async () => {
    const request = requestFor('otc_store_a')
    expect(await provider.findCharge(byKey(request.key))).toEqual({ outcome: 'absent' })
    const charge = charged(await provider.createCharge(request))
    expect(await provider.findCharge(byKey(request.key))).toEqual({ outcome: 'found', charge })
  })

  test('pay-later below its floor is declined in the provider\'s own words, at the floor it is charged', async () => {
    for (const channel of ['paylater_a', 'paylater_b'] as const) {
      expect(await provider.createCharge(requestFor(channel, { amountIdr: 99_999 }))).toEqual({
        outcome: 'declined',
        decline: {
          provider: 'simulator', code: 'AMOUNT_BELOW_MINIMUM',
          message: 'The amount is below the minimum transaction of Rp 100,000.',
        },
      })
      expect((await provider.createCharge(requestFor(channel, { amountIdr: 100_000 }))).outcome).toBe('charged')
    }
  })

  test('a merchant whose name has no form in QRIS, and an end that is past, are declined', async () => {
    const { merchant } = requestFor('qris')
    expect(await provider.createCharge(requestFor('qris', { merchant: { ...merchant, name: '商店' } })))
      .toMatchObject({ outcome: 'declined', decline: { code: 'merchant_unfit_for_qris' } })
    expect(await provider.createCharge(requestFor('qris', { expiresAt: start })))
      .toMatchObject({ outcome: 'declined', decline: { code: 'expiry_past' } })
  })

  test('the magic amounts that concern creation decline, and time out on the first call only', async () => {
    expect(await provider.createCharge(requestFor('qris', { amountIdr: 111_001 })))
      .toMatchObject({ outcome: 'declined', decline: { code: 'CHARGE_DECLINED' } })

    const afterwards = requestFor('qris', { amountIdr: 111_002 })
    expect((await createUnanswered(afterwards)).outcome).toBe('unknown')
    expect((await provider.findCharge(byKey(afterwards.key))).outcome).toBe('found')

    const before = requestFor('qris', { amountIdr: 111_003 })
    expect((await createUnanswered(before)).outcome).toBe('unknown')
    expect((await provider.findCharge(byKey(before.key))).outcome).toBe('absent')
    expect((await provider.createCharge(before)).outcome).toBe('charged')
  })

  test('every magic amount of completion is kept with its charge', async () => {
    for (const { amountIdr, completion } of magicAmounts.filter((row) => row.completion !== null)) {
      const { key } = charged(await provider.createCharge(requestFor('va_bank_a', { amountIdr })))
      expect((await call('GET', `/control/charges?key=${key}`)).json.charges).toMatchObject([{ completion }])
    }
  })
})

describe('behaviours', () => {
  test('time-out after charging: no answer, and exactly one charge that a look-up finds', async () => {
    await call('POST', '/control/next', { behaviour: 'time-out-after-charging' })
    const request = requestFor('qris')
    expect((await createUnanswered(request)).outcome).toBe('unknown')
    expect((await provider.findCharge(byKey(request.key))).outcome).toBe('found')
    expect((await provider.createCharge(request)).outcome).toBe('charged')
    expect(await heldFor(request.key)).toEqual({ charges: 1, create_calls: 2 })
  })

  test('time-out before charging: no answer and no charge, n times', async () => {
    await call('POST', '/control/next', { behaviour: 'time-out-before-charging', n: 2 })
    const request = requestFor('qris')
    await createUnanswered(request)
    await createUnanswered(request)
    expect(await provider.findCharge(byKey(request.key))).toEqual({ outcome: 'absent' })
    expect((await provider.createCharge(request)).outcome).toBe('charged')
    expect(await heldFor(request.key)).toEqual({ charges: 1, create_calls: 3 })
  })

  test('silent: charged, but neither an answer nor a callback ever comes; a look-up knows all', async () => {
    await call('POST', '/control/next', { behaviour: 'silent' })
    const request = requestFor('qris')
    await createUnanswered(request)
    const found = await provider.findCharge(byKey(request.key))
    if (found.outcome !== 'found') throw new Error('not found')
    const paid = await call('POST', `/control/charges/${found.charge.reference}/pay`)
    expect(paid.json.callback).toBeNull()
    expect(received).toHaveLength(0)
    expect(await provider.findCharge(byKey(request.key))).toMatchObject({ charge: { status: 'paid' } })
  })

  test('decline: the code and message asked for arrive unchanged', async () => {
    await call('POST', '/control/next', { behaviour: 'decline', code: 'SALDO-51', message: 'Saldo “tidak” cukup' })
    expect(await provider.createCharge(requestFor('ewallet_wallet_a'))).toEqual({
      outcome: 'declined', decline: { provider: 'simulator', code: 'SALDO-51', message: 'Saldo “tidak” cukup' },
    })
  })

  test('latency: the answer waits as long as asked for', async () => {
    await call('POST', '/control/next', { behaviour: 'latency', ms: 2345 })
    charged(await provider.createCharge(requestFor('qris')))
    charged(await provider.createCharge(requestFor('qris')))
    expect(slept).toEqual([2345])
  })

  test('callback before answer: the payment is reported while the creation still waits', async () => {
    await call('POST', '/control/next', { behaviour: 'callback-before-answer' })
    const request = requestFor('qris')
    const result = provider.createCharge(request).then((made) => ({ made, callbacks: received.length }))
    expect((await result).callbacks).toBe(1)
    expect(charged((await result).made).status).toBe('pending')
    expect(provider.parseCallback(callbackAt(0).rawBody)).toMatchObject({
      callback: { key: request.key, status: 'paid', amountIdr: 150_000 },
    })
  })

  test('error 500: an unknown outcome, and no charge', async () => {
    await call('POST', '/control/next', { behaviour: 'error-500' })
    const request = requestFor('qris')
    expect(await provider.createCharge(request)).toEqual({ outcome: 'unknown', reason: 'status 500 provider_error' })
    expect(await provider.findCharge(byKey(request.key))).toEqual({ outcome: 'absent' })
  })

  test('a behaviour for one key or one reference of a merchant leaves all others alone', async () => {
    const [first, second, third] = [requestFor('qris'), requestFor('qris'), requestFor('qris')]
    await call('POST', '/control/next', { behaviour: 'error-500', key: first.key })
    await call('POST', '/control/next', { behaviour: 'decline', merchant_reference: second.merchantReference })
    expect((await provider.createCharge(third)).outcome).toBe('charged')
    expect((await provider.createCharge(second)).outcome).toBe('declined')
    expect((await provider.createCharge(first)).outcome).toBe('unknown')
    expect((await provider.createCharge(first)).outcome).toBe('charged')
  })

  test('a call ends at its limit of time, and against a simulator that is gone', async () => {
    await call('POST', '/control/next', { behaviour: 'time-out-before-charging' })
    const hasty = new SimulatorProvider({ baseUrl: simulator.url, apiKey, runtime, callLimitMs: 30 })
    expect(await hasty.createCharge(requestFor('qris')))
      .toMatchObject({ outcome: 'unknown', reason: expect.stringContaining('TimeoutError') })
    await simulator.close()
    expect((await provider.findCharge(byKey('gone'))).outcome).toBe('unknown')
    expect((await provider.expireCharge(known({ key: 'none', reference: 'SIM0' }))).outcome).toBe('unknown')
  })
})
