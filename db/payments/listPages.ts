import type { Page } from '../../domain/paging.ts'
import { withFreshPlan } from '../sql.ts'
import type { Row, Sql, Statement } from '../sql.ts'
import type { Part } from './newestFirst.ts'

/** A page, and how many entries the list has in all. */
export interface Listed<Entry> {
  rows: Entry[]
  total: number
}

/** How the entries of a list are read. */
export interface EntryReader {
  /** The order, in the columns of a select of ids. */
  order: Part
  /** The entries whose ids a select gives, in the order, with `more` columns. */
  entries(ids: Part, more: Part): Part
}

/** A list that is narrowed by more than its order: by a search, a state, metadata. */
export interface FilteredList extends EntryReader {
  /** All that matches, by whichever index fits best: a select of `id` and the columns of the order. */
  matches: Part
  /** What matches of the newest entries, as many as the window holds, in the same columns; null: it is not worth a look. */
  newestMatches: ((window: number) => Part) | null
}

/** Newest entries that are looked through at least, before an index is asked for every match. */
const leastWindow = 2000

/** A page of a list in its order: `newest` selects the ids of the page. Wants a transaction, for settings that hold in it alone. */
export async function orderedPage<Entry extends object>(
  sql: Sql, { entries }: EntryReader, newest: Part, total: number, { offset }: Page,
): Promise<Listed<Entry>> {
  if (offset >= total) return { rows: [], total }
  const [, rows] = await Promise.all([withRoom(sql), read<Entry>(entries(newest, sql``))])
  return { rows, total }
}

/** Room to sort ids in, and costs as they are where indexes are mostly in memory, for the rest of the transaction. */
function withRoom(sql: Sql): Statement<Row[]> {
  return sql`select set_config('work_mem', '32MB', true), set_config('random_page_cost', '1.1', true), set_config('jit', 'off', true)`
}

/**
 * A page of a filtered list with its exact total. What is common is found among the newest entries and then only
 * counted; what is rare is collected whole and put in order. So a page costs no more than its total does, and that
 * grows with the number of matches. Wants a transaction as well.
 */
export async function filteredPage<Entry extends object>(sql: Sql, list: FilteredList, { limit, offset }: Page): Promise<Listed<Entry>> {
  const { entries, matches, newestMatches, order } = list
  const [, near] = await Promise.all([
    withRoom(sql),
    newestMatches ? read<Entry>(entries(
      sql`select * from (${newestMatches(leastWindow + 2 * (offset + limit))}) m order by ${order} limit ${limit} offset ${offset}`, sql``)) : [],
  ])
  if (near.length === limit) return { rows: near, total: await countOf(sql, matches) }
  const page = sql`select * from found order by ${order} limit ${limit} offset ${offset}`
  const rows = await read<Entry & { total_found: number }>(sql`
    with found as materialized (${matches}) ${entries(page, sql`, (select count(*)::int from found) as total_found`)}`)
  const [first] = rows
  if (first) return { rows, total: first.total_found }
  return { rows: [], total: offset === 0 ? 0 : await countOf(sql, matches) }
}

/** How many entries a select of them has. */
export async function countOf(sql: Sql, matches: Part): Promise<number> {
  const [row] = await withFreshPlan(sql<{ total: number }[]>`select count(*)::int as total from (${matches}) m`)
  return row?.total ?? 0
}

function read<Entry extends object>(statement: Part): Statement<Entry[]> {
  return withFreshPlan(statement as unknown as Statement<Entry[]>)
}
