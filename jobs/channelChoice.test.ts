import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { startPayments } from '../contract-tests/harness/payments.ts'
import { DatabaseUnavailable } from '../db/sql.ts'
import type { Database } from '../db/sql.ts'
import type { components } from '../generated/payments.ts'
import type { ChargeRequest, PaymentProvider } from '../providers/paymentProvider.ts'
import { chooseChannel, resumeChoice } from './channelChoice.ts'
import { dueWithdrawals, withdrawCharge } from './chargeWithdrawal.ts'

type Create = components['schemas']['PaymentIntentCreate']

/** What happens while a choice waits; set by each test. */
let whileWaiting: () => Promise<void> = async () => undefined
const bench = await startPayments({ settings: { PROVIDER_TIMEOUT_MS: '250' }, sleep: () => whileWaiting() })
const { call, clock, creation, database, given, settled, simulator } = bench
const merchant = await given.merchant()
const as = await given.apiKey(merchant)

beforeEach(() => {
  whileWaiting = () => new Promise((resolve) => setImmediate(resolve))
})

interface Intent {
  id: string
  shortcode: string
  reference: string
}

const create = async (body: Partial<Create> = {}): Promise<Intent> => {
  const reference = `order-${randomUUID()}`
  const answer = await call('createPaymentIntent', {
    as, body: { amount_idr: 150_000, allowed_channels: ['qris', 'va_bank_a', 'ewallet_wallet_a', 'cash'], reference_id: reference, ...body },
  })
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
  return { id: answer.body.id, shortcode: answer.body.shortcode, reference }
}
const choose = ({ id }: Intent, channel: string, settings = creation) => {
  // So that the order of attempts is that of the choices.
  clock.advance(1)
  return chooseChannel(settings, { tenantId: merchant.tenantId, merchantId: merchant.id, intentId: id, channel, requestId: 'test' })
}
/** A provider that has made the charge and holds back its answer until it is let go. */
const heldBack = () => {
  const [charged, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const provider = creation.providers.get('simulator')
  if (!provider) throw new Error('no simulator')
  const slow: PaymentProvider = Object.assign(Object.create(provider) as PaymentProvider, {
    createCharge: async (request: ChargeRequest) => {
      const answer = await provider.createCharge(request)
      charged.resolve()
      await held.promise
      return answer
    },
  })
  return { settings: { ...creation, providers: new Map([['simulator', slow]]) }, charged: charged.promise, letGo: held.resolve }
}
const chosen = async (intent: Intent, channel: string) => {
  const choice = await choose(intent, channel)
  if (choice.outcome !== 'chosen') throw new Error(JSON.stringify(choice))
  return choice.attempt
}
const behave = (behaviour: string, { reference }: Intent, options = {}) => simulator.next(behaviour, { merchant_reference: reference, ...options })
const chargesOf = async ({ reference }: Intent) => (await simulator.charges({ merchant_reference: reference })).charges
const statesOf = async (intent: Intent) => (await chargesOf(intent)).map(({ channel, status }) => `${String(channel)} ${status}`)
const attemptsOf = ({ id }: Intent) => database.query((sql) => sql<{ id: string, channel: string, status: string, charge_reference: string }[]>`
  select id, channel, status, charge_reference from payments.payment_attempts where intent_id = ${id} order by created_at, id`)
const stateOf = async (intent: Intent) => (await attemptsOf(intent)).map(({ channel, status }) => `${channel} ${status}`)
const read = async ({ id }: Intent) => {
  const answer = await call('getPaymentIntent', { as, params: { id } })
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
  return answer.body
}
const eventsOf = async ({ id }: Intent) =>
  (await database.query((sql) => sql<{ kind: string }[]>`select kind from payments.events where intent_id = ${id} order by position`)).map(({ kind }) => kind)
const operationOf = async ({ id }: Intent) => {
  const [row] = await database.query((sql) => sql<{ id: string, recovery_point: string }[]>`
    select id, recovery_point from payments.provider_operations where intent_id = ${id} and kind = 'choose_channel' order by created_at desc, id desc`)
  return row
}
const setLease = async (intent: Intent, seconds: number) => {
  const operation = await operationOf(intent)
  await database.query((sql) => sql`
    update payments.provider_operations set lease_until = now() + ${seconds} * interval '1 second' where id = ${operation?.id ?? ''}`)
}
/** Withdraws what is due now, as the worker does; `later` makes what waits due. */
const withdraw = async ({ id }: Intent, later = false) => {
  if (later) {
    await database.query((sql) => sql`
      update payments.charge_withdrawals set next_try_at = now() where attempt_id in (select id from payments.payment_attempts where intent_id = ${id})`)
  }
  for (const due of await dueWithdrawals(creation, 'simulator', 100)) await withdrawCharge(due, creation)
}
const paid = ['payment_intent.created', 'payment.completed']

describe('a single-use payment', () => {
  test('the live attempt\'s channel answers that attempt', async () => {
    const intent = await create()
    const first = await chosen(intent, 'va_bank_a')
    expect(await choose(intent, 'va_bank_a')).toMatchObject({ outcome: 'chosen', made: false, attempt: { id: first.id, fields: first.fields } })
    expect(await chargesOf(intent)).toHaveLength(1)
  })

  test('another choice ends the older attempt, at its provider too, once the new one exists', async () => {
    const intent = await create()
    await chosen(intent, 'va_bank_a')
    await chosen(intent, 'qris')
    expect(await stateOf(intent)).toEqual(['va_bank_a expired', 'qris pending'])
    await withdraw(intent)
    expect(await statesOf(intent)).toEqual(['va_bank_a expired', 'qris pending'])
    expect(await read(intent)).toHaveProperty('qr_string')
    await chosen(intent, 'cash')
    await withdraw(intent)
    expect(await stateOf(intent)).toEqual(['va_bank_a expired', 'qris expired', 'cash pending'])
    expect(await statesOf(intent)).toEqual(['va_bank_a expired', 'qris expired'])
  })

  test('the same channel again after its own deadline makes a new attempt', async () => {
    const intent = await create()
    const first = await chosen(intent, 'ewallet_wallet_a')
    clock.advance(900_001)
    const second = await chosen(intent, 'ewallet_wallet_a')
    expect(second.id).not.toBe(first.id)
    expect(await stateOf(intent)).toEqual(['ewallet_wallet_a expired', 'ewallet_wallet_a pending'])
  })

  test('a withdrawal that the provider does not answer is tried again, and a payment found by it is recorded', async () => {
    const intent = await create()
    const first = await chosen(intent, 'va_bank_a')
    await chosen(intent, 'qris')
    await database.query((sql) => sql`update payments.psp_credentials set provider = 'elsewhere' where id = ${bench.credential.id}`)
    await settled(simulator.pay(first.charge_reference ?? ''))
    await database.query((sql) => sql`update payments.psp_credentials set provider = 'simulator' where id = ${bench.credential.id}`)
    const silent = Object.assign(Object.create(creation.providers.get('simulator') ?? null) as PaymentProvider, {
      expireCharge: async () => ({ outcome: 'unknown', reason: 'silent' }),
    })
    for (const due of await dueWithdrawals(creation, 'simulator', 100)) await withdrawCharge(due, { ...creation, providers: new Map([['simulator', silent]]) })
    await withdraw(intent)
    expect(await read(intent)).toMatchObject({ status: 'open' })
    await withdraw(intent, true)
    expect(await read(intent)).toMatchObject({ status: 'paid', paid_idr: 150_000 })
    expect(await eventsOf(intent)).toEqual(paid)
  })
})

describe('two payers at once', () => {
  test('with the same channel get the same attempt, and there is one charge', async () => {
    const intent = await create()
    const attempts = await Promise.all(Array.from({ length: 6 }, () => chosen(intent, 'va_bank_a')))
    expect(new Set(attempts.map(({ id }) => id)).size).toBe(1)
    expect(await chargesOf(intent)).toHaveLength(1)
  })

  test('with different channels are both answered, and one attempt is left to pay', async () => {
    const intent = await create()
    await Promise.all(['va_bank_a', 'qris', 'ewallet_wallet_a'].map((channel) => chosen(intent, channel)))
    await withdraw(intent)
    expect((await stateOf(intent)).filter((state) => state.endsWith('pending'))).toHaveLength(1)
    expect((await statesOf(intent)).filter((state) => state.endsWith('pending'))).toHaveLength(1)
  })
})

describe('a time-out', () => {
  test.each(['time-out-after-charging', 'time-out-before-charging', 'error-500'])('%s, then the same channel: the same attempt, and one charge', async (behaviour) => {
    const intent = await create()
    await behave(behaviour, intent)
    expect(await choose(intent, 'va_bank_a')).toEqual({ outcome: 'unknown' })
    expect(await call('getPublicCheckout', { params: { shortcode: intent.shortcode } })).toMatchObject({ body: { status: 'open', attempt: null } })
    expect(await choose(intent, 'va_bank_a')).toMatchObject({ outcome: 'chosen', made: true })
    expect(await stateOf(intent)).toEqual(['va_bank_a pending'])
    expect(await chargesOf(intent)).toHaveLength(1)
  })

  test('then another channel: that one is answered, and the first charge is withdrawn by its key', async () => {
    const intent = await create()
    await behave('time-out-after-charging', intent)
    await choose(intent, 'va_bank_a')
    expect(await chosen(intent, 'qris')).toMatchObject({ channel: 'qris' })
    expect(await stateOf(intent)).toEqual(['va_bank_a expired', 'qris pending'])
    // Not before the first call must have ended.
    await withdraw(intent)
    expect(await statesOf(intent)).toEqual(['va_bank_a pending', 'qris pending'])
    await withdraw(intent, true)
    expect(await statesOf(intent)).toEqual(['va_bank_a expired', 'qris pending'])
  })

  test('leaves the older attempt live until there is another', async () => {
    const intent = await create()
    const first = await chosen(intent, 'qris')
    await behave('time-out-before-charging', intent)
    await choose(intent, 'va_bank_a')
    expect((await call('getPublicCheckout', { params: { shortcode: intent.shortcode } })).body).toMatchObject({ attempt: { id: first.id, status: 'pending' } })
    await withdraw(intent, true)
    expect(await statesOf(intent)).toEqual(['qris pending'])
  })

  test('that nobody comes back from is given up by the sweep; what the payer was paying by stays', async () => {
    const intent = await create()
    const first = await chosen(intent, 'qris')
    await behave('time-out-after-charging', intent)
    await choose(intent, 'va_bank_a')
    const operation = await operationOf(intent)
    await resumeChoice(merchant.tenantId, merchant.id, operation?.id ?? '', creation)
    expect(await operationOf(intent)).toMatchObject({ recovery_point: 'abandoned' })
    await withdraw(intent, true)
    expect((await statesOf(intent)).toSorted()).toEqual(['qris pending', 'va_bank_a expired'])
    expect((await call('getPublicCheckout', { params: { shortcode: intent.shortcode } })).body).toMatchObject({ attempt: { id: first.id, status: 'pending' } })
  })
})

describe('a crash of the holder', () => {
  test('the same channel waits for the lease to lapse, takes over and makes no second charge', async () => {
    const intent = await create()
    await behave('time-out-after-charging', intent)
    await choose(intent, 'va_bank_a')
    await setLease(intent, 15)
    let looks = 0
    whileWaiting = async () => {
      looks += 1
      if (looks === 3) await setLease(intent, -1)
    }
    expect(await choose(intent, 'va_bank_a')).toMatchObject({ outcome: 'chosen' })
    expect(looks).toBe(3)
    expect(await chargesOf(intent)).toHaveLength(1)
  })

  test('while the holder lives on, a choice gives up after 90 looks and changes nothing', async () => {
    const intent = await create()
    await behave('time-out-before-charging', intent)
    await choose(intent, 'va_bank_a')
    await setLease(intent, 15)
    let looks = 0
    whileWaiting = async () => void (looks += 1)
    expect(await choose(intent, 'qris')).toEqual({ outcome: 'unknown' })
    expect(looks).toBe(90)
    expect(await stateOf(intent)).toEqual(['va_bank_a pending'])
  })

  test('a slow holder whose choice made way commits nothing', async () => {
    const intent = await create()
    const { charged, letGo, settings } = heldBack()
    const slow = choose(intent, 'va_bank_a', settings)
    await charged
    await setLease(intent, -1)
    const quick = await chosen(intent, 'qris')
    letGo()
    expect(await slow).toEqual({ outcome: 'unknown' })
    expect((await call('getPublicCheckout', { params: { shortcode: intent.shortcode } })).body).toMatchObject({ attempt: { id: quick.id } })
    await withdraw(intent, true)
    expect((await statesOf(intent)).toSorted()).toEqual(['qris pending', 'va_bank_a expired'])
  })
})

describe('a database that is lost', () => {
  /** The nth transaction from now loses its connection, after its commit or before it. */
  const losing = (nth: number, committed: boolean) => {
    let count = 0
    const tx: Database['tx'] = async (work) => {
      count += 1
      if (count !== nth) return database.tx(work)
      if (committed) await database.tx(work)
      throw new DatabaseUnavailable('lost')
    }
    return { ...creation, database: { ...database, tx } }
  }

  test.each([['at the commit of the first transaction', 1, true], ['before the second transaction', 2, false]])('%s: the lease is given back, and the same choice is answered at once', async (_, nth, committed) => {
    const intent = await create()
    await expect(choose(intent, 'va_bank_a', losing(nth, committed))).rejects.toThrow(DatabaseUnavailable)
    expect(await choose(intent, 'va_bank_a')).toMatchObject({ outcome: 'chosen', made: true })
    expect(await stateOf(intent)).toEqual(['va_bank_a pending'])
    expect(await chargesOf(intent)).toHaveLength(1)
  })

  test('at the commit of the second transaction: the same choice answers the attempt that was made', async () => {
    const intent = await create()
    await expect(choose(intent, 'va_bank_a', losing(2, true))).rejects.toThrow(DatabaseUnavailable)
    expect(await choose(intent, 'va_bank_a')).toMatchObject({ outcome: 'chosen', made: false })
    expect(await chargesOf(intent)).toHaveLength(1)
  })
})

describe('a refusal', () => {
  test('fails the attempt, leaves the payment open and the older attempt live, and writes no event', async () => {
    const intent = await create()
    const first = await chosen(intent, 'qris')
    await behave('decline', intent, { code: 'account_blocked', message: 'The account is blocked.' })
    expect(await choose(intent, 'va_bank_a')).toEqual({
      outcome: 'declined', decline: { provider: 'simulator', code: 'account_blocked', message: 'The account is blocked.' },
    })
    expect(await stateOf(intent)).toEqual(['qris pending', 'va_bank_a failed'])
    await withdraw(intent, true)
    expect(await statesOf(intent)).toEqual(['qris pending'])
    expect(await eventsOf(intent)).toEqual(['payment_intent.created'])
    await settled(simulator.pay(first.charge_reference ?? ''))
    expect(await read(intent)).toMatchObject({ status: 'paid' })
  })

  test('the same channel again asks anew', async () => {
    const intent = await create()
    await behave('decline', intent)
    expect(await choose(intent, 'va_bank_a')).toMatchObject({ outcome: 'declined' })
    expect(await choose(intent, 'va_bank_a')).toMatchObject({ outcome: 'chosen', made: true })
    expect(await stateOf(intent)).toEqual(['va_bank_a failed', 'va_bank_a pending'])
  })
})

describe('money', () => {
  test('on the older attempt makes the payment paid, and the newer one ends at its provider', async () => {
    const intent = await create()
    const first = await chosen(intent, 'va_bank_a')
    const second = await chosen(intent, 'qris')
    await settled(simulator.pay(first.charge_reference ?? ''))
    expect(await read(intent)).toMatchObject({ status: 'paid', paid_idr: 150_000, overpaid_idr: 0, late: false })
    expect(await stateOf(intent)).toEqual(['va_bank_a succeeded', 'qris expired'])
    await withdraw(intent)
    expect(await statesOf(intent)).toEqual(['va_bank_a paid', 'qris expired'])
    await settled(simulator.pay(second.charge_reference ?? '', { force: true }))
    expect(await read(intent)).toMatchObject({ status: 'paid', paid_idr: 150_000, overpaid_idr: 150_000 })
    expect(await eventsOf(intent)).toEqual(paid)
  })

  test('that comes before the provider\'s answer is answered with it', async () => {
    const intent = await create()
    await behave('callback-before-answer', intent)
    const { charged, letGo, settings } = heldBack()
    const choice = choose(intent, 'va_bank_a', settings)
    await settled(charged)
    letGo()
    expect(await choice).toMatchObject({ outcome: 'chosen', attempt: { status: 'succeeded' }, intent: { status: 'paid' } })
    expect(await eventsOf(intent)).toEqual(paid)
  })

  test('on the older attempt while the new one is being made: the choice is too late, and nothing is left to pay', async () => {
    const intent = await create()
    const first = await chosen(intent, 'va_bank_a')
    const { charged, letGo, settings } = heldBack()
    const late = choose(intent, 'qris', settings)
    await charged
    await settled(simulator.pay(first.charge_reference ?? ''))
    letGo()
    expect(await late).toEqual({ outcome: 'not_open', status: 'paid' })
    await withdraw(intent, true)
    expect((await statesOf(intent)).filter((state) => state.endsWith('pending'))).toEqual([])
    expect(await read(intent)).toMatchObject({ status: 'paid', overpaid_idr: 0 })
  })
})

test('a deadline that passes while the provider is asked: not open, and the charge is withdrawn', async () => {
  const intent = await create({ expires_in_seconds: 60 })
  const { charged, letGo, settings } = heldBack()
  const late = choose(intent, 'va_bank_a', settings)
  await charged
  clock.advance(60_001)
  letGo()
  expect(await late).toEqual({ outcome: 'not_open', status: 'expired' })
  expect(await stateOf(intent)).toEqual(['va_bank_a expired'])
})

describe('a payment for several payers', () => {
  test('a virtual account, a QR and cash are shared: one standing attempt each, and choosing ends nothing', async () => {
    const intent = await create({ max_uses: 0 })
    const [va, qris, cash] = [await chosen(intent, 'va_bank_a'), await chosen(intent, 'qris'), await chosen(intent, 'cash')]
    expect((await chosen(intent, 'va_bank_a')).id).toBe(va.id)
    expect((await chosen(intent, 'qris')).id).toBe(qris.id)
    expect((await chosen(intent, 'cash')).id).toBe(cash.id)
    await withdraw(intent, true)
    expect(await statesOf(intent)).toEqual(['va_bank_a pending', 'qris pending'])
    await settled(simulator.pay(va.charge_reference ?? ''))
    expect((await chosen(intent, 'va_bank_a')).id).toBe(va.id)
  })

  test('elsewhere each choice is an attempt of its own', async () => {
    const intent = await create({ max_uses: 2 })
    const [one, two] = [await chosen(intent, 'ewallet_wallet_a'), await chosen(intent, 'ewallet_wallet_a')]
    expect(one.id).not.toBe(two.id)
    await settled(simulator.pay(one.charge_reference ?? ''))
    expect(await read(intent)).toMatchObject({ status: 'open', uses: 1 })
    await settled(simulator.pay(two.charge_reference ?? ''))
    expect(await read(intent)).toMatchObject({ status: 'paid', uses: 2, paid_idr: 300_000 })
  })

  test('the last use ends what is pending still', async () => {
    const intent = await create({ max_uses: 1 + 1 })
    const [va, one] = [await chosen(intent, 'va_bank_a'), await chosen(intent, 'ewallet_wallet_a')]
    await settled(simulator.pay(va.charge_reference ?? ''))
    await settled(simulator.pay(one.charge_reference ?? ''))
    await withdraw(intent)
    expect((await statesOf(intent)).filter((state) => state.endsWith('pending'))).toEqual([])
  })
})
