import { purgeApiKeyRequests } from '../db/payments/apiKeyRequests.ts'
import { purgeIdempotentReplies } from '../db/payments/idempotencyKeys.ts'
import type { Database, Sql } from '../db/sql.ts'
import type { Runtime } from '../domain/runtime.ts'
import { enqueueTx } from './boss.ts'
import type { Boss } from './boss.ts'
import { repeat } from './repeat.ts'
import type { Repeated } from './repeat.ts'
import { work } from './worker.ts'

/** Name of the queue, for `queues`. */
export const retentionQueue = 'retention'
const enqueueEveryMs = 600_000
const dayMs = 24 * 3_600_000
const batch = 500

/** What is forgotten, and after how many days. */
const rules: readonly { days: number, purge: (sql: Sql, before: Date, most: number) => Promise<number> }[] = [
  // decision 3.10: the stored reply; the key stays for ever
  { days: 30, purge: purgeIdempotentReplies },
  // decision 5.1
  { days: 90, purge: purgeApiKeyRequests },
]

export interface RetentionSettings {
  database: Database
  boss: Boss
  runtime: Pick<Runtime, 'now' | 'sleep'>
  report(error: unknown): void
}

/**
 * Forgets what is kept for a time only, looked for every ten minutes. The rows are what is due, so a missed or lost job
 * costs nothing; the queue's policy leaves one at a time, however many workers run.
 */
export function startRetention({ database, boss, runtime, report }: RetentionSettings): Repeated {
  work(boss, retentionQueue, ({ signal }) => purgeDue(database, runtime.now(), signal)).catch(report)
  return repeat(async () => {
    await boss.whenReady()
    await database.tx((sql) => enqueueTx(sql, boss, retentionQueue, {}, { singletonKey: retentionQueue }))
    return false
  }, { everyMs: enqueueEveryMs, sleep: (milliseconds) => runtime.sleep(milliseconds), report })
}

/** Forgets what is due in batches, so that no transaction is long. */
export async function purgeDue(database: Database, now: Date, halted?: AbortSignal): Promise<void> {
  for (const { days, purge } of rules) {
    const before = new Date(now.getTime() - days * dayMs)
    while (!halted?.aborted) {
      if (await database.tx((sql) => purge(sql, before, batch)) < batch) break
    }
  }
}
