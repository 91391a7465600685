import type { Recorded, RecordedParameter } from './recorder.ts'

/** A part of a value: text as it was recorded, or what is new each time, by its number. */
export type Piece = string | { fresh: number }

export interface ScriptParameter {
  type: number
  /** Null for null. */
  pieces: readonly Piece[] | null
}

export interface ScriptStatement {
  text: string
  parameters: readonly ScriptParameter[]
  connection: number
  flight: number
}

/** What is new each time: the first 32 characters of an id (two ids may differ in the last four alone), or a shortcode. */
export type Fresh = { kind: 'id', version: string } | { kind: 'shortcode' }

/** The statements of one request, to be run again and again. */
export interface Script {
  statements: readonly ScriptStatement[]
  fresh: readonly Fresh[]
}

const stem = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{8}/g
const shortcode = /^[0-9a-hjkmnp-tv-z]{10}$/

/**
 * Makes a script of two recordings of the same request with other ids. What differs between them is new each time; other
 * texts stay as they were recorded first, times and sealed bytes among them. Throws when the recordings differ in their statements.
 */
export function scriptOf(first: readonly Recorded[], second: readonly Recorded[]): Script {
  const texts = (all: readonly Recorded[]) => all.map(({ text }) => text).join(';\n')
  if (texts(first) !== texts(second)) throw new Error(`the same request sent other statements:\n${texts(first)}\n--- and then\n${texts(second)}`)
  const known = new Map<string, number>()
  const fresh: Fresh[] = []
  const numberOf = (text: string, what: Fresh): number => {
    const number = known.get(text) ?? fresh.push(what) - 1
    known.set(text, number)
    return number
  }
  const stays = new Set(second.flatMap(({ parameters }) => parameters.flatMap(({ value }) => value?.match(stem) ?? [])))
  const piecesOf = ({ type, value }: RecordedParameter, other: string | null | undefined): readonly Piece[] | null => {
    if (value === null) return null
    if (value === other || type === bytea) return [value]
    if (shortcode.test(value)) return [{ fresh: numberOf(value, { kind: 'shortcode' }) }]
    const pieces: Piece[] = []
    let from = 0
    for (const { 0: id, index } of value.matchAll(stem)) {
      if (stays.has(id)) continue
      pieces.push(value.slice(from, index), { fresh: numberOf(id, { kind: 'id', version: id.charAt(14) }) })
      from = index + id.length
    }
    return [...pieces, value.slice(from)].filter((piece) => piece !== '')
  }
  const statements = first.map(({ text, parameters, connection, flight }, at) => ({
    text, connection, flight,
    parameters: parameters.map((parameter, index) => ({ type: parameter.type, pieces: piecesOf(parameter, second[at]?.parameters[index]?.value) })),
  }))
  return { statements, fresh }
}

const bytea = 17

const isTransactionEdge = (text: string): boolean => /^\s*(begin|commit|rollback)\b/i.test(text)

/** Leaves out whole transactions, and statements outside one, that `isBeside` finds: work that is done beside requests. */
export function without(recorded: readonly Recorded[], isBeside: (text: string) => boolean): Recorded[] {
  const groups: Recorded[][] = []
  const open = new Map<number, Recorded[]>()
  for (const statement of recorded) {
    const { connection, text } = statement
    const group = open.get(connection)
    if (group) {
      group.push(statement)
      if (/^\s*(commit|rollback)\b(?!\s+to)/i.test(text)) open.delete(connection)
    } else {
      const started = [statement]
      groups.push(started)
      if (/^\s*begin\b/i.test(text)) open.set(connection, started)
    }
  }
  const left = new Set(groups.filter((group) => !group.some(({ text }) => isBeside(text))).flat())
  return recorded.filter((statement) => left.has(statement))
}

/** Statements, and times that the program waits for the server. */
export function sizeOf({ statements }: Script): { statements: number, flights: number } {
  return { statements: statements.filter(({ text }) => !isTransactionEdge(text)).length, flights: new Set(statements.map(({ flight }) => flight)).size }
}
