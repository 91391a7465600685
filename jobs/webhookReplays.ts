import { newId } from '../db/ids.ts'
import type { DeliveryKey } from '../db/payments/events.ts'
import { holdActiveSubscriptions, holdSubscription } from '../db/payments/webhookDeliveryReplay.ts'
import {
  advanceWebhookReplay, countDeadDeliveries, countResentEvents, insertResentDeliveries, nextDeadDeliveries, nextResentEvents,
  replayDeadDeliveries, replayDeliveriesOfEvents,
} from '../db/payments/webhookReplayBatches.ts'
import type { Resend } from '../db/payments/webhookReplayBatches.ts'
import {
  endWebhookReplay, listDueWebhookReplays, lockDueWebhookReplay, postponeWebhookReplay, startWebhookReplay,
} from '../db/payments/webhookReplays.ts'
import type { WebhookReplayRow } from '../db/payments/webhookReplays.ts'
import type { Database, Sql } from '../db/sql.ts'
import type { Runtime } from '../domain/runtime.ts'
import type { Boss } from './boss.ts'
import { enqueueDeliveriesTx } from './deliveryJobs.ts'
import { repeat } from './repeat.ts'
import type { Repeated } from './repeat.ts'

export interface ReplaySettings {
  database: Database
  boss: Boss
  runtime: Pick<Runtime, 'now' | 'randomBytes'>
}

export interface ReplayWorkerSettings extends ReplaySettings {
  runtime: Pick<Runtime, 'now' | 'randomBytes' | 'sleep'>
  report(error: unknown, about: { replay?: string }): void
}

/**
 * Seconds that a resend waits before it begins: longer than a statement may take, so that whoever wrote an event without
 * seeing the subscription active has his transaction by then, and is waited for.
 */
export const resendDelaySeconds = 3

const everyMs = 1000
const atATime = 50
const perSecond = 50
/** Five seconds of deliveries: what a replay makes due at a time, and with it the longest transaction. */
const batch = 250
const settlingSeconds = 1

/**
 * Goes on with replays of many deliveries, looked for every second, any number of workers side by side. The rows are
 * the truth: a batch, the cursor behind it and the jobs of its deliveries are one transaction, so a worker that is
 * killed leaves nothing half done and nothing is done twice.
 */
export function startWebhookReplays(settings: ReplayWorkerSettings): Repeated {
  const { database, runtime, report } = settings
  return repeat(async (halted) => {
    const due = await database.query((sql) => listDueWebhookReplays(sql, atATime))
    let more = false
    for (const replay of due) {
      if (halted.aborted) return false
      try {
        more = await workOnReplay(replay, settings) === 'going on' || more
      } catch (error) {
        report(error, { replay: replay.id })
      }
    }
    return more
  }, { everyMs, sleep: (milliseconds) => runtime.sleep(milliseconds), report: (error) => report(error, {}) })
}

/** Works off one batch of a replay. `going on`: nothing was made due, so the next batch need not wait. */
export async function workOnReplay(
  key: Pick<WebhookReplayRow, 'id' | 'tenant_id' | 'merchant_id'>, { database, boss, runtime }: ReplaySettings,
): Promise<'not due' | 'waiting' | 'going on' | 'ended'> {
  return database.tx(async (sql) => {
    const replay = await lockDueWebhookReplay(sql, key)
    if (!replay) return 'not due'
    const now = runtime.now()
    if (replay.status === 'queued') {
      if (replay.kind === 'resend' && !replay.settled) {
        await postponeWebhookReplay(sql, replay, settlingSeconds)
        return 'waiting'
      }
      await startWebhookReplay(sql, replay, await (isResend(replay) ? countResentEvents(sql, replay) : countDeadDeliveries(sql, replay)), now)
    }
    const standing = replay.subscription_id === null ? 'active' : await holdSubscription(sql, { ...replay, id: replay.subscription_id })
    if (standing !== 'active') {
      await endWebhookReplay(sql, replay, standing === 'deleted' ? 'subscription_deleted' : 'subscription_inactive', now)
      return 'ended'
    }
    const { gone, due } = isResend(replay) ? await resend(sql, replay, runtime, now) : await replayDead(sql, replay)
    await enqueueDeliveriesTx(sql, boss, due)
    const last = gone.at(-1)
    const pause = due.length / perSecond
    if (last !== undefined) await advanceWebhookReplay(sql, replay, { last, done: gone.length, replayed: due.length }, pause)
    if (gone.length < batch) {
      await endWebhookReplay(sql, replay, null, now)
      return 'ended'
    }
    return pause === 0 ? 'going on' : 'waiting'
  })
}

interface Batch {
  /** Ids of the deliveries or events gone through, in order. */
  gone: readonly string[]
  /** What was made due. */
  due: DeliveryKey[]
}

async function replayDead(sql: Sql, replay: WebhookReplayRow): Promise<Batch> {
  const dead = await nextDeadDeliveries(sql, replay, batch)
  const active = new Set(await holdActiveSubscriptions(sql, replay, [...new Set(dead.map(({ subscription_id }) => subscription_id))]))
  const wanted = dead.filter(({ subscription_id }) => active.has(subscription_id)).map(({ id }) => id)
  return { gone: dead.map(({ id }) => id), due: wanted.length === 0 ? [] : await replayDeadDeliveries(sql, replay, wanted, perSecond) }
}

async function resend(sql: Sql, replay: Resend, runtime: ReplaySettings['runtime'], now: Date): Promise<Batch> {
  const events = await nextResentEvents(sql, replay, batch)
  if (events.length === 0) return { gone: events, due: [] }
  const present = await replayDeliveriesOfEvents(sql, replay, events, perSecond)
  const made = await insertResentDeliveries(sql, replay, events, events.map(() => newId(runtime)), perSecond, now)
  return { gone: events, due: [...present, ...made] }
}

function isResend(replay: WebhookReplayRow): replay is Resend {
  return replay.kind === 'resend'
}
