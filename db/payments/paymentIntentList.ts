import type { Page } from '../../domain/paging.ts'
import type { Sql } from '../sql.ts'
import { countOf, filteredPage, orderedPage } from './listPages.ts'
import type { EntryReader, FilteredList, Listed } from './listPages.ts'
import { totalOf } from './listTotals.ts'
import { allOf, createdWithin, foundIn, inWords, isDated, ofIntent, patternOfMembers, within } from './moneyFilters.ts'
import type { MoneyFilters } from './moneyFilters.ts'
import { byId, inScope, inScopeOfSearch, newest } from './newestFirst.ts'
import type { OrderedTable, Part } from './newestFirst.ts'
import { shownFields } from './paymentIntents.ts'
import type { AttemptFields, PaymentIntentRow, Scope } from './paymentIntents.ts'

/** A page of visible intents, newest first, and how many there are. `now` decides which open ones read as expired (decision 3.7). */
export async function listPaymentIntents(
  sql: Sql, scope: Scope, filters: MoneyFilters, page: Page, now: Date,
): Promise<Listed<PaymentIntentRow & AttemptFields>> {
  const conditions = conditionsOn(sql, filters, now)
  if (conditions || filters.search !== undefined) return filteredPage(sql, filtered(sql, scope, filters, conditions), page)
  const created = createdWithin(sql, filters, 'l')
  const total = isDated(filters)
    ? await countOf(sql, sql`select l.intent_id from payments.listed_intents l where ${inScope(sql, scope, 'l')} ${created}`)
    : await totalOf(sql, 'intents', scope)
  return orderedPage(sql, entryReader(sql, scope), newest(sql, inOrder(sql), scope, created, page.limit, page.offset), total, page)
}

function filtered(sql: Sql, scope: Scope, filters: MoneyFilters, conditions: Part | null): FilteredList {
  const { search, referenceId } = filters
  const created = createdWithin(sql, filters, 'l')
  const intent = sql`${inScope(sql, scope, 'i')} and i.visible ${createdWithin(sql, filters, 'i')} ${conditions ?? sql``}`
  const matches = search === undefined
    ? sql`select i.id, i.created_at from payments.payment_intents i where ${intent}`
    : sql`
      select l.intent_id as id, l.created_at from payments.listed_intents l
      ${conditions ? sql`join payments.payment_intents i on i.id = l.intent_id and ${intent}` : sql``}
      where ${inScopeOfSearch(sql, scope, 'l')} ${created} ${inWords(sql, filters)}`
  // A reference is at most one intent of a merchant, and rarely among the newest.
  const newestMatches = referenceId !== undefined ? null : (window: number) => sql`
    select w.id, w.created_at from (${newest(sql, inOrder(sql), scope, created, window, 0)}) w
    ${conditions ? sql`cross join lateral (select from (${byId(sql, 'payment_intents', 'w.id')}) i where ${intent}) i` : sql``}
    where true ${inWords(sql, filters)}`
  return { ...entryReader(sql, scope), matches, newestMatches }
}

function inOrder(sql: Sql): OrderedTable {
  return {
    table: sql`payments.listed_intents`, columns: sql`l.intent_id as id, l.created_at, l.words`,
    order: sql`l.created_at desc, l.intent_id desc`, orderOfColumns: sql`w.created_at desc, w.id desc`,
  }
}

function entryReader(sql: Sql, scope: Scope): EntryReader {
  return {
    order: sql`created_at desc, id desc`,
    entries: (ids, more) => sql`
      select i.*, a.channel as attempt_channel, ${shownFields(sql)} as attempt_fields ${more}
      from (${ids}) page
      join payments.payment_intents i on i.id = page.id and ${inScope(sql, scope, 'i')}
      left join payments.payment_attempts a on a.id = i.current_attempt_id and a.merchant_id = i.merchant_id and a.tenant_id = i.tenant_id
      order by page.created_at desc, page.id desc`,
  }
}

/** What only the intent `i` itself can answer; null when nothing is asked of it. */
function conditionsOn(sql: Sql, filters: MoneyFilters, now: Date): Part | null {
  const { channel, paidFrom, paidTo } = filters
  const pattern = patternOfMembers(filters)
  return allOf(sql, [
    ...inState(sql, filters.status, now),
    // As the index has it: the one of a point of sale, else all that are allowed.
    ...channel === undefined ? [] : [sql`and (case when i.channel is null then i.allowed_channels else array[i.channel] end) @> array[${channel}]`],
    ...within(sql, 'i.paid_at', paidFrom, paidTo),
    ...ofIntent(sql, filters),
    ...pattern === null ? [] : [sql`and (${foundIn(sql, pattern)})`],
  ])
}

/** An open intent past its deadline reads expired before any sweep, and is listed as what it reads. */
function inState(sql: Sql, status: string | undefined, now: Date): Part[] {
  if (status === undefined) return []
  if (status === 'open') return [sql`and i.status = 'open' and (i.intent_expires_at is null or i.intent_expires_at > ${now})`]
  if (status === 'expired') return [sql`and i.status in ('expired', 'open') and (i.status = 'expired' or i.intent_expires_at <= ${now})`]
  return [sql`and i.status = ${status}`]
}
