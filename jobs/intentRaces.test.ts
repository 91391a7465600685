import { afterAll, describe, expect, test } from 'vitest'
import { checkInvariants } from '../bench/invariants.ts'
import { intentActs } from '../contract-tests/harness/intentActs.ts'
import { startPayments } from '../contract-tests/harness/payments.ts'
import { connect } from '../db/sql.ts'
import { withdrawChargesOf } from './withdrawalWork.ts'

const bench = await startPayments()
const { call, clock, creation, database, given, settled, simulator } = bench
const merchant = await given.merchant()
const as = await given.apiKey(merchant)
const { attempts, charges, created, kinds, read } = intentActs(bench, as)
const outside = connect(bench.databaseUrl, { max: 2, applicationName: 'races' })
afterAll(() => outside.end())

// Each pair in each order: so many that meet at the intent's lock, and so many that run freely, some a little apart.
const times = 15
const atATime = 3
const looksAtMost = 20_000

interface Racer { id: string, shortcode: string, reference: string }
type Act = 'cancel' | 'pay' | 'expire' | 'choose' | 'choose another'

/** A moment's request over HTTP; answers its status. */
const acts: Record<Act, (racer: Racer) => Promise<number>> = {
  cancel: async ({ id }) => (await call('cancelPaymentIntent', { as, params: { id } })).status,
  pay: async ({ reference }) => ((await simulator.pay(reference, { force: true })) as { callback: { status: number } }).callback.status,
  expire: async ({ id }) => (await call('sandboxExpirePaymentIntent', { as, params: { id } })).status,
  choose: ({ shortcode }) => choose(shortcode, 'qris'),
  'choose another': ({ shortcode }) => choose(shortcode, 'ewallet_wallet_a'),
}

async function choose(shortcode: string, channel: string): Promise<number> {
  return (await call('choosePublicCheckoutChannel', { params: { shortcode }, body: { channel } })).status
}

/** An intent that its payer is about to pay by virtual account. */
async function prepare(channels: readonly string[]): Promise<Racer> {
  const { id, shortcode } = await created({ amount_idr: 150_000, allowed_channels: [...channels] })
  if (channels.length > 1) await choose(shortcode, 'va_bank_a')
  // So that the order of attempts is that of the choices.
  clock.advance(1)
  const [charge] = await charges(id)
  return { id, shortcode, reference: charge?.reference ?? '' }
}

/** Looks until as many statements as that wait for a lock. */
async function untilBlocked(count: number): Promise<void> {
  for (let look = 0; look < looksAtMost; look += 1) {
    const [row] = await outside.query((sql) => sql<{ blocked: number }[]>`
      select count(*)::int as blocked from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`)
    if ((row?.blocked ?? 0) >= count) return
  }
  throw new Error(`never ${count} statements waited for a lock`)
}

/** Both at once, while somebody holds the intents: they queue at the lock, the first first. */
async function meetAtTheLock(racers: readonly Racer[], first: Act, second: Act): Promise<[number[], number[]]> {
  return outside.tx(async (sql) => {
    await sql`select from payments.payment_intents where id in ${sql(racers.map(({ id }) => id))} for update`
    const begun = Promise.all(racers.map((racer) => acts[first](racer)))
    await untilBlocked(racers.length)
    const followed = Promise.all(racers.map((racer) => acts[second](racer)))
    // A charge that is paid or expired at the provider expires no more: then nothing comes from there.
    if (second !== 'expire' || !['pay', 'expire'].includes(first)) await untilBlocked(2 * racers.length)
    return { answers: Promise.all([begun, followed]) }
  }).then(({ answers }) => answers)
}

/** Both at once, the second some turns of the event loop after the first. */
async function runFreely(racers: readonly Racer[], first: Act, second: Act, turns: number): Promise<[number[], number[]]> {
  const begun = Promise.all(racers.map((racer) => acts[first](racer)))
  for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  return Promise.all([begun, Promise.all(racers.map((racer) => acts[second](racer)))])
}

/** What was answered, and what became of an intent once its charges were withdrawn. */
async function storyOf({ id }: Racer, first: number, second: number): Promise<string> {
  await withdrawChargesOf({ tenant_id: merchant.tenantId, merchant_id: merchant.id, intent_id: id }, creation)
  const { status, late, uses, overpaid_idr } = await read(id)
  const states = (await attempts(id)).map((attempt) => attempt.status).sort()
  const events = (await kinds(id)).map((kind) => kind.split('.')[1])
  const isOver = status !== 'open'
  expect(states.filter((state) => state === 'pending')).toHaveLength(isOver ? 0 : 1)
  expect((await charges(id)).filter((charge) => charge.status === 'pending')).toHaveLength(isOver ? 0 : 1)
  expect(uses).toBe(states.includes('succeeded') ? 1 : 0)
  return `${first} ${second}: ${status}${late ? ' late' : ''}${overpaid_idr > 0 ? ' overpaid' : ''} [${events.join(' ')}]`
}

const one = ['va_bank_a']
const several = ['va_bank_a', 'qris', 'ewallet_wallet_a']
const [paid, expired] = ['[created completed]', '[created expired]']
const paidLate = 'paid late [created completed]'
const expiredThenPaid = 'paid late [created expired completed]'

const [answered, refused] = ['200 201', '200 409']

/** Two acts, and the stories that the law allows when the first comes first, and when the second does. */
const pairs: [first: Act, second: Act, channels: readonly string[], firstComes: readonly string[], secondComes: readonly string[]][] = [
  ['cancel', 'pay', one, [`200 200: ${paidLate}`], [`409 200: paid ${paid}`]],
  ['cancel', 'expire', one, [`${refused}: cancelled [created]`], [`409 200: expired ${expired}`]],
  // A choice has two steps, and the other act may come between them.
  ['cancel', 'choose', several, [`${refused}: cancelled [created]`], [`${refused}: cancelled [created]`, `${answered}: cancelled [created]`]],
  ['pay', 'expire', one, [`${refused}: paid ${paid}`], [`200 200: ${expiredThenPaid}`]],
  ['pay', 'choose', several, [`${refused}: paid ${paid}`], [`${refused}: paid ${paid}`, `${answered}: paid ${paid}`]],
  ['expire', 'choose', several, [`${refused}: expired ${expired}`, `${answered}: expired ${expired}`], [`${refused}: expired ${expired}`, `${answered}: expired ${expired}`]],
  ['cancel', 'cancel', one, [`${refused}: cancelled [created]`], ['409 200: cancelled [created]']],
  ['expire', 'expire', one, [`200 200: expired ${expired}`, `${refused}: expired ${expired}`], [`409 200: expired ${expired}`]],
  ['pay', 'pay', one, [`200 200: paid overpaid ${paid}`], []],
  ['choose', 'choose another', several, ['201 201: open [created]'], []],
]

/** The same stories, told from the other side. */
const mirrored = pairs.filter(([first, second]) => first !== second).map(([first, second, channels, firstComes, secondComes]): typeof pairs[number] => {
  const other = (story: string) => story.replace(/^(\d+) (\d+)/, '$2 $1')
  return [second, first, channels, [...secondComes.map(other), ...(secondComes.length === 0 ? firstComes.map(other) : [])], firstComes.map(other)]
})

describe.each([...pairs, ...mirrored])('%s and %s at once', (first, second, channels, firstComes, secondComes) => {
  const batches = async (stories: readonly string[], race: (racers: readonly Racer[], batch: number) => Promise<[number[], number[]]>) => {
    for (let batch = 0; batch < times / atATime; batch += 1) {
      const racers = await Promise.all(Array.from({ length: atATime }, () => prepare(channels)))
      const [begun, followed] = await race(racers, batch)
      await settled()
      for (const [index, racer] of racers.entries()) expect(stories).toContain(await storyOf(racer, begun[index] ?? 0, followed[index] ?? 0))
    }
  }

  test(`x ${times}, meeting at the intent's lock: the first comes first`, { timeout: 60_000 }, () =>
    batches(firstComes, (racers) => meetAtTheLock(racers, first, second)))

  test(`x ${times}, at will: either comes first`, { timeout: 60_000 }, () =>
    batches([...firstComes, ...secondComes], (racers, batch) => runFreely(racers, first, second, batch * 4)))
})

test('every invariant holds after all of it', async () => {
  expect((await checkInvariants(database)).filter(({ offenders }) => offenders.length > 0)).toEqual([])
})
