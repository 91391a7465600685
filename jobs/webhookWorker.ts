import { newId } from '../db/ids.ts'
import { claimDueDeliveries } from '../db/payments/webhookClaims.ts'
import type { ClaimedDelivery, DeliveryLane } from '../db/payments/webhookClaims.ts'
import { extendDeliveryLeases } from '../db/payments/webhookDeliveries.ts'
import { settleInactiveDeliveries } from '../db/payments/webhookSweeps.ts'
import { isDatabaseUnavailable } from '../db/sql.ts'
import type { Runtime } from '../domain/runtime.ts'
import { makeAttempt } from './deliverWebhook.ts'
import type { DeliverySettings } from './deliverySettings.ts'
import { deliveryQueue } from './deliveryJobs.ts'
import type { DeliveryJob } from './deliveryJobs.ts'
import { deliveryLanes } from './deliveryLanes.ts'
import type { LaneOptions } from './deliveryLanes.ts'
import { answerRecorder } from './deliveryRecorder.ts'
import { repeat } from './repeat.ts'
import type { Repeated } from './repeat.ts'
import { sweepDueLanes, sweepLapsedDeliveries, sweepLateDeliveries, sweepUnsettledSubscriptions } from './webhookSweep.ts'
import { work } from './worker.ts'

export interface WebhookWorkerSettings extends Omit<DeliverySettings, 'heartbeat'> {
  runtime: Pick<Runtime, 'now' | 'randomBytes' | 'sleep'>
  report(error: unknown, about: { delivery?: string }): void
}

const limits = { running: 500, runningPerTenant: 200, runningPerLane: 10, claimed: 64 }
const heartbeatEveryMs = 2000
const lapsedEveryMs = 2000
const dueEveryMs = 2000
const lateEveryMs = 5000
const unsettledEveryMs = 30_000
const busyMs = 50
const awayMs = 500
const settledAtATime = 1000

/**
 * Delivers webhooks until stopped, any number of workers side by side. A job only says whose deliveries to look at: what is
 * due is claimed from the rows, so it is done as soon as it is read, a backlog waits in the rows and not in the queue, and
 * what no job tells of is found by the sweeps, those of a dead worker and of a queue that is gone among it.
 */
export function startWebhookWorker(settings: WebhookWorkerSettings): Repeated {
  const { boss, database, runtime, sender, report } = settings
  const atWork = new Set<ClaimedDelivery>()
  const record = answerRecorder(settings)
  const lanes = deliveryLanes<ClaimedDelivery>({
    limits, claim: claimerOf(settings), pause: () => runtime.sleep(busyMs),
    deliver: (claimed) => makeAttempt(claimed, { ...settings, heartbeat: atWork }, record).then(
      () => undefined, (error: unknown) => report(error, { delivery: claimed.id }),
    ),
  })

  let stopping = false
  work<DeliveryJob>(boss, deliveryQueue, ({ data }) => {
    // The queue gives a job that failed to another worker a second later.
    if (stopping) return Promise.reject(new Error('this worker is about to end'))
    lanes.wake(data)
    return Promise.resolve()
  }, { batchSize: 500 }).catch((error: unknown) => report(error, {}))

  const every = (everyMs: number, turn: () => Promise<boolean>): Repeated => repeat(turn, {
    everyMs, sleep: (milliseconds) => runtime.sleep(milliseconds), report: (error) => report(error, {}),
  })
  const wakeAll = (found: readonly DeliveryLane[]): void => {
    for (const lane of found) lanes.wake(lane)
  }
  const heartbeat = every(heartbeatEveryMs, async () => {
    if (atWork.size > 0) await database.query((sql) => extendDeliveryLeases(sql, [...atWork]))
    return false
  })
  const sweeps = [
    every(lapsedEveryMs, async () => {
      const { freed, more } = await sweepLapsedDeliveries(settings)
      wakeAll(freed)
      return more
    }),
    every(dueEveryMs, async () => {
      wakeAll(await sweepDueLanes(settings))
      return false
    }),
    every(lateEveryMs, () => sweepLateDeliveries(settings)),
    every(unsettledEveryMs, () => sweepUnsettledSubscriptions(settings)),
  ]

  return {
    stop: async () => {
      stopping = true
      await Promise.all(sweeps.map((sweep) => sweep.stop()))
      await lanes.stop()
      await heartbeat.stop()
      await sender.close()
    },
  }
}

/** Claims for the lanes. What is due of an inactive subscription is made to wait, or ended with a deleted one. */
function claimerOf({ database, report, runtime }: WebhookWorkerSettings): LaneOptions<ClaimedDelivery>['claim'] {
  const settle = (lane: DeliveryLane): Promise<unknown> => database.query((sql) => settleInactiveDeliveries(sql, lane, settledAtATime))
    .catch((error: unknown) => report(error, {}))
  return async (lanes) => {
    try {
      const attemptIds = lanes.flatMap(({ most }) => Array.from({ length: most }, () => newId(runtime)))
      const { active, claimed } = await database.query((sql) => claimDueDeliveries(sql, lanes, attemptIds))
      for (const lane of lanes) if (active.get(lane.subscription_id) === false) await settle(lane)
      return { claimed, seen: active }
    } catch (error) {
      report(error, {})
      if (isDatabaseUnavailable(error)) await runtime.sleep(awayMs)
      return { claimed: [], seen: new Set<string>() }
    }
  }
}
