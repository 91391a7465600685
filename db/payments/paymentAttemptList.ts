import { likePattern } from '../../domain/likePattern.ts'
import type { Page } from '../../domain/paging.ts'
import type { Sql } from '../sql.ts'
import type { PaymentAttemptRow } from './paymentAttempts.ts'
import { foundIn, ofIntent } from './paymentIntentList.ts'
import type { MoneyFilters } from './paymentIntentList.ts'
import type { Scope } from './paymentIntents.ts'

/** A page of the attempts of visible intents, of every state, newest first; with `intentId` those of one intent. */
export async function listPaymentAttempts(
  sql: Sql, scope: Scope, filters: MoneyFilters & { intentId?: string }, { limit, offset }: Page, now: Date,
): Promise<PaymentAttemptRow[]> {
  return sql<PaymentAttemptRow[]>`
    select a.* from ${attempts(sql, scope, filters, now)}
    order by a.created_at desc, a.id desc
    limit ${limit} offset ${offset}`
}

/** How many attempts the list has in all. */
export async function countPaymentAttempts(sql: Sql, scope: Scope, filters: MoneyFilters & { intentId?: string }, now: Date): Promise<number> {
  const [row] = await sql<{ total: number }[]>`select count(*)::int as total from ${attempts(sql, scope, filters, now)}`
  return row?.total ?? 0
}

function attempts(sql: Sql, { tenantId, merchantIds }: Scope, filters: MoneyFilters & { intentId?: string }, now: Date) {
  const ids = merchantIds as string[] | null
  const { intentId, channel, createdFrom, createdTo, paidFrom, paidTo, search } = filters
  const pattern = search === undefined ? undefined : likePattern(search)
  return sql`
    payments.payment_attempts a
    join payments.payment_intents i on i.tenant_id = a.tenant_id and i.merchant_id = a.merchant_id and i.id = a.intent_id and i.visible
    where a.tenant_id = ${tenantId} and (${ids}::uuid[] is null or a.merchant_id = any(${ids}::uuid[]))
    ${intentId === undefined ? sql`` : sql`and a.intent_id = ${intentId}`}
    ${inState(sql, filters.status, now)}
    ${channel === undefined ? sql`` : sql`and a.channel = ${channel}`}
    ${createdFrom === undefined ? sql`` : sql`and a.created_at >= ${createdFrom}`}
    ${createdTo === undefined ? sql`` : sql`and a.created_at < ${createdTo}`}
    ${paidFrom === undefined ? sql`` : sql`and a.completed_at >= ${paidFrom}`}
    ${paidTo === undefined ? sql`` : sql`and a.completed_at < ${paidTo}`}
    ${ofIntent(sql, filters)}
    ${pattern === undefined ? sql`` : sql`and (a.provider_reference ilike ${pattern} or ${foundIn(sql, pattern)})`}`
}

/** A pending attempt past its deadline reads expired before any sweep, and is listed as what it reads. */
function inState(sql: Sql, status: string | undefined, now: Date) {
  if (status === undefined) return sql``
  if (status === 'pending') return sql`and a.status = 'pending' and (a.expires_at is null or a.expires_at > ${now})`
  if (status === 'expired') return sql`and (a.status = 'expired' or (a.status = 'pending' and a.expires_at <= ${now}))`
  return sql`and a.status = ${status}`
}
