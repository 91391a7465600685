import { workOnReplay } from '../../jobs/webhookReplays.ts'
import type { ReplaySettings } from '../../jobs/webhookReplays.ts'
import type { PaymentsBench } from './payments.ts'
import type { WebhookBench } from './webhooks.ts'

/** Drives replay jobs of a bench by hand: no worker runs unless a test starts it. */
export function replaysOf({ database }: PaymentsBench, { settings }: WebhookBench) {
  const makeDue = async (id: string): Promise<void> => void await database.query((sql) => sql`
    update payments.webhook_replays set due_at = now() where id = ${id} and ended_at is null`)
  const step = async (id: string, changes: Partial<ReplaySettings> = {}) => {
    const [key] = await database.query((sql) => sql<{ id: string, tenant_id: string, merchant_id: string }[]>`
      select id, tenant_id, merchant_id from payments.webhook_replays where id = ${id}`)
    if (!key) throw new Error('no such job')
    return workOnReplay(key, { ...settings, ...changes })
  }
  return {
    makeDue,
    /** The same once no transaction is under way that began before the job, in any database of the server. */
    async ready(id: string): Promise<void> {
      for (let settled = 0; settled === 0;) {
        const rows = await database.query((sql) => sql`
          select from payments.webhook_replays where id = ${id} and pg_snapshot_xmin(pg_current_snapshot()) > horizon`)
        settled = rows.length
      }
      await makeDue(id)
    },
    /** One batch, if it is due. */
    step,
    /** Batch after batch to the end, without the waits between. */
    async run(id: string): Promise<void> {
      for (let outcome = ''; outcome !== 'ended';) {
        await makeDue(id)
        outcome = await step(id)
      }
    },
  }
}
