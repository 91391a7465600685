import type { DeliveryKey } from '../db/payments/events.ts'
import type { Sql } from '../db/sql.ts'
import { enqueueAllTx } from './boss.ts'
import type { Boss } from './boss.ts'

/** The queue that wakes deliveries. */
export const deliveryQueue = 'deliver-webhook'

/** What a job says: which delivery may be due. The rest is read from its row. */
export interface DeliveryJob {
  id: string
  tenant_id: string
  merchant_id: string
  subscription_id: string
}

/**
 * Adds a job for each delivery at its due time, in the transaction that made it due. The key names attempt and time,
 * so that the sweep adds only jobs that are missing, and a delivery made due anew gets one beside its old one.
 */
export function enqueueDeliveriesTx(sql: Sql, boss: Boss, deliveries: readonly DeliveryKey[]): Promise<void> {
  return enqueueAllTx(sql, boss, deliveryQueue, deliveries.map(({ id, tenant_id, merchant_id, subscription_id, attempt, due_at }) => ({
    data: { id, tenant_id, merchant_id, subscription_id } satisfies DeliveryJob,
    startAfter: due_at,
    singletonKey: `${id}:${attempt}:${due_at.getTime()}`,
  })))
}
