import type { Sql } from '../sql.ts'
import type { AttemptStatus } from './paymentAttempts.ts'
import type { PaymentIntentRow } from './paymentIntents.ts'

/** An intent as its payer comes to it, with the attempt that the payer is shown. */
export type PublicCheckoutRow = PaymentIntentRow & {
  changed_at: Date
  merchant_name: string
  /** Codes of the channels that are on for the merchant. */
  merchant_channels: string[]
} & ({ attempt_id: null } | ShownAttempt)

/** Columns of the attempt that the payer is shown. */
export interface ShownAttempt {
  attempt_id: string
  attempt_channel: string
  attempt_status: AttemptStatus
  attempt_amount_idr: number
  attempt_fields: Record<string, string>
  attempt_expires_at: Date | null
  attempt_changed_at: Date
}

/**
 * A visible intent with a hosted page, by its shortcode, which is all that a payer has. The attempt shown is the one
 * asked for (no row when the intent has no such), else the current one or the last that failed or expired; on an
 * intent for several payments only one that payers share, or the one made at creation while it is pending.
 */
export async function findPublicCheckout(sql: Sql, shortcode: string, attemptId: string | null): Promise<PublicCheckoutRow | undefined> {
  const [row] = await sql<PublicCheckoutRow[]>`
    select i.*, m.name as merchant_name,
      array(select c.channel from payments.merchant_channels c
        where c.tenant_id = m.tenant_id and c.merchant_id = m.id and c.enabled) as merchant_channels,
      a.id as attempt_id, a.channel as attempt_channel, a.status as attempt_status, a.amount_idr as attempt_amount_idr,
      a.fields as attempt_fields, a.expires_at as attempt_expires_at, a.changed_at as attempt_changed_at
    from payments.payment_intents i
    join payments.merchants m on m.tenant_id = i.tenant_id and m.id = i.merchant_id
    left join lateral (
      select t.* from payments.payment_attempts t
      where t.tenant_id = i.tenant_id and t.merchant_id = i.merchant_id and t.intent_id = i.id
        and case
          when ${attemptId}::uuid is not null then t.id = ${attemptId}::uuid
          when i.max_uses <> 1 then t.id = i.current_attempt_id and t.status = 'pending' and (t.standing or exists (
            select from payments.provider_operations o
            where o.tenant_id = t.tenant_id and o.merchant_id = t.merchant_id and o.id = t.provider_key and o.kind = 'create_charge'))
          when i.current_attempt_id is not null then t.id = i.current_attempt_id
          else t.status in ('failed', 'expired')
        end
      order by t.created_at desc, t.id desc
      limit 1) a on true
    where i.shortcode = ${shortcode} and i.visible and i.channel is null and (${attemptId}::uuid is null or a.id is not null)`
  return row
}
