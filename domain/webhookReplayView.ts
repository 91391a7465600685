import type { components } from '../generated/payments.ts'

interface ReplayRow {
  id: string
  merchant_id: string
  kind: string
  subscription_id: string | null
  event_kinds: string[] | null
  since: Date | null
  until: Date | null
  status: string
  failure_reason: string | null
  total: number | null
  done: number
  replayed: number
  created_at: Date
  started_at: Date | null
  ended_at: Date | null
}

/** A replay of many deliveries as its merchant sees it. */
export function webhookReplayView(row: ReplayRow): components['schemas']['WebhookReplayJob'] {
  return {
    id: row.id,
    kind: row.kind,
    merchant_id: row.merchant_id,
    subscription_id: row.subscription_id,
    event_kinds: row.event_kinds,
    since: row.since?.toISOString() ?? null,
    until: row.until?.toISOString() ?? null,
    status: row.status,
    failure_reason: row.failure_reason,
    progress: { total: row.total, done: row.done, replayed: row.replayed, skipped: row.done - row.replayed },
    created_at: row.created_at.toISOString(),
    started_at: row.started_at?.toISOString() ?? null,
    ended_at: row.ended_at?.toISOString() ?? null,
  }
}
