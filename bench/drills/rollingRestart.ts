import { setTimeout as wait } from 'node:timers/promises'
import { startBalancer } from './balancer.ts'
import type { Balancer } from './balancer.ts'
import { failuresOf, medianAndMost } from './drill.ts'
import type { Drill } from './drill.ts'
import { countsByStatus, describe, longestOpen } from './judgement.ts'
import { isSuccess } from './requests.ts'
import type { Try } from './requests.ts'
import { everyProcess, judgeEnds, underLoad } from './underLoad.ts'

interface Restarted {
  name: string
  /** SIGTERM to ready again, milliseconds. */
  tookMs: number
  isReady: boolean
}

const rounds = { short: 1, long: 5 } as const
const betweenMs = 500
/** Ten seconds to drain, and the start. */
const restartWithinMs = 25_000
const requestsAtLeast = { short: 200, long: 5000 } as const

/** Every payments process and worker is ended in order and started again, one after the other, while callers ask on. */
export const rollingRestart: Drill = {
  name: 'rolling-restart',
  about: 'both payments processes and both workers restarted by SIGTERM in turn under load, 5 times, in the short form once; no request fails',
  async run(options) {
    const balancer = await startBalancer()
    try {
      return await underLoad(options, {
        // What is judged is the drain as it is configured when nobody says otherwise.
        stage: { workers: 2, frontUrl: balancer.url, environment: () => Promise.resolve({ DRAIN_DELAY_MS: '' }) },
        urls: () => [balancer.url],
        before: ({ payments }) => balancer.serve(payments.map(({ url }) => url)),
        followUpMs: 30_000,
        disturb: async ({ stage, say }) => {
          const made: Restarted[] = []
          for (let round = options.short ? rounds.short : rounds.long; round > 0; round -= 1) {
            for (const { child } of everyProcess(stage)) {
              const from = performance.now()
              const isReady = await child.restart()
              made.push({ name: child.name, tookMs: performance.now() - from, isReady })
              await balancer.allReady()
              await wait(betweenMs)
            }
            say(`${made.length} restarts, ${balancer.broken.length} requests broken`)
          }
          return made
        },
        judge: ({ tries, made, stage }) => [
          ...judgeRestarts(tries, made, balancer.broken, options.short ? requestsAtLeast.short : requestsAtLeast.long), ...judgeEnds(everyProcess(stage)),
        ],
        figures: ({ tries, made }) => [
          ['requests by status', countsByStatus(tries)],
          ['payments processes, SIGTERM to ready', medianAndMost(timesOf(made, 'payments'))],
          ['workers, SIGTERM to ready', medianAndMost(timesOf(made, 'worker'))],
          ['longest open request', `${Math.round(longestOpen(tries))} ms`],
        ],
      })
    } finally {
      await balancer.close()
    }
  },
}

function timesOf(made: readonly Restarted[], kind: string): number[] {
  return made.filter(({ name }) => name.startsWith(kind)).map(({ tookMs }) => tookMs)
}

/** No request fails: not one 503, no connection refused or cut off, by callers' and by the balancer's account. */
export function judgeRestarts(tries: readonly Try[], made: readonly Restarted[], broken: Balancer['broken'], atLeast: number): string[] {
  // A process that is about to end says so: that is what its readiness is for.
  const failed = tries.filter(({ operation, status }) => !isSuccess(status) && !(operation === 'getReadiness' && status === 503))
  const slow = made.filter(({ isReady, tookMs }) => !isReady || tookMs > restartWithinMs)
  return [
    ...failuresOf('requests that failed', failed, describe),
    ...failuresOf('requests that a process broke off', broken, (text) => text),
    ...failuresOf(`restarts that took over ${restartWithinMs / 1000} s`, slow, ({ name, tookMs }) => `${name}: ${Math.round(tookMs)} ms`),
    ...(made.length === 0 ? ['nothing was restarted'] : []),
    ...(tries.length < atLeast ? [`only ${tries.length} requests were made`] : []),
  ]
}
