import { setTimeout as wait } from 'node:timers/promises'
import type { Try } from './requests.ts'
import { between, failuresOf, medianAndMost, randomFrom } from './drill.ts'
import type { Drill, DrillReport } from './drill.ts'
import { countsByStatus, describe, longestOpen, longestSilence } from './judgement.ts'
import { isSuccess } from './requests.ts'
import type { StagedProcess } from './stage.ts'
import { underLoad } from './underLoad.ts'
import type { Disturbed } from './underLoad.ts'

/** When which process was killed. */
export interface Kill {
  process: number
  from: number
  /** Runs again; it needs some time more until it answers. */
  startedAgain: number | null
}

const kills = { short: 3, long: 20 } as const
const startedWithinMs = 1000
/** Start-up is measured elsewhere; this only tells one that never comes back, on a machine with much else to do. */
const answersWithinMs = 10_000
/** The other process is never silent for longer: a machine with much else to do may stop for a moment, but service goes on. */
const silentAtMostMs = 4000
/** What a kill has to do with is over this long after. */
const afterwardsMs = 1000
/**
 * A creation that the kill cut off is held by its lease (15 s); until that lapses its key waits 9 s at a time and is
 * answered 503 (decision 3.3).
 */
const leaseMs = 15_000
const followUpMs = 40_000

/** One of two payments processes is killed again and again under load. */
export const killApi: Drill = {
  name: 'kill-api',
  about: 'one of two payments processes is killed under load, 20 times, in the short form 3',
  run: ({ seed, short, say }) => {
    const random = randomFrom(seed)
    const plan = Array.from({ length: short ? kills.short : kills.long }, () => ({
      process: between(random, 0, 1), waitMs: short ? between(random, 300, 1000) : between(random, 500, 2500),
    }))
    return underLoad({ seed, short, say }, {
      followUpMs,
      disturb: (at) => killAll(at, plan),
      judge: ({ tries, made, stage, loadEnd }) => judgeKills(tries, made, stage.payments, loadEnd),
      figures: ({ tries, made }) => figuresOf(tries, made),
    })
  },
}

async function killAll({ stage, load, say }: Disturbed, plan: readonly { process: number, waitMs: number }[]): Promise<Kill[]> {
  const made: Kill[] = []
  for (const { process, waitMs } of plan) {
    const victim = stage.payments[process] as StagedProcess
    const kill: Kill = { process, from: performance.now(), startedAgain: null }
    kill.startedAgain = await killAndWait(victim)
    made.push(kill)
    const back = await until(() => firstAnswer(load.tries, kill), answersWithinMs)
    const after = back === null ? '-' : Math.round(back - kill.from)
    say(`kill ${made.length} of ${plan.length}: process ${process + 1} answers again after ${after} ms`)
    await wait(waitMs)
  }
  return made
}

/** Resolves with the moment at which the supervisor has started it again; null when that takes too long. */
async function killAndWait({ child }: StagedProcess): Promise<number | null> {
  const before = child.pid
  child.killNow()
  return until(() => child.pid !== undefined && child.pid !== before ? performance.now() : null, answersWithinMs)
}

async function until(look: () => number | null, limitMs: number): Promise<number | null> {
  for (const began = performance.now(); performance.now() - began < limitMs; await wait(20)) {
    const seen = look()
    if (seen !== null) return seen
  }
  return null
}

/** What a kill excuses, and what it does not. */
export function judgeKills(
  tries: readonly Try[], kills: readonly Kill[], payments: readonly StagedProcess[], loadEnd: number,
): string[] {
  const backAt = new Map(kills.map((kill) => [kill, firstAnswer(tries, kill) ?? Infinity]))
  const back = (kill: Kill): number => backAt.get(kill) ?? Infinity
  const excused = ({ process, began, ended }: Try): boolean =>
    kills.some((kill) => kill.process === process && ended >= kill.from && began <= back(kill))
  const cutOff = ({ again, ended }: Try): boolean =>
    again && kills.some(({ from }) => ended >= from && ended <= from + leaseMs + afterwardsMs)
  // The provider reports to the first process, and a completion waits for that report.
  const unreported = ({ operation, began, ended }: Try): boolean => operation === 'sandboxCompletePaymentIntent'
    && kills.some((kill) => kill.process === 0 && ended >= kill.from && began <= back(kill) + afterwardsMs)
  const unanswered = tries.filter((entry) => entry.status === null && !excused(entry))
  const refused = tries.filter((entry) => entry.status === 503 && !cutOff(entry) && !unreported(entry))
  const late = kills.filter(({ from, startedAgain }) => (startedAgain ?? Infinity) - from > startedWithinMs)
  const slow = kills.filter((kill) => back(kill) - kill.from > answersWithinMs)
  const silent = kills.filter(({ process, from }) => {
    const other = 1 - process
    const next = kills.find((kill) => kill.process === other && kill.from > from)?.from
    return longestSilence(tries, other, from, next ?? loadEnd) > silentAtMostMs
  })
  const number = (kill: Kill): string => `kill ${kills.indexOf(kill) + 1}`
  return [
    ...failuresOf('requests without an answer although their process ran', unanswered, describe),
    ...failuresOf('503 to others than keys cut off by a kill', refused, describe),
    ...failuresOf(`not started again within ${startedWithinMs / 1000} s`, late, number),
    ...failuresOf(`no answer within ${answersWithinMs / 1000} s`, slow, number),
    ...failuresOf(`the other process was silent for ${silentAtMostMs / 1000} s`, silent, number),
    ...payments.flatMap(({ ends }, at) => {
      const killed = kills.filter(({ process }) => process === at).length
      const name = `payments process ${at + 1}`
      return ends() === killed ? [] : [`${name} was killed ${killed} times and ended ${ends()} times`]
    }),
    // A load that never met a kill would prove nothing.
    ...(tries.some(({ status }) => status === null) ? [] : ['no request met a kill']),
  ]
}

/** When the killed process first answered a request made after it was started again. */
function firstAnswer(tries: readonly Try[], { process, startedAgain }: Kill): number | null {
  if (startedAgain === null) return null
  const answers = tries.filter(({ process: asked, began, status }) =>
    asked === process && began >= startedAgain && isSuccess(status))
  return answers.length === 0 ? null : Math.min(...answers.map(({ ended }) => ended))
}

function figuresOf(tries: readonly Try[], kills: readonly Kill[]): DrillReport['figures'] {
  const times = (look: (kill: Kill) => number | null): number[] => kills.flatMap((kill) => {
    const time = look(kill)
    return time === null ? [] : [time - kill.from]
  })
  return [
    ['requests by status', countsByStatus(tries)],
    ['kill to started again', medianAndMost(times(({ startedAgain }) => startedAgain))],
    ['kill to first answer', medianAndMost(times((kill) => firstAnswer(tries, kill)))],
    ['503 to keys cut off', String(tries.filter(({ status }) => status === 503).length)],
    ['longest open request', `${Math.round(longestOpen(tries))} ms`],
  ]
}
