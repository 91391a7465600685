import { fork } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { setTimeout as wait } from 'node:timers/promises'
import type { Arrival, ReceiverReady, ReceiverReport } from './receiverProcess.ts'

/** One request as the receiver saw it. Times are milliseconds since 1970. */
export interface Arrived {
  at: number
  path: string
  delivery: string
  intent: string | null
}

export interface CutRequest {
  at: number
  event: string
  delivery: string
}

/** A receiver in a process of its own. */
export interface ReceiverProcess {
  url: string
  untrustedUrl: string
  /** What a worker needs to reach it. */
  environment: Record<string, string>
  /** Everything that arrived, by event, in its order. */
  arrived: ReadonlyMap<string, readonly Arrived[]>
  /** Requests that arrived, repeats included. */
  count(): number
  cuts: readonly CutRequest[]
  forget(): void
  stop(): void
}

/** Starts a receiver whose certificate is written to the folder. It ends with this process. */
export async function startReceiverProcess(folder: string): Promise<ReceiverProcess> {
  const child = fork(fileURLToPath(new URL('receiverProcess.ts', import.meta.url)), [], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'], execArgv: [] })
  const killNow = (): void => void child.kill('SIGKILL')
  process.once('exit', killNow)
  const [{ url, untrustedUrl, certificate }] = await once(child, 'message') as [ReceiverReady]
  const file = join(folder, 'webhook-ca.pem')
  writeFileSync(file, certificate)
  const arrived = new Map<string, Arrived[]>()
  const cuts: CutRequest[] = []
  let count = 0
  child.on('message', (report: ReceiverReport) => {
    for (const entry of report.arrivals) note(arrived, entry)
    count += report.arrivals.length
    for (const [at, event, delivery] of report.cuts) cuts.push({ at, event, delivery })
  })
  return {
    url, untrustedUrl, environment: { WEBHOOK_ALLOW_PRIVATE: 'on', WEBHOOK_CA_FILE: file }, arrived, cuts,
    count: () => count,
    forget() {
      arrived.clear()
      cuts.length = 0
      count = 0
    },
    stop() {
      process.off('exit', killNow)
      killNow()
    },
  }
}

function note(arrived: Map<string, Arrived[]>, [at, path, event, delivery, intent]: Arrival): void {
  const known = arrived.get(event)
  if (known) known.push({ at, path, delivery, intent })
  else arrived.set(event, [{ at, path, delivery, intent }])
}

/** Waits until something holds; false when it does not within the time. */
export async function until(holds: () => boolean | Promise<boolean>, limitMs: number, everyMs = 50): Promise<boolean> {
  for (const began = performance.now(); performance.now() - began < limitMs; await wait(everyMs)) {
    if (await holds()) return true
  }
  return holds()
}

/** Milliseconds since 1970, as the receiver counts them. */
export const clockNow = (): number => performance.timeOrigin + performance.now()
