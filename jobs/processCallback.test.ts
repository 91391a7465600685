import { randomUUID } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { intentActs } from '../contract-tests/harness/intentActs.ts'
import { startPayments } from '../contract-tests/harness/payments.ts'
import { takeDueCallbacks } from '../db/payments/providerCallbacks.ts'
import { DatabaseUnavailable } from '../db/sql.ts'
import type { PaymentProvider } from '../providers/paymentProvider.ts'
import { sweepCallbacks } from './callbackSweep.ts'
import { processCallback } from './processCallback.ts'
import type { CallbackNotice, CallbackSettings } from './processCallback.ts'

/** Questions about charges wait for this; set by a test. */
let answered: Promise<void> = Promise.resolve()
const bench = await startPayments({
  toProvider: async (input, init) => {
    if (init?.method === 'GET') await answered
    return fetch(input, init)
  },
})
const { clock, creation, database, given, logged, settled, simulator } = bench
const merchant = await given.merchant()
const as = await given.apiKey(merchant)
const { attempts, charged, charges, kinds, read } = intentActs(bench, as)
const va = { amount_idr: 150_000, allowed_channels: ['va_bank_a'] }
const created = ['payment_intent.created']
const paid = ['payment_intent.created', 'payment.completed']

const notices: CallbackNotice[] = []
const failures: { error: unknown, about: object }[] = []
const observer = {
  processed: (notice: CallbackNotice) => void notices.push(notice),
  failed: (error: unknown, about: object) => void failures.push({ error, about }),
}
const sweep = (settings: CallbackSettings = creation) => sweepCallbacks(settings, 'simulator', observer)

beforeEach(async () => {
  answered = Promise.resolve()
  notices.length = failures.length = logged.length = 0
  await simulator.clear()
  // Each test looks at callbacks of its own.
  await database.query((sql) => sql`update payments.provider_callbacks set next_try_at = null where next_try_at is not null`)
})

interface Kept { outcome: string, detail: string | null, tries: number, waits: number | null }

/** What became of the callbacks about an intent's charges, with seconds until their next try. */
async function callbacksOf(id: string): Promise<Kept[]> {
  const [charge] = await charges(id)
  return database.query((sql) => sql<Kept[]>`
    select outcome, detail, tries, round(extract(epoch from next_try_at - ${clock.now()}))::int as waits from payments.provider_callbacks
    where position(convert_to(${charge?.reference ?? ''}, 'UTF8') in body) > 0 order by tries desc, outcome`)
}
const outcomesOf = async (id: string) => (await callbacksOf(id)).map(({ outcome }) => outcome)
interface Case { kind: string, provider_reference: string, expected_idr: number | null, received_idr: number | null, currency: string, detail: string }
const casesOf = (id: string) => database.query((sql) => sql<Case[]>`
  select kind, provider_reference, expected_idr, received_idr, currency, detail from payments.cases where intent_id = ${id} order by opened_at, id`)

describe('a callback that lies', () => {
  test('of a payment moves nothing, is asked about for more than a day, and ends as a case', async () => {
    const { id, reference } = await charged(va)
    await settled(simulator.notify(reference, { status: 'paid' }))
    expect(await callbacksOf(id)).toEqual([{ outcome: 'unconfirmed', detail: 'it says paid; asked, the provider says pending', tries: 1, waits: 30 }])
    const waits: (number | null | undefined)[] = []
    for (let tries = 0; tries < 6; tries += 1) {
      clock.advance(((await callbacksOf(id))[0]?.waits ?? 0) * 1000)
      expect(await casesOf(id)).toEqual([])
      await sweep()
      waits.push((await callbacksOf(id))[0]?.waits)
    }
    expect(waits).toEqual([120, 600, 3600, 21_600, 86_400, null])
    expect(await callbacksOf(id)).toMatchObject([{ outcome: 'unconfirmed', tries: 7, waits: null }])
    expect(await casesOf(id)).toMatchObject([{ kind: 'payment_unconfirmed', provider_reference: `${reference}-P1`, received_idr: 150_000, currency: 'IDR' }])
    expect(await kinds(id)).not.toContain('payment.completed')
    expect(notices.at(-1)).toMatchObject({ outcome: 'unconfirmed', waits: false })
    clock.advance(86_400_000)
    await sweep()
    expect((await callbacksOf(id))[0]?.tries).toBe(7)
  })

  test.each(['failed', 'expired'])('of a charge that has %s changes nothing, and is nobody\'s case', async (status) => {
    const { id, reference } = await charged({ amount_idr: 150_000, allowed_channels: ['paylater_a'], expires_in_seconds: 900 })
    await settled(simulator.notify(reference, { status, says: { decline: { code: 'NO', message: 'No.' } } }))
    expect(await callbacksOf(id)).toMatchObject([{ outcome: 'unconfirmed', waits: 30 }])
    expect(await read(id)).toMatchObject({ status: 'open' })
    expect(await attempts(id)).toMatchObject([{ status: 'pending' }])
    expect(await kinds(id)).toEqual(created)
    expect(await casesOf(id)).toEqual([])
  })

  test('of a reversal leaves the payment as it is', async () => {
    const { id, reference } = await charged(va)
    await settled(simulator.pay(reference))
    await settled(simulator.notify(reference, { status: 'reversed' }))
    expect(await outcomesOf(id)).toEqual(['applied', 'unconfirmed'])
    expect(await read(id)).toMatchObject({ status: 'paid' })
  })
})

describe('a callback that does not fit', () => {
  test('a payment of a wrong amount never completes the intent, and opens one case however often it is told', async () => {
    const { id, reference } = await charged(va)
    await settled(simulator.pay(reference, { amount_idr: 149_999 }))
    await settled(simulator.move(reference, 'complete', { again: true }))
    expect(await outcomesOf(id)).toEqual(['mismatched', 'mismatched'])
    expect(await casesOf(id)).toEqual([{
      kind: 'payment_mismatch', provider_reference: `${reference}-P1`, expected_idr: 150_000, received_idr: 149_999, currency: 'IDR',
      detail: 'The callback tells of 149999 rupiah where 150000 are due.',
    }])
    expect(await read(id)).toMatchObject({ status: 'open', uses: 0, paid_idr: 0 })
    expect(await kinds(id)).toEqual(created)
  })

  test.each([
    ['amount', { amount_idr: 1_500_000 }, 'The callback tells of 1500000 rupiah where 150000 are due.'],
    ['currency', { currency: 'USD' }, 'The callback tells of 150000 in USD; only IDR is taken.'],
    ['charge', { reference: 'SIM-OTHER' }, /^The callback names the charge SIM-OTHER; this attempt's is SIM/],
    ['merchant\'s reference', { merchant_reference: 'another' }, 'The callback names the reference another, which is not the payment\'s.'],
  ])('a callback with another %s than the payment\'s moves nothing of it, though the provider knows better, and opens a case', async (_, says, detail) => {
    const { id, reference } = await charged(va)
    await settled(simulator.pay(reference, { callback: { says } }))
    const [charge] = await charges(id)
    expect(charge).toMatchObject({ status: 'paid' })
    expect(await read(id)).toMatchObject({ status: 'open', uses: 0 })
    const [opened, ...others] = await casesOf(id)
    expect(others).toEqual([])
    expect(opened).toMatchObject({
      kind: 'payment_mismatch', expected_idr: 150_000, currency: 'currency' in says ? says.currency : 'IDR', detail: expect.stringMatching(detail) as string,
      received_idr: 'amount_idr' in says ? says.amount_idr : 150_000,
    })
    const kept = await database.query((sql) => sql`select outcome, next_try_at from payments.provider_callbacks where intent_id = ${id}`)
    expect(kept).toEqual([{ outcome: 'mismatched', next_try_at: null }])
  })

  test('on a static QR, where any amount is taken, the amount must be the one that the provider says when it is asked', async () => {
    const { id, reference } = await charged({ amount_idr: 10_000, max_uses: 0, allowed_channels: ['qris'] })
    await settled(simulator.pay(reference, { amount_idr: 7_000, callback: { says: { amount_idr: 70_000 } } }))
    expect(await casesOf(id)).toMatchObject([{
      kind: 'payment_mismatch', expected_idr: null, received_idr: 70_000, detail: 'The callback tells of 70000 rupiah; asked, the provider says 7000.',
    }])
    expect(await read(id)).toMatchObject({ status: 'open', uses: 0, paid_idr: 0 })
  })

  test('a callback about somebody else\'s charge moves neither', async () => {
    const [mine, other] = [await charged(va), await charged(va)]
    const [charge] = await charges(other.id)
    await settled(simulator.pay(mine.reference, { callback: { says: { key: charge?.key } } }))
    expect([await read(mine.id), await read(other.id)]).toMatchObject([{ status: 'open' }, { status: 'open' }])
    expect(await casesOf(other.id)).toMatchObject([{ kind: 'payment_mismatch' }])
  })
})

describe('what the provider says when it is asked', () => {
  test.each([
    ['as-made', 'it says paid; asked, the provider says pending'],
    ['absent', 'the provider knows no such charge'],
    ['error-500', 'the provider did not say: status 500'],
    ['rate-limited', /^the provider did not say: status 429/],
    ['forbidden', /^the provider did not say: status 403/],
    ['malformed', /^the provider did not say/],
    ['reset', /^the provider did not say/],
  ] as const)('%s: nothing moves, and it is asked again', async (behaviour, detail) => {
    const { id, reference } = await charged(va)
    await simulator.next(behaviour, { on: 'find' })
    await settled(simulator.pay(reference))
    expect(await callbacksOf(id)).toEqual([{ outcome: 'unconfirmed', detail: expect.stringMatching(detail) as string, tries: 1, waits: 30 }])
    expect(await read(id)).toMatchObject({ status: 'open' })
    await sweep()
    expect(await read(id)).toMatchObject({ status: 'open' })
    clock.advance(30_000)
    await sweep()
    expect(await read(id)).toMatchObject({ status: 'paid', uses: 1 })
    expect(await callbacksOf(id)).toMatchObject([{ outcome: 'applied', tries: 2, waits: null }])
    expect(await casesOf(id)).toEqual([])
  })

  test('more than the callback: a payment that was never told is recorded with the one that was, each once', async () => {
    const { id, reference } = await charged({ ...va, max_uses: 0 })
    await simulator.pay(reference, { callback: null })
    await settled(simulator.pay(reference))
    expect(await read(id)).toMatchObject({ status: 'open', uses: 2, paid_idr: 300_000 })
    expect(await kinds(id)).toEqual([...paid, 'payment.completed'])
  })

  test('money on a charge that the callback says has failed: the money is recorded', async () => {
    const { id, reference } = await charged(va)
    await simulator.pay(reference, { callback: null })
    await settled(simulator.notify(reference, { status: 'failed' }))
    expect(await callbacksOf(id)).toMatchObject([{ outcome: 'ignored', detail: 'it says failed; asked, the provider says paid' }])
    expect(await read(id)).toMatchObject({ status: 'paid' })
  })

  test('a hundred payments that were never told: more than fit into one transaction; the told one is among those recorded at once', async () => {
    const { id, reference } = await charged({ amount_idr: 10_000, max_uses: 0, allowed_channels: ['qris'] })
    for (let made = 0; made < 100; made += 1) await simulator.pay(reference, { callback: null })
    await settled(simulator.pay(reference))
    expect(await outcomesOf(id)).toEqual(['applied'])
    expect(await read(id)).toMatchObject({ uses: 50, paid_idr: 500_000 })
    const told = await database.query((sql) => sql`
      select from payments.payment_attempts where intent_id = ${id} and provider_reference = ${`${reference}-P101`} and status = 'succeeded'`)
    expect(told).toHaveLength(1)
  })
})

describe('out of order', () => {
  test('a decline that comes after the payment which overtook it changes nothing', async () => {
    const { id, reference } = await charged({ amount_idr: 150_000, allowed_channels: ['ewallet_wallet_a'] })
    await simulator.hold({ reference })
    await simulator.move(reference, 'decline')
    await simulator.pay(reference, { force: true })
    const [declined, payment] = (await simulator.held()).map((callback) => callback.id)
    await settled(simulator.release([payment ?? ''], { keep_holding: true }))
    expect(await read(id)).toMatchObject({ status: 'paid' })
    await settled(simulator.release([declined ?? '']))
    expect(await outcomesOf(id)).toEqual(['applied', 'ignored'])
    expect(await read(id)).toMatchObject({ status: 'paid', overpaid_idr: 0 })
    expect(await kinds(id)).toEqual(paid)
  })

  test('an expiry that comes after late money, and late money after the expiry: both are recorded once', async () => {
    const { id, reference } = await charged({ ...va, expires_in_seconds: 60 })
    await simulator.hold({ reference })
    clock.advance(60_000)
    await simulator.move(reference, 'expire')
    await simulator.pay(reference, { force: true })
    const [expired, payment] = (await simulator.held()).map((callback) => callback.id)
    await settled(simulator.release([payment ?? ''], { keep_holding: true }))
    await settled(simulator.release([expired ?? '']))
    expect(await read(id)).toMatchObject({ status: 'paid', late: true })
    expect(await kinds(id)).toEqual(['payment_intent.created', 'payment_intent.expired', 'payment.completed'])
  })
})

describe('two at once', () => {
  test('the process that answered and a sweep that takes over: the payment counts once', async () => {
    const { id, reference } = await charged(va)
    const gate = Promise.withResolvers<void>()
    answered = gate.promise
    await simulator.pay(reference)
    clock.advance(10_000)
    const sweeps = [sweep(), sweep()]
    await expect.poll(() => database.query((sql) => sql`
      select from payments.provider_callbacks where outcome = 'received' and next_try_at > ${clock.now()}`)).toHaveLength(1)
    gate.resolve()
    await Promise.all(sweeps)
    await settled()
    expect(await callbacksOf(id)).toEqual([{ outcome: 'applied', detail: 'status paid', tries: 1, waits: null }])
    expect(await read(id)).toMatchObject({ status: 'paid', uses: 1, overpaid_idr: 0 })
    expect(await kinds(id)).toEqual(paid)
  })

  test('ten holders of the same callback settle it once', async () => {
    const { id, reference } = await charged(va)
    await simulator.next('absent', { on: 'find' })
    await settled(simulator.pay(reference))
    clock.advance(30_000)
    const [held] = await take()
    if (!held) throw new Error('no callback is due')
    await Promise.all(Array.from({ length: 10 }, () => processCallback(held, creation, observer)))
    expect(notices.map(({ outcome }) => outcome)).toEqual(['applied'])
    expect(await callbacksOf(id)).toMatchObject([{ outcome: 'applied', tries: 2 }])
    expect(await kinds(id)).toEqual(paid)
  })

  test('a callback that somebody holds is left to them until their lease lapses', async () => {
    const { reference } = await charged(va)
    await simulator.next('absent', { on: 'find' })
    await settled(simulator.pay(reference))
    clock.advance(30_000)
    expect(await take()).toHaveLength(1)
    expect(await take()).toEqual([])
    clock.advance(10_000)
    expect(await take()).toHaveLength(1)
  })

  const take = () => {
    const now = clock.now()
    return database.query((sql) => takeDueCallbacks(sql, 'simulator', { now, leaseToken: randomUUID(), leaseUntil: new Date(now.getTime() + 10_000), most: 8 }))
  }
})

describe('a holder that is gone', () => {
  /** A callback whose payment is not applied yet, due to be processed. */
  const due = async () => {
    const { id, reference } = await charged(va)
    await simulator.next('absent', { on: 'find' })
    await settled(simulator.pay(reference))
    clock.advance(30_000)
    return id
  }

  test('before its transaction commits: nothing has happened, and the next one applies it 2 s later', async () => {
    const id = await due()
    const dying: CallbackSettings = {
      ...creation, database: {
        ...database, tx: (work) => database.tx(async (sql) => {
          await work(sql)
          throw new DatabaseUnavailable('lost')
        }),
      },
    }
    await sweep(dying)
    expect(failures).toMatchObject([{ about: { provider: 'simulator' } }])
    expect(await read(id)).toMatchObject({ status: 'open' })
    expect(await kinds(id)).toEqual(created)
    expect(await callbacksOf(id)).toMatchObject([{ tries: 1, waits: 2 }])
    clock.advance(2000)
    await sweep()
    expect(await read(id)).toMatchObject({ status: 'paid', uses: 1 })
  })

  test('after its transaction has committed: it is applied, and never again', async () => {
    const id = await due()
    await sweep({
      ...creation, database: {
        ...database, tx: async (work) => {
          await database.tx(work)
          throw new DatabaseUnavailable('lost')
        },
      },
    })
    expect(await callbacksOf(id)).toMatchObject([{ outcome: 'applied', tries: 2, waits: null }])
    clock.advance(86_400_000)
    await sweep()
    expect(await callbacksOf(id)).toMatchObject([{ outcome: 'applied', tries: 2, waits: null }])
    expect(await kinds(id)).toEqual(paid)
  })

  test('one that cannot be processed is told, tried ever less often, and never lost', async () => {
    const id = await due()
    const provider = creation.providers.get('simulator') as PaymentProvider
    const broken = { ...creation, providers: new Map([['simulator', { ...provider, findCharge: () => Promise.reject(new Error('broken')) }]]) }
    const waits: (number | null | undefined)[] = []
    for (let tries = 0; tries < 7; tries += 1) {
      await sweep(broken)
      waits.push((await callbacksOf(id))[0]?.waits)
      clock.advance((waits.at(-1) ?? 0) * 1000)
    }
    expect(waits).toEqual([120, 600, 3600, 21_600, 86_400, 86_400, 86_400])
    expect(failures).toHaveLength(7)
    await sweep()
    expect(await read(id)).toMatchObject({ status: 'paid', uses: 1 })
  })
})

describe('a callback that matches nothing', () => {
  /** A payment whose report has overtaken everything that is known of its charge here. */
  const reportedTooEarly = async () => {
    const { id, reference } = await charged(va)
    const [charge] = await charges(id)
    const name = (provider: string) => database.query((sql) => sql`
      update payments.provider_operations set provider = ${provider} where id = ${charge?.key ?? ''}`)
    await name('elsewhere')
    await settled(simulator.pay(reference))
    return { id, appear: () => name('simulator') }
  }

  test('is applied by a later try, once', async () => {
    const { id, appear } = await reportedTooEarly()
    expect(await callbacksOf(id)).toEqual([{ outcome: 'unmatched', detail: null, tries: 1, waits: 30 }])
    await appear()
    await sweep()
    expect(await read(id)).toMatchObject({ status: 'open' })
    clock.advance(30_000)
    await Promise.all([sweep(), sweep()])
    expect(await read(id)).toMatchObject({ status: 'paid', uses: 1, paid_idr: 150_000 })
    expect(await callbacksOf(id)).toMatchObject([{ outcome: 'applied', tries: 2, waits: null }])
  })

  test('is tried for more than a day, then stays unmatched for a person to see', async () => {
    const { id } = await reportedTooEarly()
    const waits: (number | null | undefined)[] = []
    for (let tries = 0; tries < 6; tries += 1) {
      clock.advance(((await callbacksOf(id))[0]?.waits ?? 0) * 1000)
      await sweep()
      waits.push((await callbacksOf(id))[0]?.waits)
    }
    expect(waits).toEqual([120, 600, 3600, 21_600, 86_400, null])
    expect(await callbacksOf(id)).toMatchObject([{ outcome: 'unmatched', tries: 7 }])
    expect(notices.filter(({ waits: goesOn }) => !goesOn)).toMatchObject([{ outcome: 'unmatched', provider: 'simulator' }])
  })
})

test('the service logs what becomes of each callback, and warns of what does not fit', async () => {
  const { reference } = await charged(va)
  await settled(simulator.pay(reference, { amount_idr: 1 }))
  const lines = logged.map((line) => JSON.parse(line) as { level: number, msg: string, outcome?: string }).filter(({ msg }) => msg === 'callback')
  expect(lines).toMatchObject([{ level: 40, outcome: 'mismatched', waits: false }])
})
