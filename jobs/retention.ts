import { purgeApiKeyRequests } from '../db/payments/apiKeyRequests.ts'
import { purgeWithdrawals } from '../db/payments/chargeWithdrawals.ts'
import { purgeIdempotentReplies } from '../db/payments/idempotencyKeys.ts'
import { purgeProviderCallbacks } from '../db/payments/providerCallbacks.ts'
import { purgeWebhookReplays } from '../db/payments/webhookReplays.ts'
import { purgeWebhookDeliveries } from '../db/payments/webhookRetention.ts'
import { purgePreviousWebhookSecrets } from '../db/payments/webhookSubscriptions.ts'
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

/** For how long what can be set is kept. */
export interface RetentionDays {
  /** Finished deliveries of webhooks, with their attempts: WEBHOOK_RETENTION_DAYS. */
  webhooks: number
  /** Callbacks of payment providers, as they came: PROVIDER_CALLBACK_RETENTION_DAYS. */
  callbacks: number
}

const usualDays: RetentionDays = { webhooks: 30, callbacks: 400 }

/** What is forgotten, and after how many days. */
const rulesOf = ({ webhooks, callbacks }: RetentionDays): readonly { days: number, purge: (sql: Sql, before: Date, most: number) => Promise<number> }[] => [
  // decision 3.10: the stored reply; the key stays for ever
  { days: 30, purge: purgeIdempotentReplies },
  // decision 5.1
  { days: 90, purge: purgeApiKeyRequests },
  // decision 6.2: each carries its own end
  { days: 0, purge: purgePreviousWebhookSecrets },
  // getWebhookReplayJob says so
  { days: 30, purge: purgeWebhookReplays },
  // events stay
  { days: webhooks, purge: purgeWebhookDeliveries },
  // the payments that they told of stay
  { days: callbacks, purge: purgeProviderCallbacks },
  { days: 30, purge: purgeWithdrawals },
]

export interface RetentionSettings {
  database: Database
  boss: Boss
  runtime: Pick<Runtime, 'now' | 'sleep'>
  days: RetentionDays
  report(error: unknown): void
}

/**
 * Forgets what is kept for a time only, looked for every ten minutes. The rows are what is due, so a missed or lost job
 * costs nothing; the queue's policy leaves one at a time, however many workers run.
 */
export function startRetention({ database, boss, runtime, days, report }: RetentionSettings): Repeated {
  work(boss, retentionQueue, ({ signal }) => purgeDue(database, runtime.now(), days, signal)).catch(report)
  return repeat(async () => {
    await boss.whenReady()
    await database.tx((sql) => enqueueTx(sql, boss, retentionQueue, {}, { singletonKey: retentionQueue }))
    return false
  }, { everyMs: enqueueEveryMs, sleep: (milliseconds) => runtime.sleep(milliseconds), report })
}

/** Forgets what is due in batches, so that no transaction is long. */
export async function purgeDue(database: Database, now: Date, keep: Partial<RetentionDays> = {}, halted?: AbortSignal): Promise<void> {
  for (const { days, purge } of rulesOf({ ...usualDays, ...keep })) {
    const before = new Date(now.getTime() - days * dayMs)
    while (!halted?.aborted) {
      if (await database.tx((sql) => purge(sql, before, batch)) < batch) break
    }
  }
}
