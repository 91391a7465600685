import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const notCopied = ['node_modules', '.git', '.dev', 'coverage']
const limitMs = 120_000

/**
 * Seconds from the start of `make run`'s program until it says that everything is ready, as often as asked: each in a new
 * copy of the sources beside the packages that are installed, with nothing kept from an earlier run. Throws with what it
 * wrote when it ends before.
 */
export async function measureStartFromNothing(starts: number): Promise<number[]> {
  const times: number[] = []
  for (let at = 0; at < starts; at += 1) times.push(await startOnce())
  return times
}

async function startOnce(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'bayar-start-'))
  try {
    // The server's account must reach its data, or these would be put elsewhere and stay.
    chmodSync(folder, 0o755)
    cpSync(root, folder, { recursive: true, filter: (path) => !notCopied.includes(relative(root, path)) })
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
    return await timeOf(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Ends the run again once it is ready. It takes the first ten ports that are free. */
async function timeOf(folder: string): Promise<number> {
  const from = performance.now()
  const { PATH, HOME } = process.env
  const child = spawn(process.execPath, [join(folder, 'run/start.ts')], { cwd: folder, env: { PATH, HOME }, stdio: ['ignore', 'pipe', 'pipe'] })
  const killNow = (): void => void child.kill('SIGTERM')
  process.once('exit', killNow)
  const ended = once(child, 'exit')
  let written = ''
  try {
    return await new Promise<number>((resolve, reject) => {
      const give = (why: string): void => reject(new Error(`the development run ${why}:\n${written.slice(-4000)}`))
      const late = setTimeout(() => give(`is not ready after ${limitMs / 1000} s`), limitMs)
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding('utf8').on('data', (text: string) => {
          written += text
          if (written.includes('Bayar is ready')) resolve((performance.now() - from) / 1000)
        })
      }
      void ended.then(() => give('ended before it was ready'), reject).finally(() => clearTimeout(late))
    })
  } finally {
    process.off('exit', killNow)
    child.kill('SIGTERM')
    await ended
  }
}
