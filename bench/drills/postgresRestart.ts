import { setTimeout as wait } from 'node:timers/promises'
import { startLoad } from './callers.ts'
import type { Try } from './callers.ts'
import { between, failuresOf, medianAndMost, randomFrom } from './drill.ts'
import type { Drill, DrillReport } from './drill.ts'
import { backWithinMs, countsByStatus, describe, firstSuccess, fullService, judgeAnswers, longestOpen } from './judgement.ts'
import type { Outage } from './judgement.ts'
import { startPayer } from './payer.ts'
import { openStage } from './stage.ts'
import { verify } from './verify.ts'

interface Restart {
  mode: 'immediate' | 'fast'
  downMs: number
  calmMs: number
}

const settleMs = 1500
const followUpMs = 30_000

/** The restarts of a seed: immediate and fast in turn, 0.3 to 1.5 s down, calm after each. */
function restartsOf(random: () => number, short: boolean): Restart[] {
  return Array.from({ length: short ? 3 : 20 }, (_, at) => ({
    mode: at % 2 === 0 ? 'immediate' : 'fast', downMs: between(random, 300, 1500), calmMs: short ? between(random, 1500, 2000) : between(random, 2500, 6500),
  }))
}

/** PostgreSQL is stopped and started again while two payments processes are under load. */
export const postgresRestart: Drill = {
  name: 'postgres-restart',
  about: 'PostgreSQL is restarted under load, 20 times, in the short form 3',
  async run({ short, seed, say }) {
    const random = randomFrom(seed)
    const restarts = restartsOf(random, short)
    const stage = await openStage(say)
    let passed = false
    try {
      const load = startLoad(stage.payments.map(({ url }) => url), stage.merchants, random)
      const payer = startPayer(stage, load)
      await wait(settleMs)
      const outages: Outage[] = []
      for (const [at, { mode, downMs, calmMs }] of restarts.entries()) {
        const from = performance.now()
        await stage.postgres.halt(mode)
        await wait(downMs)
        await stage.postgres.resume()
        const outage = { from, to: performance.now() }
        outages.push(outage)
        await wait(calmMs)
        const first = firstSuccess(load.tries, outage, performance.now())
        say(`restart ${at + 1} of ${restarts.length}: ${mode}, away ${Math.round(outage.to - from)} ms, first success after ${first?.toFixed(0) ?? '-'} ms`)
      }
      const loadEnd = performance.now()
      await Promise.all([load.finish(followUpMs), payer.finish()])
      say(`${load.keys.length} keys, ${payer.paid.length} payments; asking for each again`)
      const tries = [...load.tries]
      const failures = [
        ...judgeAnswers(tries), ...judgeOutages(tries, outages, loadEnd),
        ...stage.payments.flatMap(({ ends }, at) => ends() === 0 ? [] : [`payments process ${at + 1} ended by itself ${ends()} times`]),
        ...(stage.worker.ends() === 0 ? [] : [`the worker ended by itself ${stage.worker.ends()} times`]),
        ...await verify(stage, load, payer),
      ]
      passed = failures.length === 0
      return { failures, figures: figuresOf(tries, outages, loadEnd, load.keys.length, payer.paid.length) }
    } finally {
      const logs = await stage.close(!passed)
      if (logs) say(`the logs are in ${logs}`)
    }
  },
}

/** The end of the calm after each outage: the next one, or the end of the load. */
function withEnds(outages: readonly Outage[], loadEnd: number): { outage: Outage, until: number }[] {
  return outages.map((outage, at) => ({ outage, until: outages[at + 1]?.from ?? loadEnd }))
}

function judgeOutages(tries: readonly Try[], outages: readonly Outage[], loadEnd: number): string[] {
  const spans = withEnds(outages, loadEnd)
  const excused = ({ ended }: Try): boolean => outages.some(({ from, to }) => ended >= from && ended <= to + backWithinMs)
  const slow = spans.filter(({ outage, until }) => !((firstSuccess(tries, outage, until) ?? Infinity) <= backWithinMs))
  const partial = spans.filter(({ outage, until }) => !((fullService(tries, outage, until) ?? Infinity) <= backWithinMs))
  const number = ({ outage }: { outage: Outage }): string => `restart ${outages.indexOf(outage) + 1}`
  const during = outages.filter(({ from, to }) => !tries.some(({ status, began, ended }) => status === 503 && began >= from && ended <= to))
  return [
    ...failuresOf('requests without an answer', tries.filter(({ status }) => status === null), describe),
    ...failuresOf('503 although PostgreSQL was there', tries.filter((entry) => entry.status === 503 && !excused(entry)), describe),
    ...failuresOf(`no success within ${backWithinMs / 1000} s of the return`, slow, number),
    ...failuresOf(`no full service within ${backWithinMs / 1000} s of the return`, partial, number),
    // A load that never met the outage would prove nothing.
    ...failuresOf('outages that no request met', during, ({ from }) => `at ${(from / 1000).toFixed(2)} s`),
  ]
}

function figuresOf(tries: readonly Try[], outages: readonly Outage[], loadEnd: number, keys: number, payments: number): DrillReport['figures'] {
  const spans = withEnds(outages, loadEnd)
  const numbers = (values: (number | null)[]): number[] => values.filter((value) => value !== null)
  const whileAway = tries.filter(({ began, ended }) => outages.some(({ from, to }) => began >= from && ended <= to))
  return [
    ['requests by status', countsByStatus(tries)],
    ['keys and payments', `${keys} keys, ${payments} payments`],
    ['PostgreSQL away', medianAndMost(outages.map(({ from, to }) => to - from))],
    ['longest open request', `${Math.round(longestOpen(tries))} ms; begun and ended while away ${Math.round(longestOpen(whileAway))} ms`],
    ['return to first success', medianAndMost(numbers(spans.map(({ outage, until }) => firstSuccess(tries, outage, until))))],
    ['return to full service', medianAndMost(numbers(spans.map(({ outage, until }) => fullService(tries, outage, until))))],
  ]
}
