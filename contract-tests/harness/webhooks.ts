import { randomBytes } from 'node:crypto'
import { writeFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { sealingKeys } from '../../domain/sealing.ts'
import { deliverWebhook } from '../../jobs/deliverWebhook.ts'
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
  deliver(delivery: DeliveryState, changes?: Partial<DeliverySettings>): Promise<DeliveryOutcome>
}

/** Drives deliveries of a bench by hand: no worker runs unless a test starts it. */
export function webhooksOf(bench: PaymentsBench, receiver: Receiver): WebhookBench {
  const { boss, call, clock, configuration, database, given } = bench
  const sender = webhookSender({ allowPrivate: true, ca: receiver.certificate, timeoutMs: 5000 })
  afterAll(() => sender.close())
  const settings: DeliverySettings = {
    database, boss, sender, sealing: sealingKeys(configuration.SEALING_KEYS), runtime: { now: () => clock.now(), randomBytes: (size) => randomBytes(size) },
    heartbeat: new Set(),
  }
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
    deliver: (delivery, changes = {}) => deliverWebhook(delivery, { ...settings, ...changes }),
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
