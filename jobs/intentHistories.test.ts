import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { intentActs } from '../contract-tests/harness/intentActs.ts'
import { startPayments } from '../contract-tests/harness/payments.ts'
import { expireDue } from './expireIntents.ts'

// BAYAR_RACES and BAYAR_SEED make a longer run, or repeat one.
const races = Number(process.env.BAYAR_RACES ?? 1000)
const seed = Number(process.env.BAYAR_SEED ?? 20_261_102)
const atATime = 10

const bench = await startPayments()
const { call, clock, creation, database, given, settled, simulator } = bench
const as = await given.apiKey(await given.merchant())
const { charged } = intentActs(bench, as)

/** Numbers in [0, 1) that follow from the seed (a linear congruence modulo 2^32). */
function numbersFrom(start: number): () => number {
  let state = start >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

interface Race { id: string, reference: string }
interface Raced { id: string, paid: boolean, cancelled: boolean }

const next = numbersFrom(seed)
const channels = ['qris', 'va_bank_a', 'ewallet_wallet_a', 'card_3ds', 'paylater_a']
const soon = (atMostMs: number) => wait(Math.floor(next() * atMostMs))

function prepare(): Promise<Race> {
  const channel = channels[Math.floor(next() * channels.length)] ?? 'qris'
  return charged({ amount_idr: 150_000, allowed_channels: [channel], expires_in_seconds: 60 })
}

/** One intent, and at moments of their own: its payment, its cancellation, or either alone. */
async function run({ id, reference }: Race): Promise<Raced> {
  const kind = next()
  const [pays, cancels] = [kind < 0.75, kind > 0.25]
  const [, cancelled] = await Promise.all([
    pays && soon(60).then(async () => {
      const { callback } = await settled(simulator.pay(reference, { force: true })) as { callback: { status: number } }
      expect(callback.status).toBe(200)
    }),
    cancels && soon(60).then(async () => {
      const { status } = await call('cancelPaymentIntent', { as, params: { id } })
      expect([200, 409]).toContain(status)
      return status === 200
    }),
  ])
  return { id, paid: pays, cancelled }
}

test(`complete against cancel against expiry x ${races}: every history is one of the five, with at most one payment.completed`, { timeout: 60_000 + races * 100 }, async () => {
  const seen = new Map<string, number>()
  for (let begun = 0; begun < races; begun += atATime) {
    const intents = await Promise.all(Array.from({ length: Math.min(atATime, races - begun) }, prepare))
    const [done] = await Promise.all([
      Promise.all(intents.map(run)),
      soon(80).then(async () => {
        clock.advance(60_001)
        await Promise.all([expireDue(creation), expireDue(creation)])
      }),
    ])
    while (await expireDue(creation));
    for (const { id, paid, cancelled } of done) {
      const history = await historyOf(id)
      const story = `${history.status}${history.late ? ', late' : ''} [${history.kinds.join(', ')}]`
      expect(allowed(history.kinds.includes('payment_intent.expired'), cancelled, paid), `intent ${id}, seed ${seed}`).toContain(story)
      seen.set(`${cancelled ? 'cancelled, ' : ''}${story}`, (seen.get(`${cancelled ? 'cancelled, ' : ''}${story}`) ?? 0) + 1)
    }
  }
  // All five came to pass; else the race was none.
  expect([...seen.keys()].sort(), JSON.stringify(Object.fromEntries(seen))).toEqual([
    'cancelled, cancelled [payment_intent.created]',
    'cancelled, paid, late [payment_intent.created, payment.completed]',
    'expired [payment_intent.created, payment_intent.expired]',
    'paid [payment_intent.created, payment.completed]',
    'paid, late [payment_intent.created, payment_intent.expired, payment.completed]',
  ])
})

/** What may have happened to an intent, given what was done to it. Proven money is always recorded. */
function allowed(expired: boolean, cancelled: boolean, paid: boolean): string {
  const created = 'payment_intent.created'
  if (cancelled) return paid ? `paid, late [${created}, payment.completed]` : `cancelled [${created}]`
  if (!paid) return `expired [${created}, payment_intent.expired]`
  return expired ? `paid, late [${created}, payment_intent.expired, payment.completed]` : `paid [${created}, payment.completed]`
}

async function historyOf(id: string): Promise<{ status: string, late: boolean, kinds: string[] }> {
  const [row] = await database.query((sql) => sql<{ status: string, late: boolean, uses: number, overpaid_idr: number, kinds: string[] }[]>`
    select i.status, i.late, i.uses, i.overpaid_idr,
      array(select e.kind from payments.events e where e.intent_id = i.id order by e.position) as kinds
    from payments.payment_intents i where i.id = ${id}`)
  if (!row) throw new Error(`intent ${id} is not there`)
  expect(row).toMatchObject({ uses: row.status === 'paid' ? 1 : 0, overpaid_idr: 0 })
  return row
}
