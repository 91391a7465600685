import type { Row, Sql, Statement } from '../sql.ts'
import type { Scope } from './paymentIntents.ts'

/** A piece of a statement. */
export type Part = Statement<Row[]>

/** A table that holds a list in its order, by an index on tenant, merchant and order and one on tenant and order. */
export interface OrderedTable {
  /** With the alias `l`. */
  table: Part
  /** What is read of it, the id as `id`. */
  columns: Part
  /** The order, newest first. */
  order: Part
  /** The same in `columns`, of `w`. */
  orderOfColumns: Part
}

/** The rows of a scope in the table of an alias. */
export function inScope(sql: Sql, { tenantId, merchantIds }: Scope, alias: string): Part {
  return sql`${sql(`${alias}.tenant_id`)} = ${tenantId} ${ofMerchants(sql, merchantIds, alias)}`
}

/**
 * The same for a search. The search index would merge the tenant's entries with those of the merchants, which are
 * fewer and all of that tenant: so the tenant is compared in a way that it is not asked for.
 */
export function inScopeOfSearch(sql: Sql, scope: Scope, alias: string): Part {
  const { tenantId, merchantIds } = scope
  if (merchantIds === null) return inScope(sql, scope, alias)
  return sql`${sql(`${alias}.tenant_id`)} is not distinct from ${tenantId} ${ofMerchants(sql, merchantIds, alias)}`
}

function ofMerchants(sql: Sql, merchantIds: Scope['merchantIds'], alias: string): Part {
  if (merchantIds === null) return sql``
  const [only, ...others] = merchantIds
  const merchant = sql(`${alias}.merchant_id`)
  return only !== undefined && others.length === 0 ? sql`and ${merchant} = ${only}` : sql`and ${merchant} = any(${merchantIds as string[]}::uuid[])`
}

/**
 * The newest entries of a scope, narrowed by what stands in the index: as many of its rows are read as are asked for
 * and skipped. Of several merchants each gives its newest, and those are put in order.
 */
export function newest(sql: Sql, { table, columns, order, orderOfColumns }: OrderedTable, scope: Scope, narrowed: Part, limit: number, offset: number): Part {
  const { tenantId, merchantIds } = scope
  if (merchantIds === null || merchantIds.length === 1) {
    return sql`select ${columns} from ${table} l where ${inScope(sql, scope, 'l')} ${narrowed} order by ${order} limit ${limit} offset ${offset}`
  }
  return sql`
    select w.* from (select distinct unnest(${merchantIds as string[]}::uuid[]) as id) m
    cross join lateral (
      select ${columns} from ${table} l where l.tenant_id = ${tenantId} and l.merchant_id = m.id ${narrowed}
      order by ${order} limit ${offset + limit}) w
    order by ${orderOfColumns} limit ${limit} offset ${offset}`
}

/**
 * A row by its id and by nothing else, to be narrowed outside: asked for one row after another, an index on what
 * narrows them would be gone through again for each.
 */
export function byId(sql: Sql, table: 'payment_intents' | 'payment_attempts', id: string): Part {
  return sql`select * from ${sql(`payments.${table}`)} r where r.id = ${sql(id)} offset 0`
}
