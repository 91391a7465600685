import type { components } from '../generated/payments.ts'

type WebhookSubscriptionView = components['schemas']['WebhookSubscription']

interface SubscriptionRow {
  id: string
  merchant_id: string
  url: string
  description: string | null
  events: string[]
  active: boolean
  disabled_at: Date | null
  disabled_reason: string | null
  last_success_at: Date | null
  previous_secret_until: Date | null
  created_at: Date
}

/** A subscription as its owner sees it at a time, without the secret. */
export function webhookSubscriptionView(row: SubscriptionRow, now: Date): WebhookSubscriptionView {
  const until = row.previous_secret_until
  return {
    id: row.id,
    merchant_id: row.merchant_id,
    url: row.url,
    description: row.description,
    events: row.events,
    active: row.active,
    disabled_at: row.disabled_at?.toISOString() ?? null,
    disabled_reason: row.disabled_reason,
    last_success_at: row.last_success_at?.toISOString() ?? null,
    previous_secret_expires_at: until && now < until ? until.toISOString() : null,
    created_at: row.created_at.toISOString(),
  }
}
