import { expireDueAttempts } from '../db/payments/attemptMoves.ts'
import { withdrawAttempt } from '../db/payments/chargeWithdrawals.ts'
import { lockDueIntents, lockIntentsOfDueAttempts } from '../db/payments/intentMoves.ts'
import { findPaymentAttempt } from '../db/payments/paymentAttempts.ts'
import { endPaymentIntent } from '../db/payments/paymentIntents.ts'
import type { PaymentIntentRow } from '../db/payments/paymentIntents.ts'
import type { Database, Sql } from '../db/sql.ts'
import type { Runtime } from '../domain/runtime.ts'
import { endAttempts } from './endAttempts.ts'
import { writeIntentEvent } from './paymentEvents.ts'
import type { EventSettings } from './paymentEvents.ts'
import { repeat } from './repeat.ts'
import type { Repeated } from './repeat.ts'

export interface ExpirySettings extends EventSettings {
  database: Database
  runtime: Pick<Runtime, 'now' | 'randomBytes' | 'sleep'>
}

const everyMs = 1000
const batch = 25

/**
 * Expires an open, locked intent and what is pending of it, and tells it, in the caller's transaction. Its charges are
 * asked about at the provider: what was paid and never reported is found there, and recorded late (decision 3.7).
 */
export async function expireIntent(sql: Sql, intent: PaymentIntentRow, settings: EventSettings, now: Date): Promise<PaymentIntentRow> {
  const { tenant_id, merchant_id, id, current_attempt_id } = intent
  const expired = await endPaymentIntent(sql, tenant_id, merchant_id, id, 'expired', now)
  if (!expired) throw new Error(`payment intent ${id} ended although it is locked`)
  const current = current_attempt_id === null ? undefined : await findPaymentAttempt(sql, tenant_id, merchant_id, current_attempt_id)
  await endAttempts(sql, expired)
  await writeIntentEvent(sql, 'payment_intent.expired', expired, current?.fields ?? {}, settings, now)
  return expired
}

/**
 * Expires what is due (decision 3.7), looked for every second in batches; any number of workers may do so. Reads do not
 * wait for it.
 */
export function startExpiry(settings: ExpirySettings, report: (error: unknown) => void): Repeated {
  const { runtime } = settings
  return repeat((halted) => expireDue(settings, halted), { everyMs, sleep: (milliseconds) => runtime.sleep(milliseconds), report })
}

/** One batch of intents and one of attempts whose own deadline is past. True when there may be more. */
export async function expireDue(settings: ExpirySettings, halted?: AbortSignal): Promise<boolean> {
  const { database, runtime } = settings
  const now = runtime.now()
  const intents = await database.tx(async (sql) => {
    const due = await lockDueIntents(sql, now, batch)
    for (const intent of due) await expireIntent(sql, intent, settings, now)
    return due.length
  })
  if (halted?.aborted) return false
  const attempts = await database.tx(async (sql) => {
    const due = await lockIntentsOfDueAttempts(sql, now, batch)
    for (const intent of due) {
      for (const { tenant_id, merchant_id, id } of await expireDueAttempts(sql, intent, now)) await withdrawAttempt(sql, tenant_id, merchant_id, id, 0)
    }
    return due.length
  })
  return intents === batch || attempts === batch
}
