import { foldListChanges } from '../db/payments/listTotals.ts'
import type { Database } from '../db/sql.ts'
import type { Runtime } from '../domain/runtime.ts'
import { repeat } from './repeat.ts'
import type { Repeated } from './repeat.ts'

export interface FoldingSettings {
  database: Database
  runtime: Pick<Runtime, 'sleep'>
  report(error: unknown): void
}

const everyMs = 1000
const batch = 5000

/**
 * Adds what changed in the lists to their totals every second, in batches; any number of workers may do so. Totals are
 * exact without it, and only take longer to read the more is left.
 */
export function startFolding({ database, runtime, report }: FoldingSettings): Repeated {
  return repeat(async () => await database.tx((sql) => foldListChanges(sql, batch)) === batch, {
    everyMs, sleep: (milliseconds) => runtime.sleep(milliseconds), report,
  })
}
