import type { Page } from '../../domain/paging.ts'
import type { Sql } from '../sql.ts'
import { countOf, filteredPage, orderedPage } from './listPages.ts'
import type { EntryReader, FilteredList, Listed } from './listPages.ts'
import { totalOf } from './listTotals.ts'
import { allOf, createdWithin, foundIn, inWords, isDated, ofIntent, patternOfMembers, within } from './moneyFilters.ts'
import type { MoneyFilters } from './moneyFilters.ts'
import { byId, inScope, inScopeOfSearch, newest } from './newestFirst.ts'
import type { OrderedTable, Part } from './newestFirst.ts'
import type { PaymentAttemptRow } from './paymentAttempts.ts'
import type { Scope } from './paymentIntents.ts'

/** A page of the attempts of visible intents, of every state, newest first, and how many there are. */
export async function listPayments(sql: Sql, scope: Scope, filters: MoneyFilters, page: Page, now: Date): Promise<Listed<PaymentAttemptRow>> {
  const conditions = conditionsOn(sql, filters, now)
  if (conditions.attempt || conditions.intent || filters.search !== undefined) return filteredPage(sql, filtered(sql, scope, filters, conditions), page)
  const created = createdWithin(sql, filters, 'l')
  const total = isDated(filters)
    ? await countOf(sql, sql`select l.attempt_id from payments.listed_payments l where ${inScope(sql, scope, 'l')} ${created}`)
    : await totalOf(sql, 'payments', scope)
  return orderedPage(sql, entryReader(sql, scope), newest(sql, inOrder(sql), scope, created, page.limit, page.offset), total, page)
}

/** A page of the attempts of one visible intent, newest first, and how many there are. */
export async function listAttemptsOfIntent(sql: Sql, scope: Scope, intentId: string, page: Page): Promise<Listed<PaymentAttemptRow>> {
  const attempts = sql`select a.* from payments.payment_attempts a where ${inScope(sql, scope, 'a')} and a.intent_id = ${intentId} and a.visible`
  const [rows, total] = await Promise.all([
    sql<PaymentAttemptRow[]>`${attempts} order by a.created_at desc, a.id desc limit ${page.limit} offset ${page.offset}`, countOf(sql, attempts),
  ])
  return { rows, total }
}

/** What is asked of the attempt `a`, and of its intent `i`. */
interface Conditions {
  attempt: Part | null
  intent: Part | null
}

function filtered(sql: Sql, scope: Scope, filters: MoneyFilters, { attempt, intent }: Conditions): FilteredList {
  const { search, referenceId } = filters
  const created = createdWithin(sql, filters, 'l')
  const onAttempt = sql`${inScope(sql, scope, 'a')} and a.visible ${createdWithin(sql, filters, 'a')} ${attempt ?? sql``}`
  const onIntent = intent && sql`${inScope(sql, scope, 'i')} and i.visible ${intent}`
  const itsIntent = onIntent ? sql`join payments.payment_intents i on i.id = a.intent_id and ${onIntent}` : sql``
  const ofIt = onIntent ? sql`join lateral (${byId(sql, 'payment_intents', 'a.intent_id')}) i on ${onIntent}` : sql``
  return {
    ...entryReader(sql, scope),
    matches: search !== undefined
      ? sql`
        select l.attempt_id as id, l.created_at from payments.listed_payments l
        ${attempt || intent ? sql`join payments.payment_attempts a on a.id = l.attempt_id and ${onAttempt} ${itsIntent}` : sql``}
        where ${inScopeOfSearch(sql, scope, 'l')} ${created} ${inWords(sql, filters)}`
      : onIntent
        // The intent's scope is that of its attempts, which are then read by their index on it alone.
        ? sql`
          select a.id, a.created_at from payments.payment_intents i
          join payments.payment_attempts a on a.intent_id = i.id ${createdWithin(sql, filters, 'a')} ${attempt ?? sql``}
          where ${onIntent}`
        : sql`select a.id, a.created_at from payments.payment_attempts a where ${onAttempt}`,
    newestMatches: referenceId !== undefined ? null : (window) => sql`
      select w.id, w.created_at from (${newest(sql, inOrder(sql), scope, created, window, 0)}) w
      ${attempt || intent ? sql`cross join lateral (select from (${byId(sql, 'payment_attempts', 'w.id')}) a ${ofIt} where ${onAttempt}) a` : sql``}
      where true ${inWords(sql, filters)}`,
  }
}

function inOrder(sql: Sql): OrderedTable {
  return {
    table: sql`payments.listed_payments`, columns: sql`l.attempt_id as id, l.created_at, l.words`,
    order: sql`l.created_at desc, l.attempt_id desc`, orderOfColumns: sql`w.created_at desc, w.id desc`,
  }
}

function entryReader(sql: Sql, scope: Scope): EntryReader {
  return {
    order: sql`created_at desc, id desc`,
    entries: (ids, more) => sql`
      select a.* ${more} from (${ids}) page
      join payments.payment_attempts a on a.id = page.id and ${inScope(sql, scope, 'a')}
      order by page.created_at desc, page.id desc`,
  }
}

function conditionsOn(sql: Sql, filters: MoneyFilters, now: Date): Conditions {
  const { channel, paidFrom, paidTo } = filters
  const pattern = patternOfMembers(filters)
  return {
    attempt: allOf(sql, [
      ...inState(sql, filters.status, now),
      ...channel === undefined ? [] : [sql`and a.channel = ${channel}`],
      ...within(sql, 'a.completed_at', paidFrom, paidTo),
    ]),
    intent: allOf(sql, [...ofIntent(sql, filters), ...pattern === null ? [] : [sql`and (a.provider_reference ilike ${pattern} or ${foundIn(sql, pattern)})`]]),
  }
}

/** A pending attempt past its deadline reads expired before any sweep, and is listed as what it reads. */
function inState(sql: Sql, status: string | undefined, now: Date): Part[] {
  if (status === undefined) return []
  if (status === 'pending') return [sql`and a.status = 'pending' and (a.expires_at is null or a.expires_at > ${now})`]
  if (status === 'expired') return [sql`and a.status in ('expired', 'pending') and (a.status = 'expired' or a.expires_at <= ${now})`]
  return [sql`and a.status = ${status}`]
}
