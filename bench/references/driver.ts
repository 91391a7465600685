import { randomUUID } from 'node:crypto'
import { newId, newShortcode } from '../../db/ids.ts'
import type { Database, Sql } from '../../db/sql.ts'
import { systemRuntime } from '../../domain/runtime.ts'
import type { Fresh, Script, ScriptParameter, ScriptStatement } from './script.ts'

/** Runs of statements: each in a transaction of its own, or without one. */
interface Part {
  transaction: boolean
  flights: readonly (readonly ScriptStatement[])[]
}

/**
 * The script as a work for the driver: the same statements in the same transactions, those together that were sent
 * together. Its savepoints are the recorded ones.
 */
export function throughDriver({ statements, fresh }: Script): (database: Database) => Promise<void> {
  const parts = partsOf(statements)
  return async (database) => {
    const made = fresh.map(make)
    for (const { transaction, flights } of parts) {
      const work = async (sql: Sql): Promise<void> => {
        for (const flight of flights) await Promise.all(flight.map((statement) => send(sql, statement, made)))
      }
      await (transaction ? database.tx(work) : database.query(work))
    }
  }
}

function send(sql: Sql, { text, parameters }: ScriptStatement, made: readonly string[]) {
  return sql.unsafe(text, parameters.map((parameter) => valueOf(sql, parameter, made)), { prepare: true })
}

const types = { boolean: 16, bytea: 17, json: 114, jsonb: 3802, moment: 1184 }

/** The value as the program had it, so that the driver names the same type. */
function valueOf(sql: Sql, { type, pieces }: ScriptParameter, made: readonly string[]): unknown {
  if (pieces === null) return null
  const text = pieces.map((piece) => typeof piece === 'string' ? piece : made[piece.fresh]).join('')
  switch (type) {
    case types.boolean: return text === 't'
    case types.bytea: return Buffer.from(text.slice(2), 'hex')
    case types.json: case types.jsonb: return sql.json(text)
    case types.moment: return new Date(text)
    default: return text
  }
}

function make(fresh: Fresh): string {
  if (fresh.kind === 'shortcode') return newShortcode(systemRuntime)
  return (fresh.version === '7' ? newId(systemRuntime) : randomUUID()).slice(0, 32)
}

function partsOf(statements: readonly ScriptStatement[]): Part[] {
  const parts: { transaction: boolean, flights: ScriptStatement[][], connection: number, over: boolean }[] = []
  for (const statement of statements) {
    const { text, connection, flight } = statement
    if (/^\s*begin\b/i.test(text)) {
      parts.push({ transaction: true, flights: [], connection, over: false })
      continue
    }
    const part = parts.findLast((candidate) => candidate.transaction && candidate.connection === connection && !candidate.over)
    if (/^\s*(commit|rollback)\b(?!\s+to)/i.test(text)) {
      if (part) part.over = true
      continue
    }
    const into = part ?? { transaction: false, flights: [], connection, over: true }
    if (!part) parts.push(into)
    const last = into.flights.at(-1)
    if (last?.[0]?.flight === flight) last.push(statement)
    else into.flights.push([statement])
  }
  return parts
}
