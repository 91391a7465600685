import { likePattern } from '../../domain/likePattern.ts'
import type { Sql } from '../sql.ts'
import type { Part } from './newestFirst.ts'

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

/** The time of creation, in the table of an alias. */
export function createdWithin(sql: Sql, { createdFrom, createdTo }: MoneyFilters, alias: string): Part {
  return allOf(sql, within(sql, `${alias}.created_at`, createdFrom, createdTo)) ?? sql``
}

/** Whether a list is narrowed by its order's own time. */
export function isDated({ createdFrom, createdTo }: MoneyFilters): boolean {
  return createdFrom !== undefined || createdTo !== undefined
}

/** From a time, it included, to another, it not. */
export function within(sql: Sql, column: string, from: Date | undefined, to: Date | undefined): Part[] {
  return [...from === undefined ? [] : [sql`and ${sql(column)} >= ${from}`], ...to === undefined ? [] : [sql`and ${sql(column)} < ${to}`]]
}

/** What payments share with the intent `i` they belong to. */
export function ofIntent(sql: Sql, { referenceId, metadata }: MoneyFilters): Part[] {
  return [
    ...referenceId === undefined ? [] : [sql`and i.reference_id = ${referenceId}`],
    ...metadata === undefined ? [] : [sql`and i.metadata @> ${sql.json(metadata)}`],
  ]
}

/** Conditions as one, each of which begins with "and"; null when there are none. */
export function allOf(sql: Sql, conditions: readonly Part[]): Part | null {
  return conditions.length === 0 ? null : conditions.reduce((all, one) => sql`${all} ${one}`)
}

/** Whether the words of a listed row have the text somewhere, by the index where the text has three letters or digits in a row. */
export function inWords(sql: Sql, { search }: MoneyFilters): Part {
  return search === undefined ? sql`` : sql`and words like lower(${likePattern(search)})`
}

// What payments.searchable() writes between two members.
const separator = '\x1f'

/** The pattern to look for in each member by itself, when the words would not do: a text with the separator matches across two. */
export function patternOfMembers({ search }: MoneyFilters): string | null {
  return search?.includes(separator) ? likePattern(search) : null
}

/** Whether a searchable member of the intent `i` has the pattern. */
export function foundIn(sql: Sql, pattern: string): Part {
  return sql`i.shortcode ilike ${pattern} or i.reference_id ilike ${pattern} or i.description ilike ${pattern}
    or i.customer ->> 'name' ilike ${pattern} or i.customer ->> 'email' ilike ${pattern} or i.customer ->> 'phone' ilike ${pattern}`
}
