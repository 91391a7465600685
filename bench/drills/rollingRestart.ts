import { setTimeout as wait } from 'node:timers/promises'
import { startBalancer } from './balancer.ts'
import type { Balancer } from './balancer.ts'
import { failuresOf, medianAndMost } from './drill.ts'
import type { Drill } from './drill.ts'
import { countsByStatus, describe, longestOpen } from './judgement.ts'
import type { CallbackTry } from './payer.ts'
import { isSuccess } from './requests.ts'
import type { Try } from './requests.ts'
import { everyProcess, judgeEnds, underLoad } from './underLoad.ts'
import { within } from './within.ts'

interface Restarted {
  name: string
  /** SIGTERM to ready again, milliseconds. */
  tookMs: number
  /** Whether it started, and every copy was ready after it. */
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
              const isStarted = await within(restartWithinMs, child.restart(), false)
              const tookMs = performance.now() - from
              made.push({ name: child.name, tookMs, isReady: await balancer.allReady() && isStarted })
              await wait(betweenMs)
            }
            say(`${made.length} restarts, ${balancer.broken.length} requests broken`)
          }
          return made
        },
        judge: ({ tries, callbacks, made, stage }) => [
          ...judgeRestarts(tries, made, balancer.broken, options.short ? requestsAtLeast.short : requestsAtLeast.long), ...judgeCallbacks(callbacks),
          ...judgeEnds(everyProcess(stage)),
        ],
        figures: ({ tries, callbacks, made }) => [
          ['requests by status', countsByStatus(tries)],
          ['callbacks', String(callbacks.length)],
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

/** A provider's callback is a request as any other: it is taken at once. */
export function judgeCallbacks(callbacks: readonly CallbackTry[]): string[] {
  const failed = callbacks.filter(({ status }) => status !== 200)
  return [
    ...failuresOf('callbacks that were not taken at once', failed, ({ reference, status }) => `${reference}: ${status ?? 'no answer'}`),
    ...(callbacks.length === 0 ? ['no provider called back'] : []),
  ]
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
    ...failuresOf(`restarts that took over ${restartWithinMs / 1000} s or did not end in readiness`, slow, ({ name, tookMs }) => `${name}: ${Math.round(tookMs)} ms`),
    ...(made.length === 0 ? ['nothing was restarted'] : []),
    ...(tries.length < atLeast ? [`only ${tries.length} requests were made`] : []),
  ]
}
