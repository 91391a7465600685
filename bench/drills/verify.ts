import { checkInvariants, connectPatiently } from '../invariants.ts'
import type { Acknowledged } from '../invariants.ts'
import type { Database } from '../../db/sql.ts'
import type { Load } from './callers.ts'
import type { KeyedIntent } from './keyedIntent.ts'
import { failuresOf } from './drill.ts'
import type { Payer } from './payer.ts'
import { awaitSettled, judgeTold } from './settling.ts'
import type { Stage } from './stage.ts'
import type { StageWithReceiver } from './stageWithReceiver.ts'

const atATime = 16

/**
 * What must hold when the load has ended: every key has its answer, the same one again; every acknowledged intent can
 * be read; each key made one intent, and one charge if it asks for one; payments and declines counted once; nothing is left begun or
 * due; every event reached the receiver; the invariants hold.
 */
export async function verify({ stage, receiver }: StageWithReceiver, load: Load, payer: Payer): Promise<string[]> {
  const unanswered = load.keys.filter(({ intentId }) => intentId === null)
  const acknowledged = load.keys.filter(({ intentId }) => intentId !== null)
  const database = connectPatiently(stage.databaseUrl)
  try {
    const unfinished = await awaitSettled(database)
    return [
      ...unfinished,
      ...failuresOf('keys without an answer', unanswered, ({ key, tries }) => `${key} after ${tries} tries`),
      ...failuresOf('wrong answers', [...load.wrong, ...load.moves.wrong], (text) => text),
      ...failuresOf('wrong answers to callbacks', payer.wrong, (text) => text),
      ...await askAgain(load, acknowledged),
      ...await countIntents(database, load.keys),
      ...await countCharges(database, stage, acknowledged),
      ...await countPayments(database, [...payer.paid, ...load.moves.completed], [...load.moves.doubtful, ...payer.unconfirmed]),
      ...await countCancellations(database, load.moves.cancelled),
      ...await countDeclines(database, payer.declined, payer.unconfirmed),
      ...await judgeTold(database, receiver),
      ...await brokenInvariants(database, [
        ...acknowledged.map(({ intentId }) => ({ kind: 'intent' as const, id: String(intentId) })),
        ...[...payer.paid, ...load.moves.completed].map(({ intentId }) => ({ kind: 'paid_intent' as const, id: String(intentId) })),
      ]),
    ]
  } finally {
    await database.end()
  }
}

/** Each key once more, and each intent by its id. */
async function askAgain(load: Load, acknowledged: readonly KeyedIntent[]): Promise<string[]> {
  const other: string[] = []
  const missing: string[] = []
  const rest = acknowledged.entries()
  const ask = async (): Promise<void> => {
    for (const [turn, made] of rest) {
      const { repeated, read } = await load.askAgain(made, turn)
      if (repeated !== null) other.push(`${made.key}: ${repeated}`)
      if (read !== null) missing.push(read)
    }
  }
  await Promise.all(Array.from({ length: atATime }, ask))
  return [
    ...failuresOf('keys that do not answer the same intent again', other, (text) => text),
    ...failuresOf('acknowledged intents that cannot be read', missing, (text) => text),
  ]
}

/** Told by what each request carried, not by the tables that are to prevent a second intent. */
async function countIntents(database: Database, keys: readonly KeyedIntent[]): Promise<string[]> {
  const rows = await database.query((sql) => sql<{ key: string, intents: number, id: string }[]>`
    select metadata ->> 'drill_key' as key, count(*)::int as intents, min(id::text) as id
    from payments.payment_intents group by 1`)
  const byKey = new Map(rows.map((row) => [row.key, row]))
  const known = new Set(keys.map(({ key }) => key))
  const lost = keys.filter(({ key, intentId }) => intentId !== null && !byKey.has(key))
  const another = keys.filter(({ key, intentId }) => {
    const made = byKey.get(key)
    return made?.intents === 1 && intentId !== null && made.id !== intentId
  })
  const several = rows.filter(({ intents }) => intents > 1)
  const unasked = rows.filter(({ key }) => !known.has(key))
  return [
    ...failuresOf('acknowledged intents that are lost', lost, ({ key, intentId }) => `${key}: ${intentId}`),
    ...failuresOf('keys with another intent than acknowledged', another, ({ key, intentId }) => `${key}: ${intentId}`),
    ...failuresOf('keys with several intents', several, ({ key, intents }) => `${key}: ${intents}`),
    ...failuresOf('intents that nobody asked for', unasked, ({ id }) => id),
  ]
}

async function countCharges(
  database: Database, { simulator }: Stage, acknowledged: readonly KeyedIntent[],
): Promise<string[]> {
  const { charges, by_key: byKey } = await simulator.charges()
  const operations = await database.query((sql) => sql<{ id: string, key: string }[]>`
    select id, idempotency_key as key from payments.provider_operations`)
  const keyOf = new Map(operations.map(({ id, key }) => [id, key]))
  const unknown = charges.filter(({ key }) => !keyOf.has(key))
  const made = Map.groupBy(charges.filter(({ key }) => keyOf.has(key)), ({ key }) => keyOf.get(key))
  const countOf = (key: string): number => made.get(key)?.length ?? 0
  const wrong = acknowledged.filter(({ key, charged }) => countOf(key) !== (charged ? 1 : 0))
  const several = Object.entries(byKey).filter(([, { charges: count }]) => count > 1)
  return [
    ...failuresOf('keys without exactly one charge', wrong, ({ key }) => `${key}: ${countOf(key)} charges`),
    ...failuresOf('provider keys with several charges', several, ([key]) => key),
    ...failuresOf('charges of no known operation', unknown, ({ reference }) => reference),
  ]
}

async function countPayments(database: Database, paid: readonly KeyedIntent[], doubtful: readonly KeyedIntent[]): Promise<string[]> {
  const rows = await database.query((sql) => sql<{ id: string, status: string, overpaid_idr: number }[]>`
    select id, status, overpaid_idr from payments.payment_intents where status = 'paid' or overpaid_idr > 0`)
  const statuses = new Map(rows.map(({ id, status }) => [id, status]))
  const missing = paid.filter(({ intentId }) => statuses.get(intentId ?? '') !== 'paid')
  const asked = new Set([...paid, ...doubtful].map(({ intentId }) => intentId))
  const unpaid = rows.filter(({ id }) => !asked.has(id))
  return [
    ...failuresOf('confirmed payments that are not recorded', missing, ({ intentId }) => String(intentId)),
    ...failuresOf('payments counted twice', rows.filter((row) => row.overpaid_idr > 0), ({ id }) => id),
    ...failuresOf('paid intents that nobody paid', unpaid, ({ id }) => id),
  ]
}

async function countCancellations(database: Database, cancelled: readonly KeyedIntent[]): Promise<string[]> {
  const rows = await database.query((sql) => sql<{ id: string }[]>`
    select id from payments.payment_intents where status = 'cancelled'`)
  const there = new Set(rows.map(({ id }) => id))
  return failuresOf('confirmed cancellations that are lost', cancelled.filter(({ intentId }) => !there.has(intentId ?? '')), ({ intentId }) => String(intentId))
}

async function countDeclines(database: Database, declined: readonly KeyedIntent[], doubtful: readonly KeyedIntent[]): Promise<string[]> {
  const rows = await database.query((sql) => sql<{ id: string }[]>`
    select distinct intent_id as id from payments.payment_attempts where status = 'failed'`)
  const failed = new Set(rows.map(({ id }) => id))
  const asked = new Set([...declined, ...doubtful].map(({ intentId }) => intentId))
  return [
    ...failuresOf('confirmed declines that are not recorded', declined.filter(({ intentId }) => !failed.has(intentId ?? '')), ({ intentId }) => String(intentId)),
    ...failuresOf('attempts that failed although nobody declined them', rows.filter(({ id }) => !asked.has(id)), ({ id }) => id),
  ]
}

/** Failures of the invariants script, which is given what was acknowledged. */
export async function brokenInvariants(database: Database, acknowledged: readonly Acknowledged[]): Promise<string[]> {
  const verdicts = await checkInvariants(database, acknowledged)
  return verdicts.flatMap(({ name, holds, offenders }) =>
    failuresOf(`invariant ${name} (${holds})`, offenders, (row) => JSON.stringify(row)))
}
