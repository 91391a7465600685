import { randomBytes } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from '../run/embeddedPostgres.ts'
import { type MigrateOptions, type MigratedDatabase, ensureDatabase, migrate } from './migrate.ts'
import { connect } from './sql.ts'

/** What vitest's globalSetup provides to every test file: plain data, because it crosses process borders. */
export interface TestServerInfo {
  /** Address of the maintenance database, as superuser. */
  url: string
}

export interface TestServer {
  info: TestServerInfo
  /** Stops the server; its data go with it, and also when this process is killed. */
  stop(): Promise<void>
}

export interface Clone {
  url: string
  /** Drops the clone, whoever is still connected. */
  drop(): Promise<void>
}

/** Starts a server of its own for tests, without fsync: about half a second. */
export async function startTestServer(): Promise<TestServer> {
  const directory = join(tmpdir(), `bayar-test-${randomBytes(8).toString('hex')}`)
  const server = await startPostgres({ directory, persistent: false, fsync: false })
  process.once('exit', () => server.killNow())
  return { info: { url: server.url('postgres') }, stop: () => server.stop('immediate') }
}

/** Migrates an empty database and closes it, to be cloned by name. */
export async function createTemplate(
  info: TestServerInfo, name: string, database: MigratedDatabase, options: MigrateOptions = {},
): Promise<void> {
  await ensureDatabase(info.url, name)
  await migrate(databaseUrl(info.url, name), database, options)
  await administer(info, `alter database ${name} with is_template true allow_connections false`)
}

/** A fresh copy of a template. `drop` it when the file's tests are done. */
export async function cloneDatabase(info: TestServerInfo, template: string): Promise<Clone> {
  const name = `${template}_${randomBytes(6).toString('hex')}`
  // wal_log copies block by block without the two checkpoints file_copy forces
  await administer(info, `create database ${name} template ${template} strategy wal_log`)
  return {
    url: databaseUrl(info.url, name),
    drop: () => administer(info, `drop database if exists ${name} with (force)`),
  }
}

async function administer(info: TestServerInfo, text: string): Promise<void> {
  const connection = connect(info.url, { max: 1, limitMs: 60_000, applicationName: 'bayar tests' })
  try {
    await connection.query((sql) => sql.unsafe(text))
  } finally {
    await connection.end()
  }
}

function databaseUrl(url: string, name: string): string {
  const address = new URL(url)
  address.pathname = `/${name}`
  return address.href
}
