import type { EventKind } from '../../domain/webhookEvents.ts'
import { writeEvent } from '../../jobs/paymentEvents.ts'
import type { Merchant } from './given.ts'
import type { PaymentsBench } from './payments.ts'
import type { DeliveryState, WebhookBench } from './webhooks.ts'

/** A merchant with a subscription, and what happens to it. */
export interface Subscribed {
  merchant: Merchant
  /** Its owner's token. */
  as: string
  id: string
  /** Writes an event of the merchant, a second after the last; answers its id. */
  happen(kind?: EventKind, intentId?: string): Promise<string>
  update(active: boolean): Promise<void>
  remove(): Promise<void>
  /** Its deliveries, the oldest event first. */
  deliveries(): Promise<DeliveryState[]>
  /** Gives a delivery up, as after 16 failures among successes of others. */
  die(delivery: DeliveryState): Promise<void>
}

/** Makes merchants of their own with a subscription to payment.completed and payment.failed. */
export function subscribedIn(bench: PaymentsBench, hooks: WebhookBench) {
  const { call, clock, creation, database, given } = bench
  return async (of?: Merchant): Promise<Subscribed> => {
    const merchant = of ?? await given.merchant()
    const as = await given.token(merchant, 'merchant_owner', `merchant:${merchant.id}`)
    const { id } = await hooks.subscribe(merchant, ['payment.completed', 'payment.failed'])
    return {
      merchant, as, id,
      async happen(kind = 'payment.completed', intentId) {
        clock.advance(1000)
        await database.tx((sql) => writeEvent(sql, {
          kind, tenantId: merchant.tenantId, merchantId: merchant.id, intentId: intentId ?? null, data: { note: 'kopi ☕' },
        }, creation, clock.now()))
        const [event] = await database.query((sql) => sql<{ id: string }[]>`
          select id from payments.events where merchant_id = ${merchant.id} order by position desc limit 1`)
        return event?.id ?? ''
      },
      update: async (active) => void await call('updateWebhookSubscription', { as, params: { id }, body: { active } }),
      remove: async () => void await call('deleteWebhookSubscription', { as, params: { id } }),
      deliveries: () => hooks.deliveries(id),
      die: async (delivery) => void await database.query((sql) => sql`
        update payments.webhook_deliveries set status = 'dead', dead_reason = 'exhausted', due_at = null, ended_at = clock_timestamp(), round_failures = 16
        where id = ${delivery.id}`),
    }
  }
}
