import type { Sql } from '../sql.ts'

/** A charge that the provider is to expire. */
export interface ChargeWithdrawalRow {
  attempt_id: string
  tenant_id: string
  merchant_id: string
  /** Counts tries, and each time that it is asked for again: the number tells one taking from every other. */
  tries: number
}

/**
 * Asks for the withdrawal of every pending attempt of an intent that a provider knows, but `exceptAttemptId`, in the
 * transaction of the change (decision 3.2). What was withdrawn before is asked for again.
 */
export async function withdrawPendingAttempts(
  sql: Sql, tenantId: string, merchantId: string, intentId: string, exceptAttemptId: string | null,
): Promise<void> {
  await sql`
    insert into payments.charge_withdrawals (attempt_id, tenant_id, merchant_id, provider, next_try_at)
    select id, tenant_id, merchant_id, provider, now() from payments.payment_attempts
    where tenant_id = ${tenantId} and merchant_id = ${merchantId} and intent_id = ${intentId} and status = 'pending'
      and provider is not null and provider_key is not null and id is distinct from ${exceptAttemptId}::uuid
    on conflict (attempt_id) do update set next_try_at = now(), done_at = null, tries = charge_withdrawals.tries + 1`
}

/**
 * Asks for the withdrawal of one attempt, whatever its state, `afterSeconds` from now: a first call that is under way
 * still must have ended before.
 */
export async function withdrawAttempt(
  sql: Sql, tenantId: string, merchantId: string, attemptId: string, afterSeconds: number,
): Promise<void> {
  await sql`
    insert into payments.charge_withdrawals (attempt_id, tenant_id, merchant_id, provider, next_try_at)
    select id, tenant_id, merchant_id, provider, now() + ${afterSeconds} * interval '1 second' from payments.payment_attempts
    where tenant_id = ${tenantId} and merchant_id = ${merchantId} and id = ${attemptId} and provider is not null and provider_key is not null
    on conflict (attempt_id) do update
    set next_try_at = excluded.next_try_at, done_at = null, tries = charge_withdrawals.tries + 1`
}

/**
 * Takes what is due of a provider, of every tenant. Taking it postpones the next try, by `seconds` and four times as
 * long each time, an hour at most, so that it is neither taken twice at once nor lost with its holder.
 */
export async function takeDueWithdrawals(sql: Sql, provider: string, most: number, seconds: number): Promise<ChargeWithdrawalRow[]> {
  return sql<ChargeWithdrawalRow[]>`
    update payments.charge_withdrawals
    set tries = tries + 1, next_try_at = now() + least(${seconds} * power(4, least(tries, 4)), 3600) * interval '1 second'
    where attempt_id in (
      select attempt_id from payments.charge_withdrawals
      where provider = ${provider} and done_at is null and next_try_at <= now()
      order by next_try_at
      limit ${most}
      for update skip locked)
    returning attempt_id, tenant_id, merchant_id, tries`
}

/** Notes that the provider has answered, unless the withdrawal was asked for again, or taken by another, since it was taken. */
export async function finishWithdrawal(
  sql: Sql, { tenant_id, merchant_id, attempt_id, tries }: ChargeWithdrawalRow, now: Date,
): Promise<void> {
  await sql`
    update payments.charge_withdrawals set done_at = ${now}
    where tenant_id = ${tenant_id} and merchant_id = ${merchant_id} and attempt_id = ${attempt_id} and tries = ${tries}`
}

/** Forgets withdrawals, of every tenant, that were done before a time; at most `most`. Returns how many. */
export async function purgeWithdrawals(sql: Sql, before: Date, most: number): Promise<number> {
  const rows = await sql`
    delete from payments.charge_withdrawals
    where attempt_id in (
      select attempt_id from payments.charge_withdrawals where done_at < ${before} order by done_at limit ${most} for update skip locked)
    returning attempt_id`
  return rows.length
}
