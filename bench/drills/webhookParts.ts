import { failuresOf } from './drill.ts'
import type { DrillOptions, DrillReport } from './drill.ts'
import { brokenInvariants } from './verify.ts'
import { connectPatiently } from '../invariants.ts'
import type { Acknowledged } from '../invariants.ts'
import type { Stage } from './stage.ts'
import type { ReceiverProcess } from '../webhooks/receiver.ts'
import type { Boss } from '../../jobs/boss.ts'
import type { Database } from '../../db/sql.ts'
import type { SealingKeys } from '../../domain/sealing.ts'

/** What a part of the drill has at hand. */
export interface WebhookStage {
  stage: Stage
  receiver: ReceiverProcess
  database: Database
  boss: Boss
  sealing: SealingKeys
  /** What was acknowledged so far, for I1. */
  acknowledged: Acknowledged[]
}

export interface PartOptions extends Omit<DrillOptions, 'seed'> {
  /** The part's faults, to be drawn before its load begins. */
  random: () => number
  /** What its load draws from. */
  loadSeed: number
}

/** One fault or load, and its judgement. */
export interface WebhookPart {
  name: string
  /** Left out of the short form. */
  long?: boolean
  run(at: WebhookStage, options: PartOptions): Promise<DrillReport>
}

/** Runs a part, and then the invariants script. */
export async function runPart(part: WebhookPart, at: WebhookStage, options: PartOptions): Promise<DrillReport> {
  const say = (line: string): void => options.say(`${part.name}: ${line}`)
  const { figures, failures } = await part.run(at, { ...options, say })
  const database = connectPatiently(at.stage.databaseUrl)
  try {
    const broken = await brokenInvariants(database, at.acknowledged)
    say(`${failures.length + broken.length === 0 ? 'holds' : 'FAILED'}, the invariants ${broken.length === 0 ? 'hold' : 'are broken'}`)
    return {
      figures: figures.map(([name, value]) => [`${part.name}: ${name}`, value] as const),
      failures: [...failures, ...broken].map((failure) => `${part.name}: ${failure}`),
    }
  } finally {
    await database.end()
  }
}

/** Failures for events that did not reach the receiver. */
export function missingAt(receiver: ReceiverProcess, events: readonly string[], what = 'events that did not reach the receiver'): string[] {
  return failuresOf(what, events.filter((id) => !receiver.arrived.has(id)), (id) => id)
}
