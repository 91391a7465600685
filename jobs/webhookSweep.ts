import type { DeliveryKey } from '../db/payments/events.ts'
import type { DeliveryLane } from '../db/payments/webhookClaims.ts'
import {
  endDeliveriesOfDeleted, freeLapsedDeliveries, listDueLanes, listUnsettledSubscriptions, lockUnsettledSubscription, markSubscriptionSettled,
  putOffLateDeliveries, wakeDeliveries,
} from '../db/payments/webhookSweeps.ts'
import type { UnsettledSubscription } from '../db/payments/webhookSweeps.ts'
import type { Database, Sql } from '../db/sql.ts'
import type { Boss } from './boss.ts'
import { enqueueDeliveriesTx } from './deliveryJobs.ts'

export interface WebhookSweepSettings {
  database: Database
  boss: Boss
}

const lapsedAtATime = 500
const overdueSeconds = 1
const lateSeconds = 40
const putOffAtATime = 2000
const wokenPerSecond = 10
/** Half a minute of a subscription's deliveries. */
const wokenAtATime = wokenPerSecond * 30
/** It is gone on with when less is left than this: longer than from one sweep to the next, so that there is no gap. */
const wokenAheadSeconds = 20
/** In a sweep, every ten seconds: about two thousand deliveries are woken a second, of as many subscriptions as that is a pace for. */
const subscriptionsAtATime = 70
const endedAtATime = 1000

/** Closes the attempts of workers that ended as lost and makes their deliveries due now. Answers these; `more`: there may be more. */
export async function sweepLapsedDeliveries({ database, boss }: WebhookSweepSettings): Promise<{ freed: DeliveryLane[], more: boolean }> {
  const freed = await database.tx((sql) => enqueued(sql, boss, freeLapsedDeliveries(sql, lapsedAtATime)))
  return { freed, more: freed.length === lapsedAtATime }
}

/** Subscriptions with something due that no job told of: the rows are the truth, whatever happened to the queue (decision 6.3). */
export function sweepDueLanes({ database }: Pick<WebhookSweepSettings, 'database'>): Promise<DeliveryLane[]> {
  return database.query((sql) => listDueLanes(sql, overdueSeconds))
}

/** Puts off what waits behind many others of its subscription, so that due_at says by when it is to be expected. True when there may be more. */
export async function sweepLateDeliveries({ database }: Pick<WebhookSweepSettings, 'database'>): Promise<boolean> {
  return await database.query((sql) => putOffLateDeliveries(sql, lateSeconds, putOffAtATime)) === putOffAtATime
}

/** Goes on through what waited for an activation, ten a second of each, and ends what a deletion left. True when there is more to end. */
export async function sweepUnsettledSubscriptions({ database, boss }: WebhookSweepSettings): Promise<boolean> {
  const subscriptions = await database.query((sql) => listUnsettledSubscriptions(sql, wokenAheadSeconds, subscriptionsAtATime))
  let more = false
  const failures: unknown[] = []
  for (const subscription of subscriptions) {
    // The others do not wait for one that cannot be gone through.
    try {
      const rest = await database.tx((sql) => settleSubscription(sql, boss, subscription))
      more ||= rest === 'to end'
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length > 0) throw failures[0]
  return more
}

/** One step through the waiting deliveries of a subscription, in the caller's transaction. Answers what is left. */
export async function settleSubscription(
  sql: Sql, boss: Boss, key: Pick<UnsettledSubscription, 'id' | 'tenant_id' | 'merchant_id'>,
): Promise<'nothing' | 'to wake' | 'to end'> {
  const subscription = await lockUnsettledSubscription(sql, key)
  if (!subscription) return 'nothing'
  if (subscription.deleted) {
    if (await endDeliveriesOfDeleted(sql, subscription, endedAtATime) === endedAtATime) return 'to end'
  } else if (subscription.active) {
    const woken = await enqueued(sql, boss, wakeDeliveries(sql, subscription, wokenPerSecond, wokenAtATime))
    if (woken.length === wokenAtATime) return 'to wake'
  }
  // Inactive again: the next activation begins anew.
  await markSubscriptionSettled(sql, subscription)
  return 'nothing'
}

async function enqueued(sql: Sql, boss: Boss, listing: Promise<DeliveryKey[]>): Promise<DeliveryKey[]> {
  const deliveries = await listing
  await enqueueDeliveriesTx(sql, boss, deliveries)
  return deliveries
}
