import { setTimeout as wait } from 'node:timers/promises'
import { startLoad } from './callers.ts'
import type { Load, LoadOptions } from './callers.ts'
import { failuresOf, randomFrom } from './drill.ts'
import type { DrillOptions, DrillReport } from './drill.ts'
import { judgeAnswers } from './judgement.ts'
import { startPayer } from './payer.ts'
import type { Try } from './requests.ts'
import { openStage } from './stage.ts'
import type { Stage, StageOptions, StagedProcess } from './stage.ts'
import { verify } from './verify.ts'

/** What a disturbance has at hand. */
export interface Disturbed {
  stage: Stage
  load: Load
  random: () => number
  say(line: string): void
}

/** What was seen until the load ended. */
export interface Seen<Made> {
  tries: readonly Try[]
  made: Made
  stage: Stage
  /** By this process's clock, milliseconds. */
  loadEnd: number
}

/** A fault made under the mixed load, and its judgement. `Made` tells what was done when. */
export interface Disturbance<Made> {
  stage?: StageOptions
  load?: LoadOptions
  /** Addresses that are asked, when they are not those of the processes. */
  urls?: (stage: Stage) => readonly string[]
  /** What has to be there before the first request. */
  before?: (stage: Stage) => Promise<void>
  /** Milliseconds until every key has to have its answer once the load has ended. */
  followUpMs: number
  disturb(at: Disturbed): Promise<Made>
  judge(seen: Seen<Made>): string[]
  figures(seen: Seen<Made>): DrillReport['figures']
}

const settleMs = 1500

/** Opens a stage, loads it, disturbs it, and then judges what was answered and what is there. */
export async function underLoad<Made>(
  { seed, say }: DrillOptions, { stage: options, load: more, urls, before, followUpMs, disturb, judge, figures }: Disturbance<Made>,
): Promise<DrillReport> {
  const random = randomFrom(seed)
  const stage = await openStage(say, options)
  let passed = false
  try {
    await before?.(stage)
    const load = startLoad(urls?.(stage) ?? stage.payments.map(({ url }) => url), stage.merchants, random, more)
    const payer = startPayer(stage, load)
    await wait(settleMs)
    const made = await disturb({ stage, load, random, say })
    const loadEnd = performance.now()
    await Promise.all([load.finish(followUpMs), payer.finish()])
    say(`${load.keys.length} keys, ${payer.paid.length} payments; asking for each again`)
    const seen = { tries: [...load.tries], made, stage, loadEnd }
    const failures = [...judgeAnswers(seen.tries), ...judge(seen), ...await verify(stage, load, payer)]
    passed = failures.length === 0
    return { failures, figures: [...figures(seen), ['keys and payments', `${load.keys.length} keys, ${payer.paid.length} payments`]] }
  } finally {
    const logs = await stage.close(!passed)
    if (logs) say(`the logs are in ${logs}`)
  }
}

/** Failures for processes that ended although nobody ended them. */
export function judgeEnds(processes: readonly Pick<StagedProcess, 'child' | 'ends'>[]): string[] {
  const ended = processes.filter(({ ends }) => ends() > 0)
  return failuresOf('processes that ended by themselves', ended, ({ child: { name }, ends }) => `${name}: ${ends()} times`)
}

/** Every process that serves or works. */
export function everyProcess({ payments, workers }: Stage): readonly StagedProcess[] {
  return [...payments, ...workers]
}
