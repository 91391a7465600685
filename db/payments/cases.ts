import { likePattern } from '../../domain/likePattern.ts'
import type { Page } from '../../domain/paging.ts'
import type { Sql } from '../sql.ts'
import type { Scope } from './paymentIntents.ts'

/** What makes somebody look: later kinds join, so readers meet kinds they do not know. */
export type CaseKind = 'overpayment' | 'payment_mismatch' | 'payment_unconfirmed' | 'duplicate_reference' | 'reversal'
export type CaseStatus = 'open' | 'resolved'

export interface CaseRow {
  id: string
  tenant_id: string
  merchant_id: string
  kind: string
  status: CaseStatus
  intent_id: string | null
  attempt_id: string | null
  provider: string | null
  /** The provider's reference of the payment that the case is about. */
  provider_reference: string | null
  expected_idr: number | null
  received_idr: number | null
  currency: string
  detail: string
  note: string | null
  opened_at: Date
  resolved_at: Date | null
  resolved_by: string | null
}

/** A case with its intent, unless that is hidden: then no read tells of it (decision 3.3). */
export type ShownCaseRow = CaseRow & { shown_intent_id: string | null }

/** What a list of cases is narrowed by; what is left out narrows nothing. */
export interface CaseFilters {
  kind?: string | undefined
  status?: string | undefined
  intentId?: string | undefined
  openedFrom?: Date | undefined
  openedTo?: Date | undefined
  search?: string | undefined
}

export type NewCase = Pick<CaseRow,
  'id' | 'tenant_id' | 'merchant_id' | 'intent_id' | 'attempt_id' | 'provider' | 'provider_reference' | 'expected_idr' | 'received_idr' |
  'currency' | 'detail' | 'opened_at'> & { kind: CaseKind }

/** Inserts an open case. No row when this payment has one of the kind, open or resolved. */
export async function insertCase(sql: Sql, row: NewCase): Promise<CaseRow | undefined> {
  const [inserted] = await sql<CaseRow[]>`
    insert into payments.cases
      (id, tenant_id, merchant_id, kind, status, intent_id, attempt_id, provider, provider_reference, expected_idr, received_idr, currency, detail, opened_at)
    values (${row.id}, ${row.tenant_id}, ${row.merchant_id}, ${row.kind}, 'open', ${row.intent_id}, ${row.attempt_id}, ${row.provider},
      ${row.provider_reference}, ${row.expected_idr}, ${row.received_idr}, ${row.currency}, ${row.detail}, ${row.opened_at})
    on conflict on constraint cases_once do nothing
    returning *`
  return inserted
}

/** Which of these payments have a case for what they are of. */
export async function findMismatchedPayments(
  sql: Sql, tenantId: string, merchantId: string, provider: string, references: readonly string[],
): Promise<Set<string>> {
  const rows = await sql<{ provider_reference: string }[]>`
    select provider_reference from payments.cases
    where tenant_id = ${tenantId} and merchant_id = ${merchantId} and kind = 'payment_mismatch' and provider = ${provider}
      and provider_reference = any(${references as string[]})`
  return new Set(rows.map(({ provider_reference }) => provider_reference))
}

/** A case within the caller's reach. */
export async function findCase(sql: Sql, { tenantId, merchantIds }: Scope, id: string): Promise<ShownCaseRow | undefined> {
  const ids = merchantIds as string[] | null
  const [row] = await sql<ShownCaseRow[]>`
    select c.*, i.id as shown_intent_id from ${withIntent(sql)}
    where c.tenant_id = ${tenantId} and (${ids}::uuid[] is null or c.merchant_id = any(${ids}::uuid[])) and c.id = ${id}`
  return row
}

/** As `findCase`, locked for a change of its status. */
export async function lockCase(sql: Sql, { tenantId, merchantIds }: Scope, id: string): Promise<ShownCaseRow | undefined> {
  const ids = merchantIds as string[] | null
  const [row] = await sql<ShownCaseRow[]>`
    select c.*, i.id as shown_intent_id from ${withIntent(sql)}
    where c.tenant_id = ${tenantId} and (${ids}::uuid[] is null or c.merchant_id = any(${ids}::uuid[])) and c.id = ${id}
    for update of c`
  return row
}

/** Resolves an open case. No row when it is resolved already. */
export async function resolveCase(
  sql: Sql, { tenant_id, merchant_id, id }: CaseRow, { note, resolvedBy }: { note: string, resolvedBy: string }, now: Date,
): Promise<CaseRow | undefined> {
  const [row] = await sql<CaseRow[]>`
    update payments.cases set status = 'resolved', note = ${note}, resolved_at = ${now}, resolved_by = ${resolvedBy}
    where tenant_id = ${tenant_id} and merchant_id = ${merchant_id} and id = ${id} and status = 'open'
    returning *`
  return row
}

/** A page of cases, newest first. */
export async function listCases(sql: Sql, scope: Scope, filters: CaseFilters, { limit, offset }: Page): Promise<ShownCaseRow[]> {
  return sql<ShownCaseRow[]>`
    select c.*, i.id as shown_intent_id from ${withIntent(sql)} where ${matching(sql, scope, filters)}
    order by c.opened_at desc, c.id desc
    limit ${limit} offset ${offset}`
}

/** How many cases the list has in all. */
export async function countCases(sql: Sql, scope: Scope, filters: CaseFilters): Promise<number> {
  const [row] = await sql<{ total: number }[]>`select count(*)::int as total from ${withIntent(sql)} where ${matching(sql, scope, filters)}`
  return row?.total ?? 0
}

function withIntent(sql: Sql) {
  return sql`
    payments.cases c
    left join payments.payment_intents i on i.tenant_id = c.tenant_id and i.merchant_id = c.merchant_id and i.id = c.intent_id and i.visible`
}

function matching(sql: Sql, { tenantId, merchantIds }: Scope, { kind, status, intentId, openedFrom, openedTo, search }: CaseFilters) {
  const ids = merchantIds as string[] | null
  return sql`
    c.tenant_id = ${tenantId} and (${ids}::uuid[] is null or c.merchant_id = any(${ids}::uuid[]))
    ${kind === undefined ? sql`` : sql`and c.kind = ${kind}`}
    ${inStatus(sql, status)}
    ${intentId === undefined ? sql`` : sql`and c.intent_id = ${intentId} and i.id = ${intentId}`}
    ${openedFrom === undefined ? sql`` : sql`and c.opened_at >= ${openedFrom}`}
    ${openedTo === undefined ? sql`` : sql`and c.opened_at < ${openedTo}`}
    ${search === undefined ? sql`` : foundIn(sql, likePattern(search))}`
}

/** What is left to do is looked for most, and written out so that its own index serves. */
function inStatus(sql: Sql, status: string | undefined) {
  if (status === undefined) return sql``
  return status === 'open' ? sql`and c.status = 'open'` : sql`and c.status = ${status}`
}

function foundIn(sql: Sql, pattern: string) {
  return sql`and (c.provider_reference ilike ${pattern} or c.detail ilike ${pattern} or c.note ilike ${pattern}
    or i.shortcode ilike ${pattern} or i.reference_id ilike ${pattern})`
}
