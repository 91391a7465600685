// `make migrate`: brings the databases of DATABASE_URL and IDENTITY_DATABASE_URL up to date, else those of the development run.
import { join } from 'node:path'
import { givenDatabases, migrateDatabases, openDatabases } from './databases.ts'
import { root } from './steps.ts'

try {
  const given = givenDatabases(process.env)
  const databases = await openDatabases(join(root, '.dev'), process.env, console.log)
  try {
    const applied = await migrateDatabases(databases)
    console.log(applied.length === 0 ? 'nothing was pending' : `applied ${applied.join(', ')}`)
    if (!given) console.log('(the databases of the development run; set DATABASE_URL and IDENTITY_DATABASE_URL for others)')
  } finally {
    await databases.stop()
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error))
  process.exitCode = 1
}
