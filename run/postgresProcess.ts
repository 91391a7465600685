import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Account } from './postgresBinaries.ts'

export type StopMode = 'fast' | 'immediate'

export const stopSignals: Record<StopMode, NodeJS.Signals> = { fast: 'SIGINT', immediate: 'SIGQUIT' }

/** True while a process with this id runs, ours or another's; one that ended but was not collected does not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) return false
  }
  return statOf(pid)?.[0] !== 'Z'
}

// State, parent and so on of a process; undefined where there is no /proc, or no such process any more.
function statOf(pid: number): string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  } catch {
    return undefined
  }
}

// A server stands in its data folder; on machines without /proc its command line names the folder.
function serves(pid: number, data: string): boolean {
  if (existsSync('/proc/self/cwd')) {
    try {
      return readlinkSync(`/proc/${pid}/cwd`) === realpathSync(data)
    } catch {
      return false
    }
  }
  return spawnSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).stdout.includes(data)
}

function parentOf(pid: number): number {
  const parent = statOf(pid)?.[1] ?? spawnSync('ps', ['-o', 'ppid=', '-p', String(pid)], { encoding: 'utf8' }).stdout
  return Number(parent)
}

/** Resolves true when the process is gone within `limitMs`. */
export async function goneWithin(pid: number, limitMs: number): Promise<boolean> {
  for (let waited = 0; waited < limitMs; waited += 20) {
    if (!isAlive(pid)) return true
    await wait(20)
  }
  return !isAlive(pid)
}

/**
 * Clears what a killed run left on a data folder: a server that outlived its parent is stopped, a lock file whose
 * number now belongs to a stranger is removed. Throws when the run that owns the server still lives.
 */
export async function clearLeftovers(
  data: string, ownerPid: number | undefined, log: (line: string) => void,
): Promise<void> {
  const lock = join(data, 'postmaster.pid')
  if (!existsSync(lock)) return
  const pid = Number(readFileSync(lock, 'utf8').split('\n')[0])
  if (!Number.isInteger(pid) || pid <= 0 || !isAlive(pid)) return
  if (!serves(pid, data)) {
    log(`the lock of ${data} names process ${pid}, which is no server of it: removing the lock`)
    rmSync(lock)
    return
  }
  if (ownerPid !== undefined && isAlive(ownerPid) && parentOf(pid) === ownerPid) {
    throw new Error(`the database in ${data} is in use by process ${ownerPid}: stop that one first`)
  }
  log(`stopping the database server ${pid} left on ${data} by a run that was killed`)
  for (const [signal, limitMs] of [['SIGINT', 5000], ['SIGQUIT', 5000], ['SIGKILL', 5000]] as const) {
    if (isAlive(pid)) process.kill(pid, signal)
    if (await goneWithin(pid, limitMs)) return
  }
  throw new Error(`the database server ${pid} on ${data} cannot be stopped`)
}

/** Starts the server and resolves once it accepts connections; rejects with its last lines when it ends before. */
export function launch(
  program: string, flags: string[], account: Account | undefined, log: (line: string) => void,
): Promise<ChildProcess> {
  return new Promise((resolve, reject) => {
    // Detached: an interrupt from the terminal must reach the services first, and the server when they are done.
    const server = spawn(program, flags, {
      ...account,
      cwd: '/',
      detached: true,
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { PATH: process.env['PATH'], LC_ALL: 'C' },
    })
    let last = ''
    server.stderr.setEncoding('utf8').on('data', (text: string) => {
      last = (last + text).slice(-4000)
      for (const line of text.split('\n')) if (line !== '') log(line)
      if (last.includes('database system is ready to accept connections')) resolve(server)
    })
    server.once('error', reject)
    server.once('close', (code) => reject(new Error(`PostgreSQL ended at start (code ${code}): ${last.trim()}`)))
  })
}

// Reads until our end of the pipe closes; "done" means the server is stopped already.
const guardScript = `
read -r word && exit 0
signal=$1
server=$2
shift 2
kill -s "$signal" "$server" 2>/dev/null
[ $# -eq 0 ] && exit 0
tries=0
while kill -0 "$server" 2>/dev/null && [ "$tries" -lt 100 ]; do sleep 0.1; tries=$((tries + 1)); done
rm -rf -- "$@"
`

/**
 * A watcher that stops the server when this process dies without doing so, kill -9 included, and then removes
 * `leftovers`. The function it returns dismisses it.
 */
export function guard(pid: number, mode: StopMode, leftovers: string[]): () => void {
  const signal = stopSignals[mode].slice('SIG'.length)
  const watcher = spawn('/bin/sh', ['-c', guardScript, 'sh', signal, String(pid), ...leftovers], {
    cwd: '/', detached: true, stdio: ['pipe', 'ignore', 'ignore'],
  })
  watcher.on('error', () => undefined)
  watcher.stdin.on('error', () => undefined)
  watcher.unref()
  const pipe = watcher.stdin as typeof watcher.stdin & { unref?: () => void }
  pipe.unref?.()
  return () => {
    watcher.stdin.end('done\n')
  }
}
