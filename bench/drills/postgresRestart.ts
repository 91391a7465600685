import { setTimeout as wait } from 'node:timers/promises'
import type { Load } from './callers.ts'
import type { Try } from './requests.ts'
import { between, failuresOf, medianAndMost, randomFrom } from './drill.ts'
import type { Drill, DrillReport } from './drill.ts'
import {
  backWithinMs, calmAtMostMs, countsByStatus, describe, firstSuccess, fullService, isExcused, isWhole, longestOpen,
} from './judgement.ts'
import type { Outage } from './judgement.ts'
import type { Stage } from './stage.ts'
import { everyProcess, judgeEnds, underLoad } from './underLoad.ts'
import { until } from '../webhooks/receiver.ts'

interface Restart {
  mode: 'immediate' | 'fast'
  downMs: number
  /** The least that passes until the next one. */
  calmMs: number
}

const followUpMs = 30_000

/** The restarts of a seed: immediate and fast in turn, 0.3 to 1.5 s down, calm after each. */
function restartsOf(random: () => number, short: boolean): Restart[] {
  return Array.from({ length: short ? 3 : 10 }, (_, at) => ({
    mode: at % 2 === 0 ? 'immediate' : 'fast', downMs: between(random, 300, 1500),
    calmMs: short ? 0 : between(random, 1500, 3500),
  }))
}

/** The stops of a seed: hard, and for so long that every caller meets them. */
function stopsOf(random: () => number, short: boolean): Restart[] {
  return Array.from({ length: short ? 1 : 5 }, () => ({
    mode: 'immediate', downMs: 3000, calmMs: short ? 0 : between(random, 2000, 4000),
  }))
}

function restarting(name: string, about: string, planOf: typeof restartsOf): Drill {
  return {
    name, about,
    run: (options) => {
      const plan = planOf(randomFrom(options.seed), options.short)
      return underLoad(options, {
        followUpMs,
        disturb: ({ stage, load, say }) => restart(stage, load, plan, say),
        judge: ({ tries, made, stage, loadEnd }) => [...judgeOutages(tries, made, loadEnd), ...judgeEnds(everyProcess(stage))],
        figures: ({ tries, made, loadEnd }) => figuresOf(tries, made, loadEnd),
      })
    },
  }
}

/** PostgreSQL is stopped for a moment and started again while two payments processes are under load. */
export const postgresRestart = restarting(
  'postgres-restart', 'PostgreSQL is restarted under load, hard and in order, 10 times, in the short form 3', restartsOf)

/** PostgreSQL is gone for 3 s, as after a crash. */
export const postgresStop = restarting(
  'postgres-stop', 'PostgreSQL is stopped hard for 3 s under load, 5 times, in the short form once', stopsOf)

async function restart(stage: Stage, load: Load, restarts: readonly Restart[], say: (line: string) => void): Promise<Outage[]> {
  const outages: Outage[] = []
  for (const [at, { mode, downMs, calmMs }] of restarts.entries()) {
    const from = performance.now()
    await stage.postgres.halt(mode)
    await wait(downMs)
    await stage.postgres.resume()
    const outage = { from, to: performance.now() }
    outages.push(outage)
    await wait(calmMs)
    await until(() => isWhole(load.tries, outage, performance.now()), calmAtMostMs - calmMs)
    const first = firstSuccess(load.tries, outage, performance.now())
    const away = `${mode}, away ${Math.round(outage.to - from)} ms`
    say(`restart ${at + 1} of ${restarts.length}: ${away}, first success after ${first?.toFixed(0) ?? '-'} ms`)
  }
  return outages
}

/** The end of the calm after each outage: the next one, or the end of the load. */
function withEnds(outages: readonly Outage[], loadEnd: number): { outage: Outage, until: number }[] {
  return outages.map((outage, at) => ({ outage, until: outages[at + 1]?.from ?? loadEnd }))
}

/** What an outage excuses, and what has to be back after it. */
export function judgeOutages(tries: readonly Try[], outages: readonly Outage[], loadEnd: number): string[] {
  const spans = withEnds(outages, loadEnd)
  const backLate = (time: number | null): boolean => (time ?? Infinity) > backWithinMs
  const refused = tries.filter((entry) => entry.status === 503 && !isExcused(entry, outages))
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
  tries: readonly Try[], outages: readonly Outage[], loadEnd: number,
): DrillReport['figures'] {
  const spans = withEnds(outages, loadEnd)
  const over = (measure: typeof firstSuccess): string => medianAndMost(
    spans.map(({ outage, until }) => measure(tries, outage, until)).filter((time) => time !== null))
  const whileAway = tries.filter(({ began, ended }) => outages.some(({ from, to }) => began >= from && ended <= to))
  const longest = (some: readonly Try[]): string => `${Math.round(longestOpen(some))} ms`
  return [
    ['requests by status', countsByStatus(tries)],
    ['PostgreSQL away', medianAndMost(outages.map(({ from, to }) => to - from))],
    ['longest open request', `${longest(tries)}; begun and ended while away ${longest(whileAway)}`],
    ['return to first success', over(firstSuccess)],
    ['return to full service', over(fullService)],
  ]
}
