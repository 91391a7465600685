import type { Page } from '../../domain/paging.ts'
import type { Sql } from '../sql.ts'
import { countOf, filteredPage, orderedPage } from './listPages.ts'
import type { EntryReader, Listed } from './listPages.ts'
import { totalOf } from './listTotals.ts'
import { inScope, newest } from './newestFirst.ts'
import type { OrderedTable } from './newestFirst.ts'
import type { Scope } from './paymentIntents.ts'

/** What a list of events is narrowed by; null narrows nothing. */
export interface EventFilters {
  kind: string | null
  /** Only what was created at this time or later. */
  since: Date | null
}

/** A page of event bodies, newest first, and how many there are. */
export async function listEventBodies(sql: Sql, scope: Scope, { kind, since }: EventFilters, page: Page): Promise<Listed<{ body: string }>> {
  const ofKind = kind === null ? sql`` : sql`and l.kind = ${kind}`
  const matches = sql`select l.id, l.position from payments.events l where ${inScope(sql, scope, 'l')} ${ofKind} ${since === null ? sql`` : sql`and l.created_at >= ${since}`}`
  const list = {
    ...entryReader(sql, scope), matches,
    newestMatches: (window: number) => sql`
      select w.id, w.position from (${newest(sql, inOrder(sql), scope, sql``, window, 0)}) w
      where true ${kind === null ? sql`` : sql`and w.kind = ${kind}`} ${since === null ? sql`` : sql`and w.created_at >= ${since}`}`,
  }
  // One merchant's events of a kind are in order by themselves.
  const isOrdered = since === null && (kind === null || scope.merchantIds?.length === 1)
  if (!isOrdered) return filteredPage(sql, list, page)
  const total = kind === null ? await totalOf(sql, 'events', scope) : await countOf(sql, matches)
  return orderedPage(sql, list, newest(sql, inOrder(sql), scope, ofKind, page.limit, page.offset), total, page)
}

function inOrder(sql: Sql): OrderedTable {
  return {
    table: sql`payments.events`, columns: sql`l.id, l.position, l.kind, l.created_at`, order: sql`l.position desc`, orderOfColumns: sql`w.position desc`,
  }
}

function entryReader(sql: Sql, scope: Scope): EntryReader {
  return {
    order: sql`position desc`,
    entries: (ids, more) => sql`
      select e.body ${more} from (${ids}) page
      join payments.events e on e.id = page.id and ${inScope(sql, scope, 'e')}
      order by page.position desc`,
  }
}
