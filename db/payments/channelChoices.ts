import type { Sql } from '../sql.ts'
import type { PaymentAttemptRow } from './paymentAttempts.ts'
import type { ProviderOperationRow } from './providerOperations.ts'

/** A choice of the payer that the provider has not answered yet; at most one for each intent. */
export type UnfinishedChoice = ProviderOperationRow & {
  /** The channel that was chosen. */
  channel: string
  /** Whether nobody holds it. */
  lapsed: boolean
}

export async function findUnfinishedChoice(sql: Sql, tenantId: string, merchantId: string, intentId: string): Promise<UnfinishedChoice | undefined> {
  const [row] = await sql<UnfinishedChoice[]>`
    select o.*, a.channel, o.lease_until < now() as lapsed
    from payments.provider_operations o
    join payments.payment_attempts a on a.tenant_id = o.tenant_id and a.merchant_id = o.merchant_id and a.id = o.attempt_id
    where o.tenant_id = ${tenantId} and o.merchant_id = ${merchantId} and o.intent_id = ${intentId}
      and o.kind = 'choose_channel' and o.recovery_point = 'started'`
  return row
}

/** Gives up a choice that nobody holds. False while another holds it, or when it is finished. */
export async function abandonLapsedChoice(
  sql: Sql, { tenant_id, merchant_id, id }: ProviderOperationRow, now: Date,
): Promise<boolean> {
  const rows = await sql`
    update payments.provider_operations set recovery_point = 'abandoned', finished_at = ${now}
    where tenant_id = ${tenant_id} and merchant_id = ${merchant_id} and id = ${id} and recovery_point = 'started' and lease_until < now()
    returning id`
  return rows.length === 1
}

/** Makes an attempt the current one of its intent. */
export async function setCurrentAttempt(
  sql: Sql, tenantId: string, merchantId: string, intentId: string, attemptId: string,
): Promise<void> {
  await sql`
    update payments.payment_intents set current_attempt_id = ${attemptId}
    where tenant_id = ${tenantId} and merchant_id = ${merchantId} and id = ${intentId}`
}

/** The newest standing attempt of a channel that takes payments still. */
export async function findStandingAttempt(
  sql: Sql, tenantId: string, merchantId: string, intentId: string, channel: string, now: Date,
): Promise<PaymentAttemptRow | undefined> {
  const [row] = await sql<PaymentAttemptRow[]>`
    select * from payments.payment_attempts
    where tenant_id = ${tenantId} and merchant_id = ${merchantId} and intent_id = ${intentId} and channel = ${channel}
      and standing and status = 'pending' and (provider is null or charge_reference is not null) and (expires_at is null or expires_at > ${now})
    order by created_at desc, id desc
    limit 1`
  return row
}

/** Ends the pending attempts of an intent but one. */
export async function expireOtherAttempts(
  sql: Sql, tenantId: string, merchantId: string, intentId: string, exceptAttemptId: string,
): Promise<void> {
  await sql`
    update payments.payment_attempts set status = 'expired'
    where tenant_id = ${tenantId} and merchant_id = ${merchantId} and intent_id = ${intentId} and status = 'pending' and id <> ${exceptAttemptId}`
}
