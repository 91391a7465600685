import type { Sql } from '../sql.ts'
import { inScope } from './newestFirst.ts'
import type { Scope } from './paymentIntents.ts'

/** The lists whose unfiltered totals are maintained. */
export type CountedList = 'intents' | 'payments' | 'events' | 'deliveries'

/** How many entries a list has within a scope: what was added up and what has changed since, in one snapshot, so exact (decision 9.5). */
export async function totalOf(sql: Sql, list: CountedList, scope: Scope): Promise<number> {
  const [row] = await sql<{ total: number }[]>`
    select (
      coalesce((select sum(l.total) from payments.list_totals l where ${inScope(sql, scope, 'l')} and l.list = ${list}), 0)
      + coalesce((select sum(l.change) from payments.list_changes l where ${inScope(sql, scope, 'l')} and l.list = ${list}), 0))::bigint as total`
  return row?.total ?? 0
}

/**
 * Adds up to `most` changes that nobody else is adding to the totals. The totals are written in one order, so any number
 * of workers may do it at once. Answers how many changes it was.
 */
export async function foldListChanges(sql: Sql, most: number): Promise<number> {
  const [row] = await sql<{ folded: number }[]>`
    with folded as (
      delete from payments.list_changes
      where ctid = any(array(select ctid from payments.list_changes limit ${most} for update skip locked))
      returning tenant_id, list, merchant_id, change
    ), added as (
      insert into payments.list_totals as t (tenant_id, list, merchant_id, total)
      select tenant_id, list, merchant_id, sum(change) from folded
      group by tenant_id, list, merchant_id
      order by tenant_id, list, merchant_id
      on conflict on constraint list_totals_pkey do update set total = t.total + excluded.total
    )
    select count(*)::int as folded from folded`
  return row?.folded ?? 0
}
