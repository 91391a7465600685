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
  runtime: Pick<Runtime, 'now' | 'randomBytes' | 'sleep'>
  /** Told of deliveries while they are at work: their leases are to be extended. */
  heartbeat: { add(delivery: ClaimedDelivery): void, delete(delivery: ClaimedDelivery): void }
}

/**
 * What an attempt led to. `overtaken`: the lease lapsed while it was at work, so the result was not written, and another
 * attempt is or was made; or a failure was written before, and the answer to that was lost.
 */
export type DeliveryOutcome = 'delivered' | 'retrying' | 'waiting' | 'dead' | 'overtaken'
