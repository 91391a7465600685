import type { Sql } from '../sql.ts'
import type { ChargeWithdrawalRow } from './chargeWithdrawals.ts'

/** Takes the due withdrawals of one intent; the sweep leaves them alone for `seconds`. */
export async function takeIntentWithdrawals(
  sql: Sql, tenantId: string, merchantId: string, intentId: string, seconds: number,
): Promise<ChargeWithdrawalRow[]> {
  return sql<ChargeWithdrawalRow[]>`
    update payments.charge_withdrawals w
    set tries = w.tries + 1, next_try_at = now() + ${seconds} * interval '1 second'
    from payments.payment_attempts a
    where w.tenant_id = ${tenantId} and w.merchant_id = ${merchantId} and w.done_at is null and w.next_try_at <= now()
      and a.tenant_id = w.tenant_id and a.merchant_id = w.merchant_id and a.id = w.attempt_id and a.intent_id = ${intentId}
    returning w.attempt_id, w.tenant_id, w.merchant_id, w.tries`
}
