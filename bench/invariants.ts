import { readFileSync } from 'node:fs'
import { connect } from '../db/sql.ts'
import type { Database } from '../db/sql.ts'

/** One query of db/invariants.sql. */
export interface Invariant {
  /** For instance `I5.created_once`. */
  name: string
  /** What holds, for people. */
  holds: string
  query: string
}

export interface Verdict extends Invariant {
  /** Rows that break it, at most 20. */
  offenders: readonly object[]
}

const file = new URL('../db/invariants.sql', import.meta.url)
const offendersAtMost = 20
const limitMs = 120_000

/** The invariants in the order of the file. Throws when a part of it is no invariant, or a name occurs twice. */
export function readInvariants(text = readFileSync(file, 'utf8')): Invariant[] {
  const [, ...parts] = text.split(/^-- (?=I\d+\.)/m)
  const invariants = parts.map((part) => {
    const [, name, holds, query] = /^(I\d+\.[a-z_]+): (.+)\n(select [^]+?);\s*$/.exec(part) ?? []
    if (!name || !holds || !query || query.includes(';')) throw new Error(`no invariant: ${part.slice(0, 80)}`)
    return { name, holds, query }
  })
  const names = invariants.map(({ name }) => name)
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  if (twice) throw new Error(`the invariant ${twice} occurs twice`)
  return invariants
}

/** Something that a caller was told is done. A paid intent is one whose payment was confirmed; an event, one that was committed. */
export interface Acknowledged {
  kind: 'intent' | 'paid_intent' | 'event'
  id: string
}

/** Asks each invariant for the rows that break it; I1 for what of `acknowledged` is missing, which no table can tell. */
export async function checkInvariants(database: Database, acknowledged: readonly Acknowledged[] = [], invariants = readInvariants()): Promise<Verdict[]> {
  const verdicts: Verdict[] = []
  for (const invariant of invariants) {
    const text = `select * from (${invariant.query}) offenders limit ${offendersAtMost}`
    const offenders = await database.readTx(async (sql) => {
      await sql`select set_config('bayar.acknowledged', ${JSON.stringify(acknowledged)}, true)`
      return sql.unsafe(text)
    })
    verdicts.push({ ...invariant, offenders })
  }
  return verdicts
}

/** Opens a database with the patience that a look at every row needs. */
export function connectPatiently(url: string): Database {
  return connect(url, { max: 2, limitMs, applicationName: 'bayar invariants' })
}

/** One line for each invariant, and the first rows that break it. */
export function describeVerdicts(verdicts: readonly Verdict[]): string {
  return verdicts.map(({ name, holds, offenders }) => {
    if (offenders.length === 0) return `pass  ${name}: ${holds}`
    const count = offenders.length === offendersAtMost ? `${offendersAtMost} or more` : String(offenders.length)
    const rows = offenders.slice(0, 3).map((row) => `        ${JSON.stringify(row)}`)
    return [`FAIL  ${name}: ${holds}; ${count} rows break it`, ...rows].join('\n')
  }).join('\n')
}

/** `node bench/invariants.ts [acknowledged.json]`: exit code 1 when an invariant of DATABASE_URL is broken. The file lists what I1 looks for. */
async function main(): Promise<void> {
  const url = process.env.DATABASE_URL
  if (!url) throw new Error('DATABASE_URL is not set: the database whose invariants are to be checked')
  const [, , list] = process.argv
  const acknowledged = list === undefined ? [] : JSON.parse(readFileSync(list, 'utf8')) as Acknowledged[]
  const database = connectPatiently(url)
  try {
    const verdicts = await checkInvariants(database, acknowledged)
    const broken = verdicts.filter(({ offenders }) => offenders.length > 0).length
    console.log(describeVerdicts(verdicts))
    const { length: count } = verdicts
    console.log(broken === 0 ? `${count} invariants hold` : `${broken} of ${count} invariants are broken`)
    process.exitCode = broken === 0 ? 0 : 1
  } finally {
    await database.end()
  }
}

if (import.meta.main) {
  main().catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : String(error))
    process.exitCode = 2
  })
}
