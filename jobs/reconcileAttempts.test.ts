import { beforeEach, describe, expect, test } from 'vitest'
import { intentActs } from '../contract-tests/harness/intentActs.ts'
import { startPayments } from '../contract-tests/harness/payments.ts'
import { takeDueChecks } from '../db/payments/attemptChecks.ts'
import { DatabaseUnavailable } from '../db/sql.ts'
import type { Charge, PaymentProvider } from '../providers/paymentProvider.ts'
import { expireDue } from './expireIntents.ts'
import { startReconciler, sweepChecks } from './reconcileAttempts.ts'
import type { ReconcilerSettings } from './reconcileAttempts.ts'

const bench = await startPayments()
const { call, clock, creation, database, given, settled, simulator } = bench
const merchant = await given.merchant()
const as = await given.apiKey(merchant)
const { attempts, charged, charges, kinds, read } = intentActs(bench, as)
const va = { amount_idr: 150_000, allowed_channels: ['va_bank_a'] }
const created = ['payment_intent.created']
const paid = ['payment_intent.created', 'payment.completed']

const simulated = creation.providers.get('simulator') as PaymentProvider
let asked: string[] = []
const failures: { error: unknown, about: object }[] = []
const report = (error: unknown, about: object) => void failures.push({ error, about })
/** The simulator with another way to answer questions, which are noted. */
const askedBy = (findCharge: PaymentProvider['findCharge'] = (charge) => simulated.findCharge(charge)): ReconcilerSettings => ({
  ...creation, providers: new Map([['simulator', {
    ...simulated, findCharge: (charge) => {
      asked.push(charge.key)
      return findCharge(charge)
    },
  }]]),
})
const sweep = (settings = askedBy()) => sweepChecks(settings, 'simulator', report)

beforeEach(async () => {
  asked = []
  failures.length = 0
  await simulator.clear()
  // Each test asks about attempts of its own.
  await database.query((sql) => sql`delete from payments.attempt_checks`)
})

/** Seconds until the checks that are to come of an intent's attempts. */
async function checksOf(id: string): Promise<number[]> {
  const rows = await database.query((sql) => sql<{ waits: number }[]>`
    select round(extract(epoch from c.next_check_at - ${clock.now()}))::int as waits
    from payments.attempt_checks c join payments.payment_attempts a on a.id = c.attempt_id where a.intent_id = ${id} order by waits`)
  return rows.map(({ waits }) => waits)
}

/** Moves the clock to the next check of an intent, and makes it. Answers how long that was, in seconds. */
async function nextCheck(id: string, settings?: ReconcilerSettings): Promise<number> {
  const [waits = 0] = await checksOf(id)
  clock.advance((waits + 1) * 1000)
  await sweep(settings)
  return waits + 1
}

const casesOf = (id: string) => database.query((sql) => sql`
  select kind, provider_reference, expected_idr, received_idr, currency, detail from payments.cases where intent_id = ${id} order by opened_at, id`)

describe('an attempt without a word from its provider', () => {
  test('is asked about after 30 s, 2 min and 10 min, then hourly until its end, and once soon after that', async () => {
    const { id } = await charged({ ...va, expires_in_seconds: 3 * 3600 })
    const began = clock.now().getTime()
    const times: number[] = []
    while ((await checksOf(id)).length > 0) {
      await nextCheck(id)
      while (await expireDue(creation));
      times.push((clock.now().getTime() - began) / 1000)
    }
    const [first = 0, second = 0, third = 0, fourth = 0, fifth = 0, last = 0] = times
    expect(times).toHaveLength(6)
    for (const [time, from, to] of [
      [first, 30, 35], [second, 120, 135], [third, 600, 665], [fourth, 4200, 4570], [fifth, 7800, 8170], [last, 3 * 3600 + 120, 3 * 3600 + 245],
    ] as const) {
      expect(time).toBeGreaterThanOrEqual(from)
      expect(time).toBeLessThanOrEqual(to)
    }
    expect(asked).toHaveLength(6)
    expect(await kinds(id)).toEqual(['payment_intent.created', 'payment_intent.expired'])
  })

  test('is not asked about before it is time', async () => {
    const { id } = await charged(va)
    clock.advance(29_000)
    await sweep()
    expect([asked, (await checksOf(id)).length]).toEqual([[], 1])
  })

  test.each([1, 2, 3, 4, 5])('that was paid before check %i is found paid by it, and needs no further one', async (check) => {
    const { id, reference } = await charged(va)
    for (let made = 1; made < check; made += 1) await nextCheck(id)
    expect(await read(id)).toMatchObject({ status: 'open' })
    const paidAt = clock.now().toISOString()
    await simulator.pay(reference, { callback: null })
    await nextCheck(id)
    expect(await read(id)).toMatchObject({ status: 'paid', late: false, uses: 1, paid_at: paidAt })
    expect(await kinds(id)).toEqual(paid)
    expect([asked.length, await checksOf(id)]).toEqual([check, []])
  })

  test('that was declined: payment.failed tells it, with the provider\'s code', async () => {
    const { id, reference } = await charged({ amount_idr: 150_000, allowed_channels: ['paylater_a'] })
    await simulator.move(reference, 'decline', { code: 'LIMIT_REACHED', message: 'No.', callback: null })
    await nextCheck(id)
    expect(await read(id)).toMatchObject({ status: 'failed' })
    expect(await attempts(id)).toMatchObject([{ status: 'failed', failure_code: 'LIMIT_REACHED' }])
    expect(await kinds(id)).toEqual(['payment_intent.created', 'payment.failed'])
  })

  test('that expired at the provider: it expires, and the intent that has no other way', async () => {
    const { id, reference } = await charged(va)
    await simulator.move(reference, 'expire', { callback: null })
    await nextCheck(id)
    expect(await read(id)).toMatchObject({ status: 'expired' })
    expect(await kinds(id)).toEqual(['payment_intent.created', 'payment_intent.expired'])
  })

  test('that was paid and taken back: recorded as reversed, and never counted', async () => {
    const { id, reference } = await charged(va)
    await simulator.pay(reference, { callback: null })
    await simulator.move(reference, 'reverse', { callback: null })
    await nextCheck(id)
    expect(await attempts(id)).toMatchObject([{ status: 'reversed' }])
    expect(await read(id)).toMatchObject({ status: 'open', uses: 0, paid_idr: 0 })
    expect(await kinds(id)).toEqual(created)
  })

  test('that was paid a wrong amount: never completed, and one case for all checks', async () => {
    const { id, reference } = await charged(va)
    await simulator.pay(reference, { amount_idr: 149_999, callback: null })
    for (let made = 0; made < 3; made += 1) await nextCheck(id)
    expect(await read(id)).toMatchObject({ status: 'open', uses: 0 })
    expect(await casesOf(id)).toEqual([{
      kind: 'payment_mismatch', provider_reference: `${reference}-P1`, expected_idr: 150_000, received_idr: 149_999, currency: 'IDR',
      detail: 'The provider reports a payment of 149999 rupiah where 150000 are due.',
    }])
  })

  test('whose callback did not fit is recorded as the provider says it, and the case stays', async () => {
    const { id, reference } = await charged(va)
    await settled(simulator.pay(reference, { callback: { says: { amount_idr: 1 } } }))
    expect(await read(id)).toMatchObject({ status: 'open' })
    await nextCheck(id)
    expect(await read(id)).toMatchObject({ status: 'paid', paid_idr: 150_000 })
    expect(await casesOf(id)).toMatchObject([{ kind: 'payment_mismatch', received_idr: 1 }])
  })
})

describe('late money', () => {
  test('that came after the end, and was never told, is found by the last check', async () => {
    const { id, reference } = await charged({ ...va, expires_in_seconds: 900 })
    for (let made = 0; made < 3; made += 1) await nextCheck(id)
    clock.advance(300_000)
    while (await expireDue(creation));
    expect(await read(id)).toMatchObject({ status: 'expired' })
    await simulator.pay(reference, { force: true, callback: null })
    await nextCheck(id)
    expect(await read(id)).toMatchObject({ status: 'paid', late: true, paid_idr: 150_000 })
    expect(await kinds(id)).toEqual(['payment_intent.created', 'payment_intent.expired', 'payment.completed'])
    expect(await checksOf(id)).toEqual([])
  })

  test('on an attempt that another choice has replaced is found by its last check', async () => {
    const { id, reference } = await charged(va)
    await database.query((sql) => sql`update payments.payment_attempts set status = 'expired' where intent_id = ${id}`)
    await nextCheck(id)
    expect(asked).toEqual([])
    expect((await checksOf(id))[0]).toBeGreaterThan(86_000)
    await simulator.pay(reference, { force: true, callback: null })
    await nextCheck(id)
    expect(await read(id)).toMatchObject({ paid_idr: 150_000 })
    expect([asked.length, await checksOf(id)]).toEqual([1, []])
  })
})

describe('what needs no check', () => {
  test('a paid attempt: its check goes with the payment', async () => {
    const { id, reference } = await charged(va)
    expect(await checksOf(id)).toHaveLength(1)
    await settled(simulator.pay(reference))
    expect(await checksOf(id)).toEqual([])
  })

  test('a failed one, and one whose provider was never asked for a charge', async () => {
    const { id, reference } = await charged(va)
    await settled(simulator.move(reference, 'decline'))
    await nextCheck(id)
    expect([asked, await checksOf(id)]).toEqual([[], []])
    const cash = await call('createPaymentIntent', { as, body: { amount_idr: 150_000, channel: 'cash' } })
    expect(await checksOf((cash.body as { id: string }).id)).toEqual([])
  })

  test('one whose creation is not answered: whoever finishes that asks first', async () => {
    await simulator.next('time-out-before-charging')
    const { status } = await call('createPaymentIntent', { as, body: va })
    expect(status).toBe(503)
    clock.advance(35_000)
    await sweep()
    expect(asked).toEqual([])
    const [row] = await database.query((sql) => sql<{ checks: number }[]>`select checks from payments.attempt_checks`)
    expect(row).toEqual({ checks: 1 })
  })
})

describe('a standing attempt', () => {
  test('is asked about as well, and every payment that was missed is recorded, once', async () => {
    const { id, reference } = await charged({ amount_idr: 10_000, max_uses: 0, allowed_channels: ['qris'] })
    await settled(simulator.pay(reference, { amount_idr: 7_000 }))
    await simulator.pay(reference, { amount_idr: 8_000, callback: null })
    await nextCheck(id)
    await simulator.pay(reference, { amount_idr: 9_000, callback: null })
    await nextCheck(id)
    await nextCheck(id)
    expect(await read(id)).toMatchObject({ status: 'open', uses: 3, paid_idr: 24_000 })
    expect((await kinds(id)).filter((kind) => kind === 'payment.completed')).toHaveLength(3)
  })

  test('with more missed payments than fit into one transaction has them recorded one after another, at once', async () => {
    const { id, reference } = await charged({ amount_idr: 10_000, max_uses: 0, allowed_channels: ['qris'] })
    for (let made = 0; made < 60; made += 1) await simulator.pay(reference, { callback: null })
    await nextCheck(id)
    expect([(await read(id)).uses, await checksOf(id)]).toEqual([50, [0]])
    await sweep()
    expect((await read(id)).uses).toBe(60)
    expect((await checksOf(id))[0]).toBeGreaterThan(60)
  })
})

describe('payments of a wrong amount', () => {
  test('more than fit into one transaction are shown to somebody, once each, and hide no right one', async () => {
    const { id, reference } = await charged({ ...va, max_uses: 0 })
    for (let made = 0; made < 60; made += 1) await simulator.pay(reference, { amount_idr: 1_000 + made, callback: null })
    await simulator.pay(reference, { callback: null })
    await nextCheck(id)
    expect(await read(id)).toMatchObject({ uses: 1, paid_idr: 150_000 })
    expect([(await casesOf(id)).length, await checksOf(id)]).toEqual([50, [0]])
    await sweep()
    expect(await casesOf(id)).toHaveLength(60)
    expect((await checksOf(id))[0]).toBeGreaterThan(60)
    await nextCheck(id)
    expect(await casesOf(id)).toHaveLength(60)
  })

  test('one that was taken back leaves the right one to be recorded', async () => {
    const { id, reference } = await charged(va)
    await simulator.pay(reference, { amount_idr: 151_000, callback: null })
    await nextCheck(id)
    await simulator.move(reference, 'reverse', { callback: null })
    await nextCheck(id)
    await settled(simulator.pay(reference, { force: true }))
    expect(await read(id)).toMatchObject({ status: 'paid', paid_idr: 150_000 })
  })
})

describe('a provider', () => {
  const faults = ['error-500', 'rate-limited', 'forbidden', 'reset'] as const
  test.each(faults)('that answers %s is asked again no sooner than by the schedule', async (behaviour) => {
    const { id, reference } = await charged(va)
    await simulator.pay(reference, { callback: null })
    await simulator.next(behaviour, { on: 'find' })
    clock.advance(35_000)
    expect(await sweep()).toBe(false)
    expect(await read(id)).toMatchObject({ status: 'open' })
    const [waits = 0] = await checksOf(id)
    expect(waits).toBeGreaterThan(80)
    await nextCheck(id)
    expect(await read(id)).toMatchObject({ status: 'paid' })
  })

  test('that is silent at the last check is asked again every hour until it answers', async () => {
    const { id, reference } = await charged({ ...va, expires_in_seconds: 60 })
    await simulator.pay(reference, { callback: null })
    clock.advance(400_000)
    const silent = askedBy(() => Promise.resolve({ outcome: 'unknown', reason: 'time-out' }))
    await sweep(silent)
    for (let tries = 0; tries < 3; tries += 1) expect(await nextCheck(id, silent)).toBeGreaterThanOrEqual(3600)
    await nextCheck(id)
    expect(await read(id)).toMatchObject({ paid_idr: 150_000 })
    expect(await checksOf(id)).toEqual([])
  })

  test('that is silent holds nobody else\'s checks', async () => {
    const [stuck, other] = [await charged(va), await charged(va)]
    await simulator.pay(other.reference, { callback: null })
    await database.query((sql) => sql`
      update payments.attempt_checks c set provider = 'silent' from payments.payment_attempts a where a.id = c.attempt_id and a.intent_id = ${stuck.id}`)
    await database.query((sql) => sql`update payments.provider_operations set provider = 'silent' where intent_id = ${stuck.id}`)
    clock.advance(35_000)
    const begun = Promise.withResolvers<void>()
    const letGo = Promise.withResolvers<void>()
    const silent: PaymentProvider = {
      ...simulated, name: 'silent', findCharge: async () => {
        begun.resolve()
        await letGo.promise
        return { outcome: 'unknown', reason: 'time-out' }
      },
    }
    const reconciler = startReconciler({ ...creation, providers: new Map([['silent', silent], ['simulator', simulated]]) }, report)
    await begun.promise
    await expect.poll(() => read(other.id)).toMatchObject({ status: 'paid' })
    letGo.resolve()
    await reconciler.stop()
  })

  test('that this deployment does not know is told of, and its checks are kept', async () => {
    const { id } = await charged(va)
    await database.query((sql) => sql`update payments.attempt_checks set provider = 'elsewhere'`)
    clock.advance(35_000)
    const reconciler = startReconciler(creation, report)
    await expect.poll(() => failures).toMatchObject([{ about: { provider: 'elsewhere' } }])
    await reconciler.stop()
    expect(await checksOf(id)).toHaveLength(1)
  })

  test.each([
    ['in another currency', { currency: 'USD' }, 'The provider\'s charge is in USD; only IDR is taken. Nothing of it is recorded.'],
    ['under another reference', { reference: 'SIM-OTHER' }, /^The provider answers with the charge SIM-OTHER; this attempt's is SIM\w+\. Nothing/],
    ['of another key', { key: 'another' }, 'The provider answers with a charge of another key, another. Nothing of it is recorded.'],
  ] as const)('that answers with a charge %s proves nothing: its money is shown to somebody', async (_, change, detail) => {
    const { id, reference } = await charged(va)
    await simulator.pay(reference, { callback: null })
    await nextCheck(id, askedBy(async (identity) => {
      const found = await simulated.findCharge(identity)
      return found.outcome === 'found' ? { ...found, charge: { ...found.charge, ...change } satisfies Charge } : found
    }))
    expect(await read(id)).toMatchObject({ status: 'open', uses: 0 })
    const told = { kind: 'payment_mismatch', provider_reference: `${reference}-P1`, detail: expect.stringMatching(detail) as string }
    expect(await casesOf(id)).toMatchObject([told])
  })
})

describe('workers', () => {
  test('beside each other make each check once, and none that has a holder', async () => {
    const ids = []
    for (let made = 0; made < 12; made += 1) ids.push((await charged(va)).id)
    clock.advance(35_000)
    await Promise.all([sweep(), sweep(), sweep()])
    expect(new Set(asked).size).toBe(12)
    expect(asked).toHaveLength(12)
  })

  test('that are gone leave their check to the next one, once the lease has lapsed', async () => {
    const { id, reference } = await charged(va)
    await simulator.pay(reference, { callback: null })
    clock.advance(35_000)
    const take = () => {
      const now = clock.now()
      return database.query((sql) => takeDueChecks(sql, 'simulator', { now, leaseUntil: new Date(now.getTime() + 15_000), most: 8 }))
    }
    expect(await take()).toHaveLength(1)
    await sweep()
    expect(asked).toEqual([])
    clock.advance(15_000)
    await sweep()
    expect(await read(id)).toMatchObject({ status: 'paid', uses: 1 })
  })

  test('that lose the database before they commit have recorded nothing, and the payment is found later', async () => {
    const { id, reference } = await charged(va)
    await simulator.pay(reference, { callback: null })
    clock.advance(35_000)
    await sweep({
      ...askedBy(), database: {
        ...database, tx: (work) => database.tx(async (sql) => {
          await work(sql)
          throw new DatabaseUnavailable('lost')
        }),
      },
    })
    expect(failures).toHaveLength(1)
    expect(await read(id)).toMatchObject({ status: 'open' })
    await nextCheck(id)
    expect(await read(id)).toMatchObject({ status: 'paid', uses: 1 })
    expect(await charges(id)).toHaveLength(1)
  })
})
