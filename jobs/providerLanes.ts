import type { Database, Sql } from '../db/sql.ts'
import type { Runtime } from '../domain/runtime.ts'
import type { PaymentProvider } from '../providers/paymentProvider.ts'
import { repeat } from './repeat.ts'
import type { Repeated } from './repeat.ts'

export interface LaneSettings {
  database: Database
  providers: ReadonlyMap<string, PaymentProvider>
  runtime: Pick<Runtime, 'now' | 'sleep'>
}

export interface Lanes {
  everyMs: number
  /** One batch of a provider's work; true when it is worth going on at once. */
  turn(provider: string, halted: AbortSignal): Promise<boolean>
  /** Names of providers whose work is due, in order to tell of those that this deployment does not know. */
  waiting?(sql: Sql, now: Date): Promise<string[]>
  report(error: unknown, about: { provider?: string }): void
}

const unknownProvidersEveryMs = 60_000

/** Works for each provider in a lane of its own, so that a silent one holds up nobody else's. */
export function providerLanes({ database, providers, runtime }: LaneSettings, { everyMs, turn, waiting, report }: Lanes): Repeated {
  const sleep = (milliseconds: number) => runtime.sleep(milliseconds)
  const lanes = [...providers.keys()].map((provider) =>
    repeat((halted) => turn(provider, halted), { everyMs, sleep, report: (error) => report(error, { provider }) }))
  if (waiting) lanes.push(repeat(() => tellUnknown(waiting), { everyMs: unknownProvidersEveryMs, sleep, report: (error) => report(error, {}) }))
  return {
    stop: async () => {
      await Promise.all(lanes.map((lane) => lane.stop()))
    },
  }

  async function tellUnknown(names: NonNullable<Lanes['waiting']>): Promise<false> {
    for (const provider of await database.query((sql) => names(sql, runtime.now()))) {
      if (!providers.has(provider)) report(new Error('work waits for a provider that is not configured'), { provider })
    }
    return false
  }
}
