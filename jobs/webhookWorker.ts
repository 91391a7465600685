import { extendDeliveryLeases } from '../db/payments/webhookDeliveries.ts'
import { postponeDeliveries } from '../db/payments/webhookSweeps.ts'
import type { Runtime } from '../domain/runtime.ts'
import { deliverWebhook, uniform } from './deliverWebhook.ts'
import type { DeliverySettings } from './deliverWebhook.ts'
import { deliveryQueue, enqueueDeliveriesTx } from './deliveryJobs.ts'
import type { DeliveryJob } from './deliveryJobs.ts'
import { deliveryLanes } from './deliveryLanes.ts'
import { repeat } from './repeat.ts'
import type { Repeated } from './repeat.ts'
import { sweepLapsedDeliveries, sweepOverdueDeliveries, sweepUnsettledSubscriptions } from './webhookSweep.ts'
import { work } from './worker.ts'

export interface WebhookWorkerSettings extends Omit<DeliverySettings, 'heartbeat'> {
  runtime: Pick<Runtime, 'now' | 'randomBytes' | 'sleep'>
  report(error: unknown, about: { delivery?: string }): void
}

const limits = { running: 500, runningPerTenant: 200, runningPerLane: 10, waitingPerLane: 1000, waiting: 100_000 }
const heartbeatEveryMs = 2000
const lapsedEveryMs = 5000
const overdueEveryMs = 30_000
const longestWaitMs = 20_000
const postponedMs = [30_000, 90_000] as const

/**
 * Delivers webhooks until stopped, any number of workers side by side. A job is done as soon as its delivery stands in
 * line in this process: the rows carry what is due, so a batch of jobs never waits for a slow receiver, and what a dead
 * process held is found by the sweeps of the others.
 */
export function startWebhookWorker(settings: WebhookWorkerSettings): Repeated {
  const { boss, database, runtime, sender, report } = settings
  const attempts = new Set<string>()
  const lanes = deliveryLanes({
    limits, elapsed: () => performance.now(),
    deliver: (job) => deliverWebhook(job, { ...settings, heartbeat: attempts }).then(
      () => undefined, (error: unknown) => report(error, { delivery: job.id }),
    ),
  })
  /** What this process has no room for comes back later, here or at another. */
  const postpone = async (jobs: readonly DeliveryJob[], [soonest, latest]: readonly [number, number]): Promise<void> => {
    if (jobs.length === 0) return
    const delays = jobs.map(() => Math.floor(soonest + uniform(runtime) * (latest - soonest)))
    await database.tx(async (sql) => enqueueDeliveriesTx(sql, boss, await postponeDeliveries(sql, jobs.map(({ id }) => id), delays)))
  }

  let stopping = false
  work<DeliveryJob>(boss, deliveryQueue, async ({ data }) => {
    // The queue gives a job that failed to another worker a second later.
    if (stopping) throw new Error('this worker is about to end')
    if (!lanes.offer(data)) await postpone([data], postponedMs)
  }, { batchSize: 100, concurrency: 2 }).catch((error: unknown) => report(error, {}))

  const every = (everyMs: number, turn: () => Promise<boolean>): Repeated => repeat(turn, {
    everyMs, sleep: (milliseconds) => runtime.sleep(milliseconds), report: (error) => report(error, {}),
  })
  const heartbeat = every(heartbeatEveryMs, async () => {
    if (attempts.size > 0) await database.query((sql) => extendDeliveryLeases(sql, [...attempts]))
    return false
  })
  const lapsed = every(lapsedEveryMs, async () => {
    await boss.whenReady()
    await postpone(lanes.takeStale(longestWaitMs), postponedMs)
    return sweepLapsedDeliveries(settings)
  })
  const overdue = every(overdueEveryMs, async () => {
    await boss.whenReady()
    await sweepOverdueDeliveries(settings)
    return sweepUnsettledSubscriptions(settings)
  })

  return {
    stop: async () => {
      stopping = true
      await Promise.all([lapsed.stop(), overdue.stop()])
      const { waiting, finished } = lanes.stop()
      await postpone(waiting, [0, 1000]).catch((error: unknown) => report(error, {}))
      await finished
      await heartbeat.stop()
      await sender.close()
    },
  }
}
