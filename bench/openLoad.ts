import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { LoadOrder, LoadReport } from './loadProcess.ts'

export type { LoadOrder, LoadReport } from './loadProcess.ts'

/** A load generator in a process of its own. */
export interface LoadGenerator {
  /** Sends what is ordered; one order at a time. Requests that fail are in the report, for whoever judges it. */
  send(order: LoadOrder): Promise<LoadReport>
  stop(): void
}

/** Starts a load generator. It ends with this process. */
export function startLoadGenerator(): LoadGenerator {
  const child = fork(fileURLToPath(new URL('loadProcess.ts', import.meta.url)), [], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'], execArgv: [] })
  const ended = once(child, 'exit').then(([code]) => Promise.reject(new Error(`the load generator ended with ${String(code)}`)))
  ended.catch(() => undefined)
  return {
    async send(order) {
      const answered = once(child, 'message') as Promise<[LoadReport]>
      child.send(order)
      const [report] = await Promise.race([answered, ended])
      return report
    },
    stop: () => void child.disconnect(),
  }
}

/** Requests of some runs that failed, of how many, and as what. */
export function failuresIn(reports: readonly Pick<LoadReport, 'answered' | 'failures'>[]): { failed: number, asked: number, text: string } {
  const kinds: Record<string, number> = {}
  for (const { failures } of reports) for (const [kind, count] of Object.entries(failures)) kinds[kind] = (kinds[kind] ?? 0) + count
  const failed = Object.values(kinds).reduce((sum, count) => sum + count, 0)
  const asked = failed + reports.reduce((sum, { answered }) => sum + answered, 0)
  return { failed, asked, text: failed === 0 ? `0 of ${asked}` : `${failed} of ${asked} ${JSON.stringify(kinds)}` }
}
