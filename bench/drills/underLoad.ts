import { setTimeout as wait } from 'node:timers/promises'
import { startLoad } from './callers.ts'
import type { Load, LoadOptions } from './callers.ts'
import { failuresOf } from './drill.ts'
import type { DrillOptions, DrillReport } from './drill.ts'
import { judgeAnswers } from './judgement.ts'
import { startPayer } from './payer.ts'
import type { CallbackTry } from './payer.ts'
import type { Try } from './requests.ts'
import type { Stage, StageOptions, StagedProcess } from './stage.ts'
import { openStageWithReceiver, subscribeMerchants } from './stageWithReceiver.ts'
import { verify } from './verify.ts'

/** What a disturbance has at hand. */
export interface Disturbed {
  stage: Stage
  load: Load
  say(line: string): void
}

/** What was seen until the load ended. */
export interface Seen<Made> {
  tries: readonly Try[]
  callbacks: readonly CallbackTry[]
  made: Made
  stage: Stage
  /** By this process's clock, milliseconds. */
  loadEnd: number
}

/** A fault made under the mixed load, and its judgement. `Made` tells what was done when. What is drawn for it is drawn before the load. */
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

/** Opens a stage whose merchants have subscriptions, loads it, disturbs it, and then judges what was answered, what is there and what was told. */
export async function underLoad<Made>(
  { seed, say }: DrillOptions, { stage: options, load: more, urls, before, followUpMs, disturb, judge, figures }: Disturbance<Made>,
): Promise<DrillReport> {
  const opened = await openStageWithReceiver(say, options)
  const { stage, receiver } = opened
  let passed = false
  let load: Load | undefined
  try {
    await subscribeMerchants(opened)
    await before?.(stage)
    load = startLoad(urls?.(stage) ?? stage.payments.map(({ url }) => url), stage.merchants, seed, more)
    const payer = startPayer(stage, load)
    await wait(settleMs)
    const made = await disturb({ stage, load, say })
    const loadEnd = performance.now()
    await Promise.all([load.finish(followUpMs), payer.finish()])
    const counts = `${load.keys.length} keys, ${payer.paid.length} payments, ${payer.declined.length} declines`
    say(`${counts}; asking for each again`)
    const seen = { tries: [...load.tries], callbacks: payer.callbacks, made, stage, loadEnd }
    const failures = [...judgeAnswers(seen.tries), ...judge(seen), ...await verify(opened, load, payer)]
    passed = failures.length === 0
    return {
      failures,
      figures: [
        ...figures(seen), ['keys and payments', counts],
        ['webhooks', `${receiver.arrived.size} events told of in ${receiver.count()} requests`],
      ],
    }
  } finally {
    // Whatever broke off, nothing may go on beside the next drill.
    load?.abandon()
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
