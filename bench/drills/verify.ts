import { checkInvariants, connectPatiently } from '../invariants.ts'
import type { Database } from '../../db/sql.ts'
import type { KeyedIntent, Load } from './callers.ts'
import { failuresOf } from './drill.ts'
import type { Payer } from './payer.ts'
import type { Stage } from './stage.ts'

const atATime = 16

/**
 * What must hold when the load has ended: every key has its answer, the same one again; every acknowledged intent can
 * be read; each key made one intent, and one charge if it asks for one; payments counted once; the invariants hold.
 */
export async function verify(stage: Stage, load: Load, payer: Payer): Promise<string[]> {
  const unanswered = load.keys.filter(({ intentId }) => intentId === null)
  const acknowledged = load.keys.filter(({ intentId }) => intentId !== null)
  const database = connectPatiently(stage.databaseUrl)
  try {
    return [
      ...failuresOf('keys without an answer', unanswered, ({ key, tries }) => `${key} after ${tries} tries`),
      ...failuresOf('wrong answers', load.wrong, (text) => text),
      ...failuresOf('wrong answers to callbacks', payer.wrong, (text) => text),
      ...await askAgain(load, stage.payments.length, acknowledged),
      ...await countIntents(database, load.keys),
      ...await countCharges(database, stage, load.keys),
      ...await countPayments(database, payer.paid),
      ...(await checkInvariants(database)).filter(({ offenders }) => offenders.length > 0).flatMap(({ name, holds, offenders }) =>
        failuresOf(`invariant ${name} (${holds})`, offenders, (row) => JSON.stringify(row))),
    ]
  } finally {
    await database.end()
  }
}

/** Each key once more, and each intent by its id. */
async function askAgain(load: Load, processes: number, acknowledged: readonly KeyedIntent[]): Promise<string[]> {
  const other: string[] = []
  const missing: string[] = []
  const rest = acknowledged.entries()
  const ask = async (): Promise<void> => {
    for (const [at, { key, merchant, body, intentId }] of rest) {
      const again = await load.send('repeat', at % processes, { merchant, path: '/v1/payments/intents', key, body })
      if (again.status !== 201 || again.body.id !== intentId) other.push(`${key}: ${intentId}, then ${again.status} ${again.body.id ?? again.problem}`)
      const read = await load.send('getPaymentIntent', (at + 1) % processes, { merchant, path: `/v1/payments/intents/${intentId}` })
      if (read.status !== 200 || read.body.id !== intentId) missing.push(`${intentId}: ${read.status} ${read.problem}`)
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
    select metadata ->> 'drill_key' as key, count(*)::int as intents, min(id::text) as id from payments.payment_intents group by 1`)
  const byKey = new Map(rows.map((row) => [row.key, row]))
  const wrong = keys.filter(({ key, intentId }) => {
    const made = byKey.get(key)
    return intentId !== null && (made?.intents !== 1 || made.id !== intentId)
  })
  const known = new Set(keys.map(({ key }) => key))
  return [
    ...failuresOf('keys that did not make exactly one intent', wrong, ({ key, intentId }) => `${key}: ${intentId}, ${byKey.get(key)?.intents ?? 0} intents`),
    ...failuresOf('keys with several intents', rows.filter(({ intents }) => intents > 1), ({ key, intents }) => `${key}: ${intents}`),
    ...failuresOf('intents that nobody asked for', rows.filter(({ key }) => !known.has(key)), ({ id }) => id),
  ]
}

async function countCharges(database: Database, { simulator }: Stage, keys: readonly KeyedIntent[]): Promise<string[]> {
  const { charges, by_key: byKey } = await simulator.charges()
  const operations = await database.query((sql) => sql<{ id: string, key: string }[]>`
    select id, idempotency_key as key from payments.provider_operations`)
  const keyOf = new Map(operations.map(({ id, key }) => [id, key]))
  const charged = Map.groupBy(charges.filter((charge) => keyOf.has(charge.key)), (charge) => keyOf.get(charge.key))
  const wrong = keys.filter(({ key, charged: asks, intentId }) => intentId !== null && (charged.get(key)?.length ?? 0) !== (asks ? 1 : 0))
  return [
    ...failuresOf('keys without exactly one charge at the provider', wrong, ({ key }) => `${key}: ${charged.get(key)?.length ?? 0} charges`),
    ...failuresOf('provider keys with several charges', Object.entries(byKey).filter(([, made]) => made.charges > 1), ([key]) => key),
    ...failuresOf('charges of no known operation', charges.filter(({ key }) => !keyOf.has(key)), ({ reference }) => reference),
  ]
}

async function countPayments(database: Database, paid: readonly KeyedIntent[]): Promise<string[]> {
  const rows = await database.query((sql) => sql<{ id: string, status: string, overpaid_idr: number }[]>`
    select id, status, overpaid_idr from payments.payment_intents where status = 'paid' or overpaid_idr > 0`)
  const byId = new Map(rows.map((row) => [row.id, row]))
  return [
    ...failuresOf('confirmed payments that are not recorded', paid.filter(({ intentId }) => byId.get(intentId ?? '')?.status !== 'paid'),
      ({ intentId }) => String(intentId)),
    ...failuresOf('payments counted twice', rows.filter(({ overpaid_idr }) => overpaid_idr > 0), ({ id }) => id),
    ...(rows.length === paid.length ? [] : [`${rows.length} intents are paid, ${paid.length} payments were made`]),
  ]
}
