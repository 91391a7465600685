import { randomBytes, randomUUID } from 'node:crypto'
import { insertMerchant } from '../../db/payments/merchants.ts'
import { insertWebhookSubscription } from '../../db/payments/webhookSubscriptions.ts'
import { newId } from '../../db/ids.ts'
import type { Database, Sql } from '../../db/sql.ts'
import { eventBody } from '../../domain/events.ts'
import { systemRuntime } from '../../domain/runtime.ts'
import type { SealingKeys } from '../../domain/sealing.ts'
import { newWebhookSecret, sealWebhookSecret } from '../../domain/webhookSecrets.ts'
import type { EventKind } from '../../domain/webhookEvents.ts'
import { insertEvent } from '../../db/payments/events.ts'
import { enqueueDeliveriesTx } from '../../jobs/deliveryJobs.ts'
import type { Boss } from '../../jobs/boss.ts'
import { clockNow } from './receiver.ts'

/** Whose events. */
export interface Owner {
  tenantId: string
  merchantId: string
}

/** The kind that what is made here is subscribed to and tells of. */
const kind: EventKind = 'payment.completed'
/** About as much as the event of a payment carries. */
const data = { intent: { note: 'x'.repeat(900) } }

/** A merchant of a tenant of its own. */
export async function makeOwner(database: Database, tenantId: string = randomUUID()): Promise<Owner> {
  const merchantId = randomUUID()
  await database.tx((sql) => insertMerchant(sql, {
    id: merchantId, tenantId, name: 'Toko', status: 'approved', city: 'Jakarta', postalCode: '10110', categoryCode: '5411',
    nationalMerchantId: `ID${'1'.padEnd(13, '0')}`, appSchemes: [], createdAt: new Date(),
  }))
  return { tenantId, merchantId }
}

/** Subscribes a merchant; answers the subscription's id. */
export async function subscribe(
  database: Database, { tenantId, merchantId }: Owner, url: string, sealing: SealingKeys, events: readonly EventKind[] = [kind],
): Promise<string> {
  const id = newId(systemRuntime)
  const secret = sealWebhookSecret(newWebhookSecret({ randomBytes }), id, sealing, { randomBytes })
  await database.tx((sql) => insertWebhookSubscription(sql, { id, tenantId, merchantId, url, description: null, secret, events, createdAt: new Date() }))
  return id
}

/** Writes an event as every change writes its own, with its deliveries and their jobs. Answers its id, and when it was committed. */
export async function writeOne(database: Database, boss: Boss, { tenantId, merchantId }: Owner): Promise<{ id: string, at: number }> {
  const id = newId(systemRuntime)
  const createdAt = new Date()
  const body = eventBody({ id, kind, createdAt, environment: 'sandbox', merchantId, data })
  await database.tx(async (sql) => {
    const deliveries = await insertEvent(sql, { id, tenantId, merchantId, kind, intentId: null, body, createdAt }, newId(systemRuntime))
    await enqueueDeliveriesTx(sql, boss, deliveries)
  })
  return { id, at: clockNow() }
}

/** Writes events in turn for each owner, a few at a time. Answers when each was committed. */
export async function writeMany(database: Database, boss: Boss, owners: readonly Owner[], count: number, atATime = 8): Promise<Map<string, number>> {
  const written = new Map<string, number>()
  let begun = 0
  await Promise.all(Array.from({ length: atATime }, async () => {
    while (begun < count) {
      const owner = owners[begun % owners.length] as Owner
      begun += 1
      const { id, at } = await writeOne(database, boss, owner)
      written.set(id, at)
    }
  }))
  return written
}

/** Events with their deliveries written in bulk, as if they had just happened; with their jobs, unless the rows are to be found without. */
export async function writeBacklog(database: Database, boss: Boss | null, { tenantId, merchantId }: Owner, count: number): Promise<string[]> {
  const written: string[] = []
  for (let left = count; left > 0; left -= batch) {
    const ids = Array.from({ length: Math.min(left, batch) }, () => newId(systemRuntime))
    await database.tx(async (sql) => {
      const deliveries = await insertBatch(sql, tenantId, merchantId, ids)
      if (boss) await enqueueDeliveriesTx(sql, boss, deliveries)
    })
    written.push(...ids)
  }
  return written
}

const batch = 1000

function insertBatch(sql: Sql, tenantId: string, merchantId: string, ids: readonly string[]) {
  const bodies = ids.map((id) => eventBody({ id, kind, createdAt: new Date(), environment: 'sandbox', merchantId, data }))
  return sql<{ id: string, tenant_id: string, merchant_id: string, subscription_id: string, attempt: number, due_at: Date }[]>`
    with given as (
      select * from unnest(${ids as string[]}::uuid[], ${bodies}::text[]) as given (id, body)
    ), written as (
      insert into payments.events (id, tenant_id, merchant_id, kind, body, created_at, matched)
      select id, ${tenantId}::uuid, ${merchantId}::uuid, ${kind}, body, clock_timestamp(),
        (select count(*) from payments.webhook_subscriptions s where s.merchant_id = ${merchantId}::uuid and s.active and ${kind} = any(s.events))
      from given
      returning id
    )
    insert into payments.webhook_deliveries
      (id, tenant_id, merchant_id, event_id, kind, subscription_id, status, round_started_at, due_at, scheduled_at, created_at)
    select gen_random_uuid(), s.tenant_id, s.merchant_id, written.id, ${kind}, s.id, 'pending', now(), date_trunc('milliseconds', now()), now(), now()
    from written, payments.webhook_subscriptions s
    where s.merchant_id = ${merchantId} and s.active and ${kind} = any(s.events)
    returning id, tenant_id, merchant_id, subscription_id, attempt, due_at`
}

/** Deliveries that were made long ago, each with one attempt, to lie in the tables. */
export async function writeFinished(database: Database, { tenantId, merchantId }: Owner, subscriptionId: string, count: number): Promise<void> {
  for (let left = count; left > 0; left -= finishedBatch) {
    await database.tx((sql) => sql`
      with written as (
        insert into payments.events (id, tenant_id, merchant_id, kind, body, created_at, matched)
        select gen_random_uuid(), ${tenantId}::uuid, ${merchantId}::uuid, ${kind}, '{}', now() - interval '2 days', 1
        from generate_series(1, ${Math.min(left, finishedBatch)}::int)
        returning id
      ), delivered as (
        insert into payments.webhook_deliveries
          (id, tenant_id, merchant_id, event_id, kind, subscription_id, status, attempt, round_started_at, scheduled_at, created_at, ended_at)
        select gen_random_uuid(), ${tenantId}::uuid, ${merchantId}::uuid, id, ${kind}, ${subscriptionId}::uuid, 'delivered', 1, now(), now(),
          now() - interval '2 days', now() - interval '2 days'
        from written
        returning id
      )
      insert into payments.webhook_attempts (id, tenant_id, merchant_id, delivery_id, number, outcome, status, duration_ms, started_at, ended_at)
      select gen_random_uuid(), ${tenantId}::uuid, ${merchantId}::uuid, id, 1, 'succeeded', 204, 20, now(), now() from delivered`)
  }
}

const finishedBatch = 5000
