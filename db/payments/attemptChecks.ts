import type { Sql } from '../sql.ts'

/** An attempt that its provider is to be asked about. */
export interface AttemptCheckRow {
  attempt_id: string
  tenant_id: string
  merchant_id: string
  provider: string
  /** How often it was taken up; also tells whose turn it is. */
  checks: number
}

/**
 * Takes checks of a provider that are due, of every tenant, the longest due first, until `leaseUntil`. Those that
 * another worker is taking are left out.
 */
export async function takeDueChecks(
  sql: Sql, provider: string, { now, leaseUntil, most }: { now: Date, leaseUntil: Date, most: number },
): Promise<AttemptCheckRow[]> {
  return sql<AttemptCheckRow[]>`
    update payments.attempt_checks set checks = checks + 1, next_check_at = ${leaseUntil}
    where attempt_id in (
      select attempt_id from payments.attempt_checks
      where provider = ${provider} and next_check_at <= ${now}
      order by next_check_at
      limit ${most}
      for update skip locked)
    returning attempt_id, tenant_id, merchant_id, provider, checks`
}

/** Sets the time of the next check, unless somebody else has taken this one up since. */
export async function scheduleCheck(
  sql: Sql, { tenant_id, merchant_id, attempt_id, checks }: AttemptCheckRow, nextCheckAt: Date,
): Promise<void> {
  await sql`
    update payments.attempt_checks set next_check_at = ${nextCheckAt}
    where tenant_id = ${tenant_id} and merchant_id = ${merchant_id} and attempt_id = ${attempt_id} and checks = ${checks}`
}

/** Ends the checks of an attempt. */
export async function endChecks(
  sql: Sql, { tenant_id, merchant_id, attempt_id }: Pick<AttemptCheckRow, 'tenant_id' | 'merchant_id' | 'attempt_id'>,
): Promise<void> {
  await sql`
    delete from payments.attempt_checks
    where tenant_id = ${tenant_id} and merchant_id = ${merchant_id} and attempt_id = ${attempt_id}`
}

/** Providers that have checks due, those that this deployment does not know among them. */
export async function listProvidersWithDueChecks(sql: Sql, now: Date): Promise<string[]> {
  const rows = await sql<{ provider: string }[]>`
    select distinct provider from payments.attempt_checks where next_check_at <= ${now}`
  return rows.map(({ provider }) => provider)
}
