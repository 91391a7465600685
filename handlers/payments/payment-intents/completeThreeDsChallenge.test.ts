import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { intentActs } from '../../../contract-tests/harness/intentActs.ts'
import { startPayments } from '../../../contract-tests/harness/payments.ts'

const bench = await startPayments()
const { call, clock, configuration, given, logged, settled, simulator } = bench
const merchant = await given.merchant()
const as = await given.apiKey(merchant)
const { attempts, charged, created, kinds, read } = intentActs(bench, as)
const { SANDBOX_APPROVE_CODE: approve, SANDBOX_DECLINE_CODE: decline } = configuration

const card = { amount_idr: 150_000, allowed_channels: ['card_3ds'] }
const answerWith = (id: string, auth_code: string) => call('completeThreeDsChallenge', { params: { id }, query: { auth_code } })

describe('200', () => {
  test('the approving code pays the intent, and again answers the same', async () => {
    const { id } = await created(card)
    const first = await answerWith(id, approve)
    expect(first).toMatchObject({ status: 200, body: { intent_id: id, result: 'approved' } })
    expect(await read(id)).toMatchObject({ status: 'paid', paid_idr: 150_000 })
    expect((await answerWith(id, approve)).body).toEqual(first.body)
    expect(await kinds(id)).toEqual(['payment_intent.created', 'payment.completed'])
  })

  test('the declining code fails the intent, and again answers the same', async () => {
    const { id } = await created(card)
    const first = await answerWith(id, decline)
    expect(first).toMatchObject({ status: 200, body: { intent_id: id, result: 'declined' } })
    expect(await read(id)).toMatchObject({ status: 'failed', paid_idr: 0 })
    expect(await attempts(id)).toMatchObject([{ status: 'failed', failure_code: 'CHALLENGE_DECLINED' }])
    expect((await answerWith(id, decline)).body).toEqual(first.body)
    expect(await kinds(id)).toEqual(['payment_intent.created', 'payment.failed'])
  })

  test('an amount with a meaning has its way after the approval', async () => {
    const declined = await created({ ...card, amount_idr: 111_011 })
    expect(await answerWith(declined.id, approve)).toMatchObject({ status: 200, body: { result: 'declined' } })
    expect(await read(declined.id)).toMatchObject({ status: 'failed' })
    const silent = await created({ ...card, amount_idr: 111_015 })
    expect(await answerWith(silent.id, approve)).toMatchObject({ status: 200, body: { result: 'approved' } })
    expect(await read(silent.id)).toMatchObject({ status: 'open' })
    // The payment is made, though nobody reports it: no other code undoes that.
    expect(await answerWith(silent.id, decline)).toMatchObject({ status: 200, body: { result: 'approved' } })
    expect(await read(silent.id)).toMatchObject({ status: 'open' })
  })

  test('the same code from several at once makes one result', async () => {
    const { id } = await created(card)
    const answers = await Promise.all(Array.from({ length: 5 }, () => answerWith(id, approve)))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    expect(await read(id)).toMatchObject({ status: 'paid', uses: 1, overpaid_idr: 0 })
  })

  test('both codes at once: one makes the result, the other is refused', async () => {
    const { id } = await created(card)
    const answers = await Promise.all([answerWith(id, approve), answerWith(id, decline)])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409])
  })
})

describe('400', () => {
  test('invalid_auth_code: any other value changes nothing', async () => {
    const { id } = await created(card)
    for (const code of ['4000000000001092', `${approve} `, 'x', 'y'.repeat(300)]) {
      expect(await answerWith(id, code)).toMatchObject({ status: 400, body: { error: 'invalid_auth_code' } })
    }
    expect(await read(id)).toMatchObject({ status: 'open' })
  })

  test('validation_failed or invalid_auth_code: no code at all', async () => {
    const { id } = await created(card)
    expect(await call('completeThreeDsChallenge', { params: { id } })).toMatchObject({ status: 400 })
  })
})

describe('409', () => {
  test('the other code after a result', async () => {
    const paid = await created(card)
    await answerWith(paid.id, approve)
    expect(await answerWith(paid.id, decline)).toMatchObject({ status: 409, body: { error: 'invalid_state', message: 'The payment intent is paid.' } })
    const failed = await created(card)
    await answerWith(failed.id, decline)
    expect(await answerWith(failed.id, approve)).toMatchObject({ status: 409, body: { error: 'invalid_state', message: 'The payment intent is failed.' } })
  })

  test('an intent on another channel, or with no attempt at a card', async () => {
    for (const allowed_channels of [['qris'], ['card_3ds', 'qris']]) {
      const { id } = await created({ amount_idr: 150_000, allowed_channels })
      expect(await answerWith(id, approve)).toMatchObject({ status: 409, body: { error: 'invalid_state' } })
    }
  })

  test('an intent that is cancelled, and one past its deadline', async () => {
    const cancelled = await created(card)
    await call('cancelPaymentIntent', { as, params: { id: cancelled.id } })
    expect(await answerWith(cancelled.id, approve)).toMatchObject({ status: 409, body: { message: 'The payment intent is cancelled.' } })
    const over = await created({ ...card, expires_in_seconds: 60 })
    clock.advance(60_000)
    expect(await answerWith(over.id, approve)).toMatchObject({ status: 409, body: { message: 'The payment intent is expired.' } })
  })

  test('an attempt that failed otherwise is not the declining code\'s result', async () => {
    const { id, reference } = await charged(card)
    await settled(simulator.move(reference, 'decline'))
    expect(await answerWith(id, decline)).toMatchObject({ status: 409, body: { error: 'invalid_state' } })
  })
})

test('404: an intent that nobody has, and one that is not visible', async () => {
  expect(await answerWith(randomUUID(), approve)).toMatchObject({ status: 404, body: { error: 'not_found' } })
})

test('503: the acquirer is silent', async () => {
  const silent = await startPayments({ sleep: (milliseconds) => wait(milliseconds / 50) })
  const { id } = await intentActs(silent, await silent.given.apiKey(await silent.given.merchant())).created(card)
  await silent.database.query((sql) => sql`update payments.psp_credentials set provider = 'lost'`)
  expect(await silent.call('completeThreeDsChallenge', { params: { id }, query: { auth_code: approve } })).toMatchObject({ status: 503, body: { error: 'unavailable' } })
})

test('the codes can be set, and in production none is known', async () => {
  const own = await startPayments({ settings: { SANDBOX_APPROVE_CODE: '4111111111111111' }, sleep: (milliseconds) => wait(milliseconds / 50) })
  const { id } = await intentActs(own, await own.given.apiKey(await own.given.merchant())).created(card)
  expect(await own.call('completeThreeDsChallenge', { params: { id }, query: { auth_code: approve } })).toMatchObject({ status: 400, body: { error: 'invalid_auth_code' } })
  expect(await own.call('completeThreeDsChallenge', { params: { id }, query: { auth_code: '4111111111111111' } })).toMatchObject({ status: 200 })
})

test('no code is ever logged', () => {
  expect(logged.length).toBeGreaterThan(10)
  for (const code of [approve, decline, '4000000000001092']) expect(logged.join('')).not.toContain(code)
})
