import { expirePendingAttempts } from '../db/payments/attemptMoves.ts'
import { withdrawPendingAttempts } from '../db/payments/chargeWithdrawals.ts'
import type { PaymentIntentRow } from '../db/payments/paymentIntents.ts'
import type { Sql } from '../db/sql.ts'
import { enqueueTx } from './boss.ts'
import type { EventSettings } from './paymentEvents.ts'

/** The queue that expires the charges of an intent at the provider, soon after the intent has ended. */
export const withdrawalQueue = 'withdraw-charges'

/** What a job says: whose charges. Which ones they are is read from the rows. */
export interface WithdrawalJob {
  tenant_id: string
  merchant_id: string
  intent_id: string
}

/**
 * Ends whatever is pending of an intent that takes no more money, and asks for its charges to be expired at the
 * provider, in the transaction of the change. True when there are such charges: the sweep comes for them.
 */
export async function endAttempts(sql: Sql, intent: PaymentIntentRow): Promise<boolean> {
  await withdrawPendingAttempts(sql, intent.tenant_id, intent.merchant_id, intent.id, null)
  const ended = await expirePendingAttempts(sql, intent)
  return ended.some(({ provider_key }) => provider_key !== null)
}

/** As `endAttempts`, with a job that expires the charges as soon as the transaction has committed. */
export async function endAttemptsNow(sql: Sql, intent: PaymentIntentRow, { boss }: Pick<EventSettings, 'boss'>): Promise<void> {
  if (await endAttempts(sql, intent)) await enqueueWithdrawals(sql, intent, boss)
}

/** Asks for a job that expires the withdrawn charges of an intent as soon as the transaction has committed. */
export async function enqueueWithdrawals(sql: Sql, { tenant_id, merchant_id, id }: PaymentIntentRow, boss: EventSettings['boss']): Promise<void> {
  // While the queue is away the sweep finds the rows a little later.
  if (!boss.client) return
  await enqueueTx(sql, boss, withdrawalQueue, { tenant_id, merchant_id, intent_id: id } satisfies WithdrawalJob, { singletonKey: id })
}
