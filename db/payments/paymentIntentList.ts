import { likePattern } from '../../domain/likePattern.ts'
import type { Page } from '../../domain/paging.ts'
import type { Sql } from '../sql.ts'
import { shownFields } from './paymentIntents.ts'
import type { AttemptFields, PaymentIntentRow, Scope } from './paymentIntents.ts'

/** What a list of intents or payments is narrowed by (decision 1.5); what is left out narrows nothing. */
export interface MoneyFilters {
  status?: string | undefined
  channel?: string | undefined
  createdFrom?: Date | undefined
  createdTo?: Date | undefined
  paidFrom?: Date | undefined
  paidTo?: Date | undefined
  referenceId?: string | undefined
  metadata?: Readonly<Record<string, string>> | undefined
  search?: string | undefined
}

/** A page of visible intents, newest first. `now` decides which open ones read as expired (decision 3.7). */
export async function listPaymentIntents(
  sql: Sql, scope: Scope, filters: MoneyFilters, { limit, offset }: Page, now: Date,
): Promise<(PaymentIntentRow & AttemptFields)[]> {
  return sql<(PaymentIntentRow & AttemptFields)[]>`
    select i.*, a.channel as attempt_channel, ${shownFields(sql)} as attempt_fields
    from (
      select * from payments.payment_intents i
      where ${matching(sql, scope, filters, now)}
      order by i.created_at desc, i.id desc
      limit ${limit} offset ${offset}) i
    left join payments.payment_attempts a on a.id = i.current_attempt_id and a.merchant_id = i.merchant_id and a.tenant_id = i.tenant_id
    order by i.created_at desc, i.id desc`
}

/** How many intents the list has in all. */
export async function countPaymentIntents(sql: Sql, scope: Scope, filters: MoneyFilters, now: Date): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select count(*)::int as total from payments.payment_intents i where ${matching(sql, scope, filters, now)}`
  return row?.total ?? 0
}

function matching(sql: Sql, { tenantId, merchantIds }: Scope, filters: MoneyFilters, now: Date) {
  const ids = merchantIds as string[] | null
  const { channel, createdFrom, createdTo, paidFrom, paidTo, search } = filters
  return sql`
    i.tenant_id = ${tenantId} and (${ids}::uuid[] is null or i.merchant_id = any(${ids}::uuid[])) and i.visible
    ${inState(sql, filters.status, now)}
    ${channel === undefined ? sql`` : sql`and (i.channel = ${channel} or ${channel} = any(i.allowed_channels))`}
    ${createdFrom === undefined ? sql`` : sql`and i.created_at >= ${createdFrom}`}
    ${createdTo === undefined ? sql`` : sql`and i.created_at < ${createdTo}`}
    ${paidFrom === undefined ? sql`` : sql`and i.paid_at >= ${paidFrom}`}
    ${paidTo === undefined ? sql`` : sql`and i.paid_at < ${paidTo}`}
    ${ofIntent(sql, filters)}
    ${search === undefined ? sql`` : sql`and (${foundIn(sql, likePattern(search))})`}`
}

/** An open intent past its deadline reads expired before any sweep, and is listed as what it reads. */
function inState(sql: Sql, status: string | undefined, now: Date) {
  if (status === undefined) return sql``
  if (status === 'open') return sql`and i.status = 'open' and (i.intent_expires_at is null or i.intent_expires_at > ${now})`
  if (status === 'expired') return sql`and (i.status = 'expired' or (i.status = 'open' and i.intent_expires_at <= ${now}))`
  return sql`and i.status = ${status}`
}

/** The conditions that payments take from the intent `i` they belong to. */
export function ofIntent(sql: Sql, { referenceId, metadata }: MoneyFilters) {
  return sql`
    ${referenceId === undefined ? sql`` : sql`and i.reference_id = ${referenceId}`}
    ${metadata === undefined ? sql`` : sql`and i.metadata @> ${sql.json(metadata)}`}`
}

/** Whether a searchable member of the intent `i` has the pattern. */
export function foundIn(sql: Sql, pattern: string) {
  return sql`i.shortcode ilike ${pattern} or i.reference_id ilike ${pattern} or i.description ilike ${pattern}
    or i.customer ->> 'name' ilike ${pattern} or i.customer ->> 'email' ilike ${pattern} or i.customer ->> 'phone' ilike ${pattern}`
}
