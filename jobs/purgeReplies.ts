import { purgeIdempotentReplies } from '../db/payments/idempotencyKeys.ts'
import type { Database } from '../db/sql.ts'
import type { Runtime } from '../domain/runtime.ts'
import { enqueueTx } from './boss.ts'
import type { Boss } from './boss.ts'
import { repeat } from './repeat.ts'
import type { Repeated } from './repeat.ts'
import { work } from './worker.ts'

const queue = 'purge-replies'
const enqueueEveryMs = 600_000
const keepMs = 30 * 24 * 3_600_000
const batch = 500

export interface PurgeSettings {
  database: Database
  boss: Boss
  runtime: Pick<Runtime, 'now' | 'sleep'>
  report(error: unknown): void
}

/**
 * Forgets stored replies older than 30 days (decision 3.10), looked for every ten minutes. The rows are what is due,
 * so a missed or lost job costs nothing; the queue's policy leaves one at a time, however many workers run.
 */
export function startReplyPurge({ database, boss, runtime, report }: PurgeSettings): Repeated {
  work(boss, queue, ({ signal }) => purgeReplies(database, runtime.now(), signal)).catch(report)
  return repeat(async () => {
    await boss.whenReady()
    await database.tx((sql) => enqueueTx(sql, boss, queue, {}, { singletonKey: queue }))
    return false
  }, { everyMs: enqueueEveryMs, sleep: (milliseconds) => runtime.sleep(milliseconds), report })
}

/** Forgets what is due in batches, so that no transaction is long. */
export async function purgeReplies(database: Database, now: Date, halted?: AbortSignal): Promise<void> {
  const before = new Date(now.getTime() - keepMs)
  while (!halted?.aborted) {
    if (await database.tx((sql) => purgeIdempotentReplies(sql, before, batch)) < batch) return
  }
}
