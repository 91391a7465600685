import { appendFileSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { ensureDatabase, migrate } from '../db/migrate.ts'
import { installQueues } from '../jobs/queues.ts'
import { startPostgres } from './embeddedPostgres.ts'
import type { EmbeddedPostgres } from './embeddedPostgres.ts'

/** The two databases of a run. The addresses hold passwords: never log them. */
export interface Databases {
  main: string
  identity: string
  /** What serves them, for people. */
  description: string
  /** True for the embedded server, whose data belongs to this clone. */
  own: boolean
  /** Stops the server, if it is this run's own. */
  stop(): Promise<void>
  killNow(): void
}

// What the server itself says, with its time in front or going on below; the rest is about starting it.
const serverLine = /^\d{4}-\d\d-\d\d |^\s/

type Environment = Readonly<Record<string, string | undefined>>

/**
 * The databases of a run: those of DATABASE_URL and IDENTITY_DATABASE_URL, or the embedded server below `directory`,
 * started here and started again whenever it ends. Throws when only one address is given, or the same one twice.
 */
export async function openDatabases(directory: string, environment: Environment, say: (line: string) => void): Promise<Databases> {
  const given = givenDatabases(environment)
  if (given) return { ...given, description: 'the server of DATABASE_URL', own: false, stop: () => Promise.resolve(), killNow: () => undefined }
  mkdirSync(join(directory, 'log'), { recursive: true })
  rmSync(join(directory, 'log', 'postgres.log'), { force: true })
  let stopping = false
  const server: EmbeddedPostgres = await startPostgres({
    directory: join(directory, 'postgres'), persistent: true,
    log: (line) => {
      if (serverLine.test(line)) appendFileSync(join(directory, 'log', 'postgres.log'), `${line}\n`)
      else say(line)
    },
    onUnexpectedExit: () => void resume(),
  })
  const resume = async (): Promise<void> => {
    while (!stopping) {
      try {
        await server.resume()
        say('PostgreSQL runs again')
        return
      } catch (error) {
        say(`PostgreSQL does not start: ${String(error)}`)
        await wait(500)
      }
    }
  }
  await Promise.all(['bayar_sandbox', 'bayar_identity'].map((name) => ensureDatabase(server.url('postgres'), name)))
  return {
    main: server.url('bayar_sandbox'), identity: server.url('bayar_identity'), description: `embedded PostgreSQL on port ${server.port}`, own: true,
    stop: () => {
      stopping = true
      return server.stop()
    },
    killNow: () => server.killNow(),
  }
}

/** The addresses that the environment gives; undefined when it gives none. */
export function givenDatabases({ DATABASE_URL, IDENTITY_DATABASE_URL }: Environment): { main: string, identity: string } | undefined {
  if (!DATABASE_URL && !IDENTITY_DATABASE_URL) return undefined
  if (!DATABASE_URL || !IDENTITY_DATABASE_URL) {
    throw new Error('DATABASE_URL and IDENTITY_DATABASE_URL go together: set both, or neither for the embedded server')
  }
  if (DATABASE_URL === IDENTITY_DATABASE_URL) throw new Error('IDENTITY_DATABASE_URL must name a database of its own, not that of DATABASE_URL')
  return { main: DATABASE_URL, identity: IDENTITY_DATABASE_URL }
}

/** Brings both databases up to date, the job queue included. Returns the names of the migrations applied. */
export async function migrateDatabases({ main, identity, own }: Databases): Promise<string[]> {
  try {
    const applied = await Promise.all([migrate(main, 'main', { afterwards: installQueues }), migrate(identity, 'identity')])
    return applied.flat()
  } catch (error) {
    if (!own || !/was changed after it was applied|which this version does not know/.test(String(error))) throw error
    throw new Error(`${(error as Error).message}\nThe data in .dev/ is that of another version: go back to it, or forget the data by make clean`, { cause: error })
  }
}
