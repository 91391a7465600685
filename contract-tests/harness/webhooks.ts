import { randomBytes } from 'node:crypto'
import { writeFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { afterAll } from 'vitest'
import type { ClaimedDelivery, DeliveryLane } from '../../db/payments/webhookClaims.ts'
import type { Database, Sql } from '../../db/sql.ts'
import { sealingKeys } from '../../domain/sealing.ts'
import { makeAttempt } from '../../jobs/deliveryAttempt.ts'
import { deliveryClaimer } from '../../jobs/deliveryClaims.ts'
import { answerRecorder } from '../../jobs/deliveryRecorder.ts'
import type { DeliveryOutcome, DeliverySettings } from '../../jobs/deliverySettings.ts'
import { webhookSender } from '../../providers/webhookSender.ts'
import type { WebhookAnswer } from '../../providers/webhookSender.ts'
import type { Merchant } from './given.ts'
import type { PaymentsBench } from './payments.ts'
import type { Receiver } from './receiver.ts'

export { isGenuine } from './tlsReceiver.ts'

/** The settings with which a service trusts the receiver's certificate and reaches it on this machine. */
export function trusting(receiver: Receiver): Record<string, string> {
  const folder = mkdtempSync(join(tmpdir(), 'bayar-ca-'))
  const file = join(folder, 'ca.pem')
  writeFileSync(file, receiver.certificate)
  afterAll(() => rmSync(folder, { recursive: true }))
  return { WEBHOOK_ALLOW_PRIVATE: 'on', WEBHOOK_CA_FILE: file }
}

export interface DeliveryState {
  id: string
  tenant_id: string
  merchant_id: string
  subscription_id: string
  event_id: string
  kind: string
  status: string
  attempt: number
  round_failures: number
  dead_reason: string | null
  /** Seconds from now by the database's clock; null when it waits or has ended. */
  due_in: number | null
  leased: boolean
}

export interface AttemptState {
  id: string
  number: number
  outcome: string | null
  status: number | null
  error: string | null
  response_body: Buffer | null
}

export interface WebhookBench {
  settings: DeliverySettings
  /** Makes a subscription by its operation. */
  subscribe(merchant: Merchant, events: readonly string[], url?: string): Promise<{ id: string, secret: string }>
  deliveries(subscriptionId: string): Promise<DeliveryState[]>
  /** Its only delivery. */
  delivery(subscriptionId: string): Promise<DeliveryState>
  attempts(deliveryId: string): Promise<AttemptState[]>
  /** Jobs of a delivery that have not run, with seconds until they do. */
  jobs(deliveryId: string): Promise<{ starts_in: number }[]>
  makeDue(deliveryId: string): Promise<void>
  /** Lets the lease lapse, as when the worker was killed. */
  lapse(deliveryId: string): Promise<void>
  /** Claims what is due of subscriptions, as the worker does in one go; the oldest event first. */
  claim(lanes: readonly DeliveryLane[]): Promise<ClaimedDelivery[]>
  /**
   * Makes one attempt of a delivery as the worker does, by its claim, its sending and its recorder, and resolves when the result
   * is written. `idle`: the claim found nothing, since it is not due, is held by another, or its subscription is not active.
   */
  deliver(delivery: DeliveryState, changes?: DeliveryChanges): Promise<DeliveryOutcome | 'idle'>
}

export type DeliveryChanges = Partial<Omit<DeliverySettings, 'runtime'>> & { runtime?: Partial<DeliverySettings['runtime']> }

/** Drives deliveries of a bench by hand: no worker runs unless a test starts it. */
export function webhooksOf(bench: PaymentsBench, receiver: Receiver): WebhookBench {
  const { boss, call, clock, configuration, database, given } = bench
  const sender = webhookSender({ allowPrivate: true, ca: receiver.certificate, timeoutMs: 5000 })
  afterAll(() => sender.close())
  const settings: DeliverySettings = {
    database, boss, sender, sealing: sealingKeys(configuration.SEALING_KEYS), heartbeat: new Set(),
    runtime: { now: () => clock.now(), randomBytes: (size) => randomBytes(size), sleep: (milliseconds) => wait(milliseconds, undefined, { ref: false }) },
  }
  const claimOne = claimerOfOne(database)
  const deliveries = (subscriptionId: string) => database.query((sql) => sql<DeliveryState[]>`
    select d.id, d.tenant_id, d.merchant_id, d.subscription_id, d.event_id, e.kind, d.status, d.attempt, d.round_failures, d.dead_reason,
      extract(epoch from d.due_at - now())::float8 as due_in, d.lease_token is not null as leased
    from payments.webhook_deliveries d join payments.events e on e.id = d.event_id
    where d.subscription_id = ${subscriptionId} order by e.position`)
  return {
    settings, deliveries,
    async subscribe(merchant, events, url = receiver.url) {
      const as = await given.token(merchant, 'merchant_owner', `merchant:${merchant.id}`)
      const answer = await call('createWebhookSubscription', { as, body: { url, events: [...events] } })
      if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
      return { id: answer.body.id, secret: answer.body.secret }
    },
    async delivery(subscriptionId) {
      const [only, ...more] = await deliveries(subscriptionId)
      if (!only || more.length > 0) throw new Error(`${more.length + (only ? 1 : 0)} deliveries instead of one`)
      return only
    },
    attempts: (deliveryId) => database.query((sql) => sql<AttemptState[]>`
      select id, number, outcome, status, error, response_body from payments.webhook_attempts where delivery_id = ${deliveryId} order by number`),
    jobs: (deliveryId) => database.query((sql) => sql<{ starts_in: number }[]>`
      select extract(epoch from start_after - now())::float8 as starts_in from pgboss.job
      where name = 'deliver-webhook' and data->>'id' = ${deliveryId} and state < 'active' order by start_after`),
    makeDue: async (deliveryId) => void await database.query((sql) => sql`
      update payments.webhook_deliveries set due_at = date_trunc('milliseconds', now()) where id = ${deliveryId}`),
    lapse: async (deliveryId) => void await database.query((sql) => sql`
      update payments.webhook_deliveries set lease_until = now() - interval '1 second' where id = ${deliveryId}`),
    async claim(lanes) {
      const claimed = await claimerOf(settings)(lanes.map((lane) => ({ ...lane, most: 50 })))
      const events = await database.query((sql) => sql<{ id: string }[]>`
        select id from payments.events where id = any(${claimed.map(({ event_id }) => event_id)}::uuid[]) order by position`)
      return events.flatMap(({ id }) => claimed.filter(({ event_id }) => event_id === id))
    },
    async deliver(delivery, { runtime = {}, ...changes } = {}) {
      const changed = { ...settings, ...changes, runtime: { ...settings.runtime, ...runtime } }
      const claimed = await claimOne(delivery, changed)
      return claimed ? makeAttempt(claimed, changed, answerRecorder(changed)) : 'idle'
    },
  }
}

/** Claims as the worker does; what goes wrong is thrown. */
function claimerOf(settings: DeliverySettings): (lanes: readonly (DeliveryLane & { most: number })[]) => Promise<readonly ClaimedDelivery[]> {
  const claim = deliveryClaimer({
    ...settings,
    report(error) {
      throw error
    },
  })
  return async (lanes) => (await claim(lanes)).claimed
}

/** Claims the next of the delivery's subscription, while all its others are held: a claim passes over what others hold. */
function claimerOfOne(database: Database): (delivery: DeliveryState, settings: DeliverySettings) => Promise<ClaimedDelivery | undefined> {
  /** By subscription: settles when its deliveries are held no more. */
  const holding = new Map<string, Promise<unknown>>()
  return async ({ id, tenant_id, merchant_id, subscription_id }, settings) => {
    const claimNext = async () => (await claimerOf(settings)([{ tenant_id, merchant_id, subscription_id, most: 1 }]))[0]
    const others = (sql: Sql) => sql<object[]>`
      select from payments.webhook_deliveries where subscription_id = ${subscription_id} and id <> ${id} and status = 'pending' and lease_token is null`
    const alone = (await database.query(others)).length === 0
    while (holding.has(subscription_id)) await holding.get(subscription_id)
    // Without others to hold, claims at once are claims at once.
    if (alone) return claimNext()
    const claiming = database.tx(async (sql) => {
      await sql`${others(sql)} for update`
      return claimNext()
    })
    holding.set(subscription_id, claiming.then(() => undefined, () => undefined).then(() => holding.delete(subscription_id)))
    const claimed = await claiming
    if (claimed && claimed.id !== id) throw new Error('another delivery of the subscription was claimed')
    return claimed
  }
}

/** A sender that gives these answers in turn, the last one for ever. */
export function answering(...answers: (Partial<WebhookAnswer> & { status: number | null })[]): DeliverySettings['sender'] & { sent: number } {
  const sender = {
    sent: 0,
    send: (): Promise<WebhookAnswer> => {
      const answer = answers[Math.min(sender.sent, answers.length - 1)]
      sender.sent += 1
      const succeeded = answer?.status !== null && answer?.status !== undefined && answer.status >= 200 && answer.status < 300
      return Promise.resolve({ succeeded, status: null, headers: null, body: null, durationMs: 1, error: succeeded ? null : 'status', ...answer })
    },
    close: () => Promise.resolve(),
  }
  return sender
}
