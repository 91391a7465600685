import type { ClaimedDelivery, DeliveryLane } from '../db/payments/webhookClaims.ts'
import { extendDeliveryLeases } from '../db/payments/webhookDeliveries.ts'
import { makeAttempt } from './deliveryAttempt.ts'
import { deliveryClaimer } from './deliveryClaims.ts'
import type { DeliverySettings } from './deliverySettings.ts'
import { deliveryQueue } from './deliveryJobs.ts'
import type { DeliveryJob } from './deliveryJobs.ts'
import { deliveryLanes } from './deliveryLanes.ts'
import { answerRecorder } from './deliveryRecorder.ts'
import { deliveryLimits } from './deliveryTurns.ts'
import { repeat } from './repeat.ts'
import type { Repeated } from './repeat.ts'
import { sweepDueLanes, sweepLapsedDeliveries, sweepLateDeliveries, sweepUnsettledSubscriptions } from './webhookSweep.ts'
import { work } from './worker.ts'

export interface WebhookWorkerSettings extends Omit<DeliverySettings, 'heartbeat'> {
  report(error: unknown, about: { delivery?: string }): void
}

const heartbeatEveryMs = 2000
const lapsedEveryMs = 2000
const dueEveryMs = 2000
const lateEveryMs = 5000
const unsettledEveryMs = 10_000
const busyMs = 50

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
    limits: deliveryLimits, claim: deliveryClaimer(settings), pause: () => runtime.sleep(busyMs),
    async deliver(claimed) {
      // The receiver's time alone: a database that is away makes no receiver slow.
      let tookMs = 0
      await makeAttempt(claimed, { ...settings, heartbeat: atWork }, (answer) => {
        tookMs = answer.result.durationMs
        return record(answer)
      }).catch((error: unknown) => report(error, { delivery: claimed.id }))
      return tookMs
    },
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
