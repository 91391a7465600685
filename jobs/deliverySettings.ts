import type { ClaimedDelivery } from '../db/payments/webhookClaims.ts'
import type { Database } from '../db/sql.ts'
import type { Runtime } from '../domain/runtime.ts'
import type { SealingKeys } from '../domain/sealing.ts'
import type { WebhookSender } from '../providers/webhookSender.ts'
import type { Boss } from './boss.ts'

/** What delivering webhooks needs. */
export interface DeliverySettings {
  database: Database
  boss: Boss
  sealing: SealingKeys
  sender: WebhookSender
  runtime: Pick<Runtime, 'now' | 'randomBytes'>
  /** Told of deliveries while they are at work: their leases are to be extended. */
  heartbeat: { add(delivery: ClaimedDelivery): void, delete(delivery: ClaimedDelivery): void }
}

/**
 * What an attempt led to. `idle`: none was made, since it was not due, is held by another, or its subscription is not
 * active. `overtaken`: the lease lapsed while it was at work, so the result was not written; another attempt is or was made.
 */
export type DeliveryOutcome = 'delivered' | 'retrying' | 'waiting' | 'dead' | 'idle' | 'overtaken'
