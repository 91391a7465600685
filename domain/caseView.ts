import type { components } from '../generated/payments.ts'

export type CaseView = components['schemas']['Case']

interface CaseRow {
  id: string
  merchant_id: string
  kind: string
  status: string
  shown_intent_id: string | null
  attempt_id: string | null
  provider: string | null
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

/** A case as its merchant sees it. A hidden intent is absent from it, as from every read (decision 3.3). */
export function caseView(row: CaseRow): CaseView {
  return {
    id: row.id,
    merchant_id: row.merchant_id,
    kind: row.kind,
    status: row.status,
    intent_id: row.shown_intent_id,
    attempt_id: row.shown_intent_id === null ? null : row.attempt_id,
    provider: row.provider,
    provider_reference: row.provider_reference,
    expected_idr: row.expected_idr,
    received_idr: row.received_idr,
    currency: row.currency,
    detail: row.detail,
    transitions: transitionsOf(row),
    note: row.note,
    opened_at: row.opened_at.toISOString(),
    resolved_at: row.resolved_at?.toISOString() ?? null,
    resolved_by: row.resolved_by,
  }
}

/** What can be done with a case, and the operation that it stands for (decision 4.8); for what is seen here, the case itself. */
function transitionsOf({ status }: CaseRow): CaseView['transitions'] {
  return status === 'open' ? [{ status: 'resolved', operation: 'transitionCase' }] : []
}
