import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'

/** A process to keep alive. */
export interface ChildPlan {
  /** For people: `payments`, or `payments 2` for a further copy. */
  name: string
  /** File that Node runs, and what it is told. */
  entry: string
  arguments: readonly string[]
  environment: Readonly<Record<string, string | undefined>>
  /** Where its output goes, appended. */
  logFile: string
}

export interface SupervisionOptions {
  say(line: string): void
  /** The process ended three times in a row before it was ready, with the same message. It is not started again by itself. */
  gaveUp(plan: ChildPlan, message: string): void
}

/** A process that is started again, within a second, whenever it ends without having been told to. */
export interface SupervisedChild {
  readonly name: string
  /** Process id of the present one; undefined between two. */
  readonly pid: number | undefined
  /** Resolves true when it is ready, false when it is given up. */
  readonly ready: Promise<boolean>
  /** Drains it and starts it anew; also after it was given up. Resolves true when it is ready, false when it is given up. */
  restart(): Promise<boolean>
  /** Drains it: SIGTERM, and SIGKILL after 10 s. */
  stop(): Promise<void>
  killNow(): void
}

const againMs = 100
const failedStartMs = 500
const failedStartsAtMost = 3
const drainMs = 10_000

/** Starts a process that says `{ ready: true }` by its channel, and watches over it. */
export function supervise(plan: ChildPlan, { say, gaveUp }: SupervisionOptions): SupervisedChild {
  let child: ChildProcess | undefined
  let stopping = false
  let failedStarts: string[] = []
  let ready = Promise.withResolvers<boolean>()
  let again: NodeJS.Timeout | undefined

  const start = (): void => {
    const started = launch(plan)
    child = started
    let isReady = false
    let said = ''
    started.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-4000)
    })
    started.on('message', (message: { ready?: boolean }) => {
      if (message.ready !== true) return
      isReady = true
      failedStarts = []
      ready.resolve(true)
    })
    // 'close' comes after the last of what it said, 'exit' may not.
    started.once('close', (code, signal) => {
      if (child === started) child = undefined
      if (!stopping) ended(isReady, said.trim(), signal ?? `code ${code}`)
    })
    started.once('error', (error) => say(`${plan.name}: ${error.message}`))
  }

  const ended = (wasReady: boolean, said: string, how: string): void => {
    const repeated = !wasReady && said !== '' && failedStarts.at(-1) === said
    if (!wasReady && said !== '') failedStarts.push(said)
    if (failedStarts.length >= failedStartsAtMost && new Set(failedStarts.slice(-failedStartsAtMost)).size === 1) {
      gaveUp(plan, said)
      ready.resolve(false)
      return
    }
    const reason = repeated ? ', as before' : said === '' ? '' : `: ${said.split('\n').slice(0, 6).join('\n    ')}`
    say(`${plan.name} ended (${how})${reason}\n  starting it again`)
    again = setTimeout(start, wasReady ? againMs : failedStartMs)
  }

  const end = async (): Promise<void> => {
    stopping = true
    clearTimeout(again)
    const running = child
    if (running) await drained(running)
  }

  start()
  return {
    name: plan.name,
    get pid() {
      return child?.pid
    },
    get ready() {
      return ready.promise
    },
    restart: async () => {
      await end()
      stopping = false
      failedStarts = []
      ready = Promise.withResolvers()
      start()
      return ready.promise
    },
    stop: end,
    killNow: () => {
      child?.kill('SIGKILL')
    },
  }
}

function launch({ entry, arguments: given, environment, logFile }: ChildPlan): ChildProcess {
  const log = openSync(logFile, 'a')
  try {
    // A group of its own: Ctrl-C must reach the supervisor alone, which stops them in order.
    return fork(entry, given, { env: environment, execArgv: [], stdio: ['ignore', log, 'pipe', 'ipc'], detached: true })
  } finally {
    closeSync(log)
  }
}

async function drained(child: ChildProcess): Promise<void> {
  const closed = new Promise<boolean>((resolve) => child.once('close', () => resolve(true)))
  child.kill('SIGTERM')
  const giveUp = new AbortController()
  const inTime = await Promise.race([closed, wait(drainMs, false, { signal: giveUp.signal })])
  giveUp.abort()
  if (inTime) return
  child.kill('SIGKILL')
  await closed
}
