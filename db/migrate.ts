import { createHash } from 'node:crypto'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Database, type Sql, connect, constraintOf } from './sql.ts'

/** The databases that have migrations, each in its own folder below db/migrations. */
export type MigratedDatabase = 'main' | 'identity'

export interface Migration {
  id: number
  name: string
  sha256: string
  text: string
}

export interface MigrateOptions {
  /** Folder with the NNNNNN_<subject>.sql files; default db/migrations/<database>. */
  directory?: string
  log?: (line: string) => void
  /** Runs after the last migration, also when none was pending: the job queue installs itself here. */
  afterwards?: (url: string) => Promise<void>
}

const filePattern = /^(\d{6})_[a-z0-9]+(?:[_-][a-z0-9]+)*\.sql$/

/** The folder the migrations of a database are in. */
export function migrationsDirectory(database: MigratedDatabase): string {
  return fileURLToPath(new URL(`./migrations/${database}`, import.meta.url))
}

/** The migrations in a folder by number. Throws on a file with another kind of name and on a number used twice. */
export function readMigrations(directory: string): Migration[] {
  const migrations = readdirSync(directory).sort().map((name) => {
    const number = filePattern.exec(name)?.[1]
    if (!number) throw new Error(`${join(directory, name)} is no migration: name it NNNNNN_<subject>.sql`)
    const text = readFileSync(join(directory, name), 'utf8')
    return { id: Number(number), name, sha256: createHash('sha256').update(text).digest('hex'), text }
  })
  const twice = migrations.find(({ id }, at) => id === migrations[at - 1]?.id)
  if (twice) throw new Error(`${join(directory, twice.name)} has the number of another migration`)
  return migrations
}

/**
 * Applies what is pending, forward only, each migration in its own transaction, which claims the number first:
 * of two runs at a time one applies it and the other waits and goes on. Returns the names applied by this run.
 * Throws when a migration already applied has changed, or the database has one the folder has not.
 */
export async function migrate(
  url: string, database: MigratedDatabase, options: MigrateOptions = {},
): Promise<string[]> {
  const { directory = migrationsDirectory(database), log = () => undefined, afterwards } = options
  const migrations = readMigrations(directory)
  // a table rewrite takes its time: the limits of requests do not hold here
  const connection = connect(url, { max: 1, limitMs: 600_000, applicationName: 'bayar migrate' })
  try {
    await prepare(connection)
    const pending = await connection.query((sql) => pendingMigrations(sql, migrations))
    const applied: string[] = []
    for (const migration of pending) {
      if (!(await apply(connection, migration))) continue
      applied.push(migration.name)
      log(`${database}: applied ${migration.name}`)
    }
    // a run that won a claim meanwhile may have come from another folder
    await connection.query((sql) => assertMigrated(sql, migrations))
    await afterwards?.(url)
    return applied
  } finally {
    await connection.end()
  }
}

interface AppliedRow {
  id: number
  name: string
  sha256: string
}

/**
 * The migrations the database has not got yet, by number. Throws when an applied one differs from its file, or is
 * unknown here: then this program is older than the database.
 */
export async function pendingMigrations(sql: Sql, migrations: Migration[]): Promise<Migration[]> {
  const [table] = await sql<{ present: boolean }[]>`select to_regclass('migrations.applied') is not null as present`
  if (!table?.present) return migrations
  const applied = await sql<AppliedRow[]>`select id, name, sha256 from migrations.applied order by id`
  for (const row of applied) {
    const file = migrations.find(({ id }) => id === row.id)
    if (!file) throw new Error(`the database has migration ${row.name}, which this version does not know`)
    if (file.sha256 !== row.sha256) {
      throw new Error(`migration ${row.name} was changed after it was applied: write a new one instead`)
    }
  }
  return migrations.filter(({ id }) => !applied.some((row) => row.id === id))
}

/** Start-up check of a service: throws, naming `make migrate`, when the database is behind. */
export async function assertMigrated(sql: Sql, migrations: Migration[]): Promise<void> {
  const pending = await pendingMigrations(sql, migrations)
  if (pending.length === 0) return
  const names = pending.map(({ name }) => name).join(', ')
  throw new Error(`the database is behind, it lacks ${names}: run make migrate`)
}

/** Creates an empty database unless it exists; `url` is of another database of the same server. */
export async function ensureDatabase(url: string, name: string): Promise<void> {
  const connection = connect(url, { max: 1, limitMs: 60_000, applicationName: 'bayar migrate' })
  try {
    const present = await connection.query((sql) => sql`select from pg_database where datname = ${name}`)
    if (present.length > 0) return
    await connection.query((sql) => sql`create database ${sql(name)}`)
  } catch (error) {
    // another run was first: duplicate_database, or the unique index below it
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code !== '42P04' && constraintOf(error) !== 'pg_database_datname_index') throw error
  } finally {
    await connection.end()
  }
}

async function prepare(connection: Database): Promise<void> {
  await connection.tx(async (sql) => {
    // "if not exists" alone fails when two runs create the same thing at once
    await sql`select pg_advisory_xact_lock(hashtext('bayar migrations'))`
    await sql`create schema if not exists migrations`
    await sql`
      create table if not exists migrations.applied (
        id int constraint applied_pkey primary key,
        name text not null,
        sha256 text not null,
        applied_at timestamptz not null default now()
      )`
  })
}

async function apply(connection: Database, migration: Migration): Promise<boolean> {
  try {
    await connection.tx(async (sql) => {
      await sql`
        insert into migrations.applied (id, name, sha256)
        values (${migration.id}, ${migration.name}, ${migration.sha256})`
      await sql.unsafe(migration.text)
    })
    return true
  } catch (error) {
    // The claim waits for a run that holds it: failing on it means that run has committed.
    if (constraintOf(error) === 'applied_pkey') return false
    throw new Error(`migration ${migration.name} failed: ${String(error)}`, { cause: error })
  }
}
