import { setTimeout as wait } from 'node:timers/promises'
import { startLoad } from './callers.ts'
import type { Try } from './requests.ts'
import { between, failuresOf, medianAndMost, randomFrom } from './drill.ts'
import type { Drill, DrillReport } from './drill.ts'
import {
  backWithinMs, countsByStatus, describe, firstSuccess, fullService, judgeAnswers, longestOpen,
} from './judgement.ts'
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
    mode: at % 2 === 0 ? 'immediate' : 'fast', downMs: between(random, 300, 1500),
    calmMs: short ? between(random, 1500, 2000) : between(random, 2500, 6500),
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
        const away = `${mode}, away ${Math.round(outage.to - from)} ms`
        say(`restart ${at + 1} of ${restarts.length}: ${away}, first success after ${first?.toFixed(0) ?? '-'} ms`)
      }
      const loadEnd = performance.now()
      await Promise.all([load.finish(followUpMs), payer.finish()])
      say(`${load.keys.length} keys, ${payer.paid.length} payments; asking for each again`)
      const tries = [...load.tries]
      const failures = [
        ...judgeAnswers(tries), ...judgeOutages(tries, outages, loadEnd),
        ...[...stage.payments, stage.worker].flatMap(({ child: { name }, ends }) =>
          ends() === 0 ? [] : [`${name} ended by itself ${ends()} times`]),
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
  const backLate = (time: number | null): boolean => (time ?? Infinity) > backWithinMs
  const excused = ({ ended }: Try): boolean =>
    outages.some(({ from, to }) => ended >= from && ended <= to + backWithinMs)
  const refused = tries.filter((entry) => entry.status === 503 && !excused(entry))
  const slow = spans.filter(({ outage, until }) => backLate(firstSuccess(tries, outage, until)))
  const partial = spans.filter(({ outage, until }) => backLate(fullService(tries, outage, until)))
  const unmet = spans.filter(({ outage: { from, to } }) =>
    !tries.some(({ status, began, ended }) => status === 503 && began >= from && ended <= to))
  const number = ({ outage }: { outage: Outage }): string => `restart ${outages.indexOf(outage) + 1}`
  return [
    ...failuresOf('requests without an answer', tries.filter(({ status }) => status === null), describe),
    ...failuresOf('503 although PostgreSQL was there', refused, describe),
    ...failuresOf(`no success within ${backWithinMs / 1000} s of the return`, slow, number),
    ...failuresOf(`no full service within ${backWithinMs / 1000} s of the return`, partial, number),
    // A load that never met the outage would prove nothing.
    ...failuresOf('outages that no request met', unmet, number),
  ]
}

function figuresOf(
  tries: readonly Try[], outages: readonly Outage[], loadEnd: number, keys: number, payments: number,
): DrillReport['figures'] {
  const spans = withEnds(outages, loadEnd)
  const over = (measure: typeof firstSuccess): string => medianAndMost(
    spans.map(({ outage, until }) => measure(tries, outage, until)).filter((time) => time !== null))
  const whileAway = tries.filter(({ began, ended }) => outages.some(({ from, to }) => began >= from && ended <= to))
  const longest = (some: readonly Try[]): string => `${Math.round(longestOpen(some))} ms`
  return [
    ['requests by status', countsByStatus(tries)],
    ['keys and payments', `${keys} keys, ${payments} payments`],
    ['PostgreSQL away', medianAndMost(outages.map(({ from, to }) => to - from))],
    ['longest open request', `${longest(tries)}; begun and ended while away ${longest(whileAway)}`],
    ['return to first success', over(firstSuccess)],
    ['return to full service', over(fullService)],
  ]
}
