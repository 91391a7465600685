import { spawn } from 'node:child_process'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Database } from '../../db/sql.ts'
import type { Fresh, Script, ScriptParameter } from './script.ts'

/** A pgbench program on this machine, the newest installed one; undefined when there is none. */
export function findPgbench(): string | undefined {
  const installed = '/usr/lib/postgresql'
  const versions = existsSync(installed) ? readdirSync(installed).sort((a, b) => Number(b) - Number(a)) : []
  const folders = [...versions.map((version) => join(installed, version, 'bin')), ...(process.env.PATH ?? '').split(':')]
  return folders.map((folder) => join(folder, 'pgbench')).find((file) => existsSync(file))
}

export interface PgbenchFile {
  text: string
  /** Values that the script names: bound as parameters, as the driver binds them. */
  variables: Readonly<Record<string, string>>
}

/** The types that PostgreSQL gives the parameters of each statement, under the types that the program named. */
export function parameterTypes(database: Database, { statements }: Script): Promise<string[][]> {
  return database.tx(async (sql) => {
    const all: string[][] = []
    for (const { text, parameters } of statements) {
      if (parameters.length === 0) {
        all.push([])
        continue
      }
      const [named] = await sql<{ types: string[] }[]>`
        select array(select coalesce(t.typname, 'unknown') from unnest(${parameters.map(({ type }) => type)}::int4[]) with ordinality as given (oid, at)
          left join pg_type t on t.oid = given.oid order by at)::text[] as types`
      await sql.unsafe(`prepare described (${(named?.types ?? []).join(', ')}) as ${text}`)
      const [row] = await sql<{ types: string[] }[]>`select parameter_types::text[] as types from pg_prepared_statements where name = 'described'`
      await sql.unsafe('deallocate described')
      all.push(row?.types ?? [])
    }
    return all
  })
}

/**
 * The script for pgbench. What is new each time is counted up by each client from the variable `n`; the rest is bound
 * as it was recorded. Statements are sent one after the other, each waited for.
 */
export function pgbenchFile({ statements, fresh }: Script, types: readonly (readonly string[])[]): PgbenchFile {
  const variables: Record<string, string> = {}
  const bound = (value: string): string => {
    const name = `p${Object.keys(variables).length}`
    variables[name] = value
    return `:${name}`
  }
  const expression = ({ pieces }: ScriptParameter, type: string): string => {
    if (pieces === null) return `null::${type}`
    const [only] = pieces
    if (pieces.length === 1 && typeof only === 'string') return `${bound(only)}::${type}`
    const parts = pieces.map((piece) => typeof piece === 'string' ? `${bound(piece)}::text` : freshText(fresh[piece.fresh], piece.fresh))
    return `(${parts.join(' || ')})::${type}`
  }
  const lines = statements.map(({ text, parameters }, at) => {
    const flat = text.replace(/\s*\n\s*/g, ' ').trim()
    if (/(?<!:):(?=[a-z0-9_])/i.test(flat)) throw new Error(`pgbench would take a part of this statement for a variable: ${flat}`)
    return `${flat.replace(/\$(\d+)/g, (_, number: string) =>
      expression(parameters[Number(number) - 1] as ScriptParameter, types[at]?.[Number(number) - 1] ?? 'text'))};`
  })
  return { text: ['\\set n :n + 1', '\\set c 1000 + :client_id', ...lines].join('\n').concat('\n'), variables }
}

function freshText(fresh: Fresh | undefined, number: number): string {
  if (fresh?.kind === 'shortcode') return '(:n::int8 * 100 + :client_id::int8)::text'
  return `(:n::text || '-' || :c::text || '-7000-8000-${String(number).padStart(8, '0')}')`
}

export interface PgbenchRun {
  program: string
  url: string
  directory: string
  clients: number
  seconds: number
  /** Where this run counts from: 10 to 99, no two runs of a database the same. */
  round: number
}

/** This pgbench cannot be run here at all: nothing can be compared with it, and nothing is wrong with the script. */
export class PgbenchCannotRun extends Error {}

/** The exit code by which pgbench tells that a statement of the script failed. */
const statementFailed = 2

/** Transactions a second in what pgbench wrote, without the time it took to connect; undefined when they are not told. Before version 14 that line is worded otherwise. */
export function tpsIn(written: string): number | undefined {
  const [, text] = /tps = ([\d.]+) \((?:without|excluding)/.exec(written) ?? []
  return text === undefined ? undefined : Number(text)
}

/** Transactions of the script a second. Throws with what pgbench wrote when a statement fails, PgbenchCannotRun when it does not come that far. */
export async function runPgbench({ text, variables }: PgbenchFile, { program, url, directory, clients, seconds, round }: PgbenchRun): Promise<number> {
  const file = join(directory, `script-${round}.sql`)
  writeFileSync(file, text)
  const { hostname, port, username, password, pathname } = new URL(url)
  const given = Object.entries({ ...variables, n: String(1_000_000 * round) }).flatMap(([name, value]) => ['-D', `${name}=${value}`])
  const child = spawn(program, [
    '--no-vacuum', '--protocol=prepared', `--client=${clients}`, '--jobs=1', `--time=${seconds}`, `--file=${file}`, ...given,
    '-h', hostname, '-p', port, '-U', username, pathname.slice(1),
  ], { env: { PATH: process.env.PATH, PGPASSWORD: decodeURIComponent(password) }, stdio: ['ignore', 'pipe', 'pipe'] })
  let written = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (part: string) => void (written += part))
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', (error) => reject(new PgbenchCannotRun(`${program} does not start: ${error.message}`)))
    child.once('close', resolve)
  })
  const perSecond = tpsIn(written)
  if (code === 0 && perSecond !== undefined) return perSecond
  const told = `pgbench ended with ${code}:\n${written.slice(0, 4000)}`
  throw code === statementFailed ? new Error(told) : new PgbenchCannotRun(told)
}
