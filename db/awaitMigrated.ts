import { assertMigrated, migrationsDirectory, readMigrations } from './migrate.ts'
import type { MigratedDatabase } from './migrate.ts'
import { isDatabaseUnavailable } from './sql.ts'
import type { Database } from './sql.ts'

const retryMs = 500

/**
 * Start-up check of a process: waits while PostgreSQL is away, calling `waiting` before each further try, and throws,
 * naming `make migrate`, when the database is behind.
 */
export async function awaitMigrated(
  database: Database, name: MigratedDatabase, sleep: (milliseconds: number) => Promise<void>, waiting: (reason: Error) => void,
): Promise<void> {
  const migrations = readMigrations(migrationsDirectory(name))
  for (;;) {
    try {
      return await database.query((sql) => assertMigrated(sql, migrations))
    } catch (error) {
      if (!isDatabaseUnavailable(error)) throw error
      waiting(error as Error)
      await sleep(retryMs)
    }
  }
}
