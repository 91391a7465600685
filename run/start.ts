// Runs the whole system for development: `make run`, or with --watch `make dev`.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DevelopmentRun } from './developmentRun.ts'
import { processesUsing, touchesDocuments, touchesMigrations, watchSources } from './watch.ts'
import { welcome } from './welcome.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const watching = process.argv.includes('--watch')

/** One line of progress: seconds since the start while starting, the time of day after that. */
let isReady = false
function say(line: string): void {
  const mark = isReady ? new Date().toTimeString().slice(0, 8) : `${(performance.now() / 1000).toFixed(1).padStart(4)} s`
  process.stdout.write(`[${mark}] ${line}\n`)
}

// A reader that goes away, as in `make run | head`, must not end the run.
process.stdout.on('error', () => undefined)

const run = new DevelopmentRun({ directory: join(root, '.dev'), environment: process.env, say, keepsFailedStarts: watching })
let ending: Promise<void> | undefined
let signals = 0

function end(exitCode: number): Promise<void> {
  ending ??= run.stop().catch((error: unknown) => say(`stopping: ${String(error)}`)).then(() => process.exit(exitCode))
  return ending
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    signals += 1
    if (signals > 1) {
      // Asked twice: at once, and without draining. The exit handler ends what still runs.
      process.exit(130)
    }
    process.stdout.write('\n')
    say('stopping; once more to stop at once')
    void end(0)
  })
}
process.on('exit', () => run.killNow())

run.failed.catch((error: unknown) => {
  if (ending) return
  process.stderr.write(`\n${error instanceof Error ? error.message : String(error)}\n`)
  void end(1)
})
run.start().then(() => {
  isReady = true
  process.stdout.write(welcome(run.credentials, performance.now() / 1000, watching))
  if (watching) watchSources(root, reload)
}, () => undefined)

/** Brings the run up to the sources as they now are. */
async function reload(paths: readonly string[]): Promise<void> {
  const more = paths.length > 3 ? ` and ${paths.length - 3} more` : ''
  say(`changed: ${paths.slice(0, 3).join(', ')}${more}`)
  if (touchesDocuments(paths) && !(await generate())) return
  try {
    if (touchesMigrations(paths)) await run.migrate()
  } catch (error) {
    say(`the migrations fail: ${String(error)}`)
    return
  }
  const from = performance.now()
  const restarted = await run.restart(processesUsing(paths))
  if (restarted) say(`${restarted} up after ${((performance.now() - from) / 1000).toFixed(1)} s`)
}

async function generate(): Promise<boolean> {
  say('generating')
  const child = spawn(process.execPath, [join(root, 'spec/generate.ts')], { stdio: ['ignore', 'inherit', 'inherit'] })
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  if (code !== 0) say('the documents cannot be generated: everything goes on as it was')
  return code === 0
}
