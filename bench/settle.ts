import type { Database } from '../db/sql.ts'

/** As on a server that has run for some minutes: with statistics, and with log segments to use again instead of new ones to fill with zeros. */
export async function settle(database: Database): Promise<void> {
  await database.query((sql) => sql`vacuum analyze`)
  await database.query((sql) => sql`checkpoint`)
}
