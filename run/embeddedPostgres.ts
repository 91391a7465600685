import { type ChildProcess, spawnSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import {
  chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, rmdirSync, statSync, writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import {
  type Account, type Binaries, canWrite, reachableDirectory, serverAccount, serverBinaries,
} from './postgresBinaries.ts'
import { type StopMode, clearLeftovers, goneWithin, guard, launch, stopSignals } from './postgresProcess.ts'

export interface EmbeddedPostgresOptions {
  /** Data folder; made when missing. Beside it: `.password` (mode 600) and `.owner`. */
  directory: string
  /** Loopback port; a free one when not given. */
  port?: number
  /** False trades safety at power loss for speed: for tests only. Default true. */
  fsync?: boolean
  /** False removes the data when the server is stopped. */
  persistent: boolean
  log?: (line: string) => void
  /** Called when the server ends without having been asked to. */
  onUnexpectedExit?: (code: number | null) => void
}

export interface EmbeddedPostgres {
  readonly port: number
  /** Process id of the server; 0 while it is halted. */
  readonly pid: number
  /** Folder the data is in; another than asked for when the server's account cannot reach that one. */
  readonly directory: string
  /** Connection address of a database, as superuser. Contains the password: never log it. */
  url(database: string): string
  /** Stops for good and, when not persistent, removes the data. */
  stop(mode?: StopMode): Promise<void>
  /** Stops, to be resumed on the same port. */
  halt(mode?: StopMode): Promise<void>
  resume(): Promise<void>
  restart(mode?: StopMode): Promise<void>
  /** For process 'exit' handlers: asks the server to end without waiting for it. */
  killNow(): void
}

const superuser = 'postgres'

/**
 * Starts the packaged PostgreSQL 18 on loopback. Started by root, the server runs as an unprivileged account, and
 * data or programs it cannot reach are kept below /var/lib/bayar (the log says so). It ends with this process.
 */
export async function startPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { fsync = true, persistent, log = () => undefined, onUnexpectedExit } = options
  const asked = resolve(options.directory)
  const account = ownerOf(asked) ?? serverAccount()
  const binaries = serverBinaries(account, log)
  const data = reachableData(asked, account, log)
  const [passwordFile, ownerFile] = [`${asked}.password`, `${asked}.owner`]
  const password = passwordOf(passwordFile, data)
  const leftovers = persistent ? [] : [data, passwordFile, ownerFile]
  await clearLeftovers(data, numberIn(ownerFile), log)
  if (!existsSync(join(data, 'PG_VERSION'))) createCluster(binaries, data, password, account, fsync)
  writeFileSync(ownerFile, `${process.pid}\n`)

  let server: ChildProcess | undefined
  let dismiss = (): void => undefined
  let port = options.port ?? (await freePort())

  const resume = async (): Promise<void> => {
    if (server) return
    const started = await launchPatiently(binaries.postgres, () => serverFlags(data, port, fsync), account, log)
    server = started
    dismiss = guard(started.pid ?? 0, persistent ? 'fast' : 'immediate', leftovers)
    started.once('exit', (code) => {
      if (server !== started) return
      server = undefined
      dismiss()
      log(`PostgreSQL ended by itself (code ${code})`)
      onUnexpectedExit?.(code)
    })
  }

  const halt = async (mode: StopMode = 'fast'): Promise<void> => {
    const running = server
    server = undefined
    if (!running?.pid) return
    running.kill(stopSignals[mode])
    if (!(await goneWithin(running.pid, 10_000))) running.kill('SIGQUIT')
    if (!(await goneWithin(running.pid, 5000))) throw new Error(`the database server ${running.pid} does not stop`)
    dismiss()
  }

  try {
    await resume()
  } catch (error) {
    // only a port of our own choosing may be taken by another between the choice and the start
    if (options.port !== undefined || !/Address already in use/.test(String(error))) throw error
    port = await freePort()
    await resume()
  }

  return {
    port,
    directory: data,
    get pid() {
      return server?.pid ?? 0
    },
    url: (database) => `postgres://${superuser}:${password}@127.0.0.1:${port}/${encodeURIComponent(database)}`,
    stop: async (mode = 'fast') => {
      await halt(mode)
      for (const path of leftovers) rmSync(path, { recursive: true, force: true })
      rmSync(ownerFile, { force: true })
    },
    halt,
    resume,
    restart: async (mode = 'fast') => {
      await halt(mode)
      await resume()
    },
    killNow: () => {
      server?.kill(stopSignals[persistent ? 'fast' : 'immediate'])
    },
  }
}

// A folder made by an earlier run of an ordinary user keeps its owner when root starts it later.
function ownerOf(directory: string): Account | undefined {
  if (process.getuid?.() !== 0 || !existsSync(join(directory, 'PG_VERSION'))) return undefined
  const { uid, gid } = statSync(directory)
  return uid === 0 ? undefined : { uid, gid }
}

function reachableData(asked: string, account: Account | undefined, log: (line: string) => void): string {
  mkdirSync(dirname(asked), { recursive: true })
  if (!account) return asked
  const trial = `${asked}.trial`
  mkdirSync(trial, { recursive: true, mode: 0o700 })
  chownSync(trial, account.uid, account.gid)
  const reachable = canWrite(trial, account)
  rmSync(trial, { recursive: true })
  if (reachable) return asked
  const instead = join(reachableDirectory, `data-${createHash('sha256').update(asked).digest('hex').slice(0, 16)}`)
  mkdirSync(reachableDirectory, { recursive: true, mode: 0o755 })
  log(`the server's account cannot reach ${asked}; the data is in ${instead}`)
  return instead
}

function passwordOf(file: string, data: string): string {
  if (existsSync(file)) return readFileSync(file, 'utf8').trim()
  if (existsSync(join(data, 'PG_VERSION'))) throw new Error(`without ${file} the data in ${data} cannot be opened`)
  const password = randomBytes(24).toString('hex')
  writeFileSync(file, `${password}\n`, { mode: 0o600, flag: 'wx' })
  return password
}

function numberIn(file: string): number | undefined {
  const number = existsSync(file) ? Number(readFileSync(file, 'utf8')) : Number.NaN
  return Number.isInteger(number) && number > 0 ? number : undefined
}

// Made beside its place and moved there when complete: a run killed in the middle leaves nothing half made.
function createCluster(
  binaries: Binaries, data: string, password: string, account: Account | undefined, fsync: boolean,
): void {
  const draft = `${data}.new`
  const secret = `${data}.initial`
  rmSync(draft, { recursive: true, force: true })
  rmSync(secret, { force: true })
  mkdirSync(draft, { mode: 0o700 })
  writeFileSync(secret, password, { mode: 0o600, flag: 'wx' })
  if (account) for (const path of [draft, secret]) chownSync(path, account.uid, account.gid)
  try {
    const made = spawnSync(
      binaries.initdb,
      [
        `--pgdata=${draft}`, `--pwfile=${secret}`, `--username=${superuser}`, '--auth=scram-sha-256', '--encoding=UTF8',
        // the same order of text on every machine, whatever locales it has
        '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--no-instructions',
        ...(fsync ? [] : ['--no-sync']),
      ],
      { ...account, cwd: '/', encoding: 'utf8', env: { PATH: process.env['PATH'], LC_ALL: 'C' } },
    )
    if (made.status !== 0) throw new Error(`initdb failed: ${made.error?.message ?? made.stderr.trim()}`)
    // an empty folder may stand in the place; anything in it is not ours, and this throws
    if (existsSync(data)) rmdirSync(data)
    renameSync(draft, data)
  } finally {
    rmSync(secret, { force: true })
    rmSync(draft, { recursive: true, force: true })
  }
}

function serverFlags(data: string, port: number, fsync: boolean): string[] {
  const settings = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '100',
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_checkpoints: 'off',
    ...(fsync ? {} : { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }),
  }
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  return ['-D', data, '-p', String(port), ...flags]
}

// After a kill the last backends may hold the shared memory for a moment longer than their parent.
async function launchPatiently(
  program: string, flags: () => string[], account: Account | undefined, log: (line: string) => void,
): Promise<ChildProcess> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await launch(program, flags(), account, log)
    } catch (error) {
      if (attempt >= 20 || !/pre-existing shared memory block|is still in use/.test(String(error))) throw error
      await wait(250)
    }
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address()
      const port = typeof address === 'object' && address ? address.port : 0
      probe.close(() => resolve(port))
    })
  })
}
