import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { LoadOrder, LoadReport } from './loadProcess.ts'

export type { LoadOrder, LoadReport } from './loadProcess.ts'

/** A load generator in a process of its own. */
export interface LoadGenerator {
  /** Sends what is ordered; one order at a time. Rejects when any request fails, unless failures are expected. */
  send(order: LoadOrder, failuresExpected?: boolean): Promise<LoadReport>
  stop(): void
}

/** Starts a load generator. It ends with this process. */
export function startLoadGenerator(): LoadGenerator {
  const child = fork(fileURLToPath(new URL('loadProcess.ts', import.meta.url)), [], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'], execArgv: [] })
  const ended = once(child, 'exit').then(([code]) => Promise.reject(new Error(`the load generator ended with ${String(code)}`)))
  ended.catch(() => undefined)
  return {
    async send(order, failuresExpected = false) {
      const answered = once(child, 'message') as Promise<[LoadReport]>
      child.send(order)
      const [report] = await Promise.race([answered, ended])
      if (!failuresExpected && Object.keys(report.failures).length > 0) throw new Error(`not every request succeeded: ${JSON.stringify(report.failures)}`)
      return report
    },
    stop: () => void child.disconnect(),
  }
}
