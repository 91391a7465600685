import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { isAlive } from './postgresProcess.ts'

/** Makes sure that one run at a time uses a clone's folder. Throws, naming the process, when another does. */
export function lockRun(file: string): () => void {
  for (;;) {
    try {
      writeFileSync(file, `${process.pid}\n`, { flag: 'wx', mode: 0o600 })
      return () => rmSync(file, { force: true })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
    const pid = Number(readFileSync(file, 'utf8'))
    if (pid > 0 && pid !== process.pid && isAlive(pid) && isRun(pid)) throw new Error(`this clone runs already, as process ${pid}: stop that one first`)
    // Left by a run that was killed; its number may belong to a stranger by now.
    rmSync(file, { force: true })
  }
}

function isRun(pid: number): boolean {
  const commandLine = `/proc/${pid}/cmdline`
  return !existsSync('/proc/self/cmdline') || (existsSync(commandLine) && readFileSync(commandLine, 'utf8').includes('run/start.ts'))
}
