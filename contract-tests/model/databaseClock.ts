import { connect } from '../../db/sql.ts'
import type { Database } from '../../db/sql.ts'

/**
 * Puts a clock of the test's own in place of now() in a database, for everybody who connects from here on: leases and due times
 * go by the database's clock, and are moved with the rest of the time. It stands still until it is set.
 */
export async function clockedDatabase(url: string): Promise<void> {
  const database = connect(url, { max: 1, applicationName: 'bayar tests' })
  try {
    await database.query(async (sql) => {
      await sql`create schema clocked`
      await sql`create table clocked.clock (at timestamptz not null)`
      await sql`insert into clocked.clock values (pg_catalog.now())`
      await sql`create function clocked.now() returns timestamptz language sql stable as 'select at from clocked.clock'`
      await sql.unsafe(`alter database ${new URL(url).pathname.slice(1)} set search_path = clocked, pg_catalog, public`)
    })
  } finally {
    await database.end()
  }
}

/** Sets the time that now() tells in a database prepared by `clockedDatabase`. */
export async function setDatabaseClock(database: Database, now: Date): Promise<void> {
  await database.query((sql) => sql`update clocked.clock set at = ${now}`)
}
