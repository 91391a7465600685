import { fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { connect } from '../db/sql.ts'
import { type EmbeddedPostgres, startPostgres } from './embeddedPostgres.ts'
import { isAlive } from './postgresProcess.ts'

const folders: string[] = []

function folder(): string {
  const path = join(tmpdir(), `bayar-postgres-${randomUUID()}`)
  folders.push(path)
  return path
}

async function ask(server: EmbeddedPostgres, text: string): Promise<readonly object[]> {
  const database = connect(server.url('postgres'), { max: 1 })
  const rows = await database.query((sql) => sql.unsafe(text))
  await database.end()
  return [...rows]
}

/** Starts a server in another process and kills that process the hard way. Resolves with the server's id. */
async function killedRun(directory: string, persistent: boolean): Promise<number> {
  const script = `
    import { startPostgres } from ${JSON.stringify(new URL('./embeddedPostgres.ts', import.meta.url).href)}
    const server = await startPostgres(${JSON.stringify({ directory, persistent, fsync: false })})
    process.send(server.pid)`
  const file = `${directory}.mjs`
  folders.push(file)
  writeFileSync(file, script)
  const run = fork(file, { stdio: 'ignore' })
  const pid = await new Promise<number>((resolve, reject) => {
    run.once('message', (message) => resolve(Number(message)))
    run.once('exit', (code) => reject(new Error(`ended with ${code}`)))
  })
  run.kill('SIGKILL')
  return pid
}

afterAll(() => {
  for (const path of folders) {
    for (const suffix of ['', '.password', '.owner']) rmSync(path + suffix, { recursive: true, force: true })
  }
})

describe('the packaged server', () => {
  test('it answers on loopback only, with a password of its own that only this account can read', async () => {
    const directory = folder()
    const server = await startPostgres({ directory, persistent: true })
    const settings = await ask(server, `select name, setting from pg_settings where name in
      ('listen_addresses', 'unix_socket_directories', 'max_connections', 'fsync') order by name`)
    expect(settings).toEqual([
      { name: 'fsync', setting: 'on' },
      { name: 'listen_addresses', setting: '127.0.0.1' },
      { name: 'max_connections', setting: '100' },
      { name: 'unix_socket_directories', setting: '' },
    ])
    expect(statSync(`${directory}.password`).mode & 0o777).toBe(0o600)
    const wrong = connect(server.url('postgres').replace(/:[0-9a-f]{48}@/, `:${randomUUID()}@`), { max: 1 })
    await expect(wrong.query((sql) => sql`select 1`)).rejects.toMatchObject({ code: '28P01' })
    await wrong.end()
    await server.stop()
    expect(server.pid).toBe(0)
  }, 30_000)

  test('data outlive a stop, and a restart keeps the port', async () => {
    const directory = folder()
    const first = await startPostgres({ directory, persistent: true })
    await ask(first, 'create table kept (id int)')
    await first.restart('immediate')
    await ask(first, 'insert into kept values (7)')
    await first.stop()
    const second = await startPostgres({ directory, persistent: true })
    expect(await ask(second, 'select id from kept')).toEqual([{ id: 7 }])
    await second.stop()
  }, 30_000)

  test('a server that is not persistent leaves nothing behind', async () => {
    const directory = folder()
    const server = await startPostgres({ directory, persistent: false, fsync: false })
    expect(await ask(server, 'show fsync')).toEqual([{ fsync: 'off' }])
    await server.stop('immediate')
    for (const suffix of ['', '.password', '.owner']) expect(existsSync(directory + suffix)).toBe(false)
  }, 30_000)

  test('a folder in use by a living run is refused', async () => {
    const directory = folder()
    const server = await startPostgres({ directory, persistent: true })
    await expect(startPostgres({ directory, persistent: true })).rejects.toThrow(/in use by process/)
    expect(await ask(server, 'select 1 as one')).toEqual([{ one: 1 }])
    await server.stop()
  }, 30_000)

  test('a folder with something else in it is left alone', async () => {
    const directory = folder()
    mkdirSync(directory)
    writeFileSync(join(directory, 'notes'), 'mine')
    await expect(startPostgres({ directory, persistent: true })).rejects.toThrow(/ENOTEMPTY/)
    expect(readFileSync(join(directory, 'notes'), 'utf8')).toBe('mine')
  }, 30_000)
})

describe('runs that were killed', () => {
  test('the server ends with its killed parent, and temporary data go with it', async () => {
    const directory = folder()
    const pid = await killedRun(directory, false)
    await expect.poll(() => isAlive(pid), { timeout: 10_000 }).toBe(false)
    await expect.poll(() => existsSync(directory), { timeout: 10_000 }).toBe(false)
  }, 30_000)

  test('a folder whose server still runs without its parent starts again', async () => {
    const directory = folder()
    const pid = await killedRun(directory, true)
    const server = await startPostgres({ directory, persistent: true })
    expect(isAlive(pid)).toBe(false)
    expect(await ask(server, 'select 1 as one')).toEqual([{ one: 1 }])
    await server.stop()
  }, 30_000)

  test('a stale lock naming a living stranger starts again', async () => {
    const directory = folder()
    const first = await startPostgres({ directory, persistent: true })
    await first.stop('immediate')
    const lock = `${process.ppid}\n${first.directory}\n0\n5432\n\n127.0.0.1\n`
    writeFileSync(join(first.directory, 'postmaster.pid'), lock)
    const second = await startPostgres({ directory, persistent: true })
    expect(await ask(second, 'select 1 as one')).toEqual([{ one: 1 }])
    await second.stop()
  }, 30_000)
})

describe.runIf(process.getuid?.() === 0)('started by root', () => {
  test('the server runs as another account, also when the folder asked for is closed to it', async () => {
    const closed = folder()
    mkdirSync(closed, { mode: 0o700 })
    const lines: string[] = []
    const directory = join(closed, 'data')
    const server = await startPostgres({ directory, persistent: false, fsync: false, log: (line) => lines.push(line) })
    expect(statSync(server.directory).uid).not.toBe(0)
    expect(server.directory.startsWith(closed)).toBe(false)
    expect(lines.join('\n')).toContain(server.directory)
    expect(await ask(server, 'select 1 as one')).toEqual([{ one: 1 }])
    await server.stop('immediate')
    expect(existsSync(server.directory)).toBe(false)
  }, 30_000)
})
