import { newId } from '../../../db/ids.ts'
import { findLatestWebhookReplay, insertWebhookReplay } from '../../../db/payments/webhookReplays.ts'
import type { NewWebhookReplay, WebhookReplayRow } from '../../../db/payments/webhookReplays.ts'
import type { Sql } from '../../../db/sql.ts'
import type { Runtime } from '../../../domain/runtime.ts'
import { audit } from '../audit.ts'
import type { Caller } from '../../http/caller.ts'
import type { Fail } from '../../http/handler.ts'
import { assertSpaced } from './replaySpacing.ts'

const everySeconds = 60
const mostTries = 3

interface Asking {
  sql: Sql
  caller: Caller
  requestId: string
  now: Date
  runtime: Runtime
  fingerprint(): Buffer
  fail: Fail<'invalid_state' | 'rate_limited'>
}

export type ReplayDraft = Omit<NewWebhookReplay, 'id' | 'fingerprint' | 'created_at'>

/**
 * Makes a replay job that begins in `delaySeconds`, or answers the unfinished one that was asked for by the same request.
 * Refuses while another is unfinished, and one that comes within a minute of the last.
 */
export async function askForReplay(context: Asking, draft: ReplayDraft, delaySeconds: number): Promise<WebhookReplayRow> {
  const { fail, now, runtime, sql } = context
  const fingerprint = context.fingerprint()
  // Of two at once one inserts; the other finds it, unless it has ended by then.
  for (let tries = 0; tries < mostTries; tries += 1) {
    const latest = await findLatestWebhookReplay(sql, draft)
    if (latest && !latest.ended_at) {
      if (latest.fingerprint.equals(fingerprint)) return latest
      fail('invalid_state', { message: `The replay job ${latest.id} is ${latest.status}: wait for its end.` })
    }
    assertSpaced(latest?.created_at, everySeconds, now, `A replay job can be asked for ${everySeconds} seconds after the last one.`, fail)
    const made = await insertWebhookReplay(sql, { ...draft, id: newId(runtime), fingerprint, created_at: now }, delaySeconds)
    if (made) {
      await audit(context, {
        tenantId: made.tenant_id, merchantId: made.merchant_id, action: `payments.webhook_replay.${made.kind}`, target: `webhook_replay:${made.id}`,
        changedKeys: (['subscription_id', 'event_kinds', 'since', 'until'] as const).filter((key) => made[key] !== null),
      })
      return made
    }
  }
  return fail('invalid_state', { message: 'Another replay job has just begun.' })
}
