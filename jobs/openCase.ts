import { insertCase } from '../db/payments/cases.ts'
import type { CaseKind, CaseRow } from '../db/payments/cases.ts'
import type { ProviderOperationRow } from '../db/payments/providerOperations.ts'
import { newId } from '../db/ids.ts'
import type { Sql } from '../db/sql.ts'
import type { EventSettings } from './paymentEvents.ts'

/** Money that somebody must look at. */
export interface CaseDraft {
  kind: CaseKind
  /** Whose charge it is about: tenant, merchant, intent, attempt and provider. */
  operation: Pick<ProviderOperationRow, 'tenant_id' | 'merchant_id' | 'intent_id' | 'attempt_id' | 'provider'>
  /** The attempt that the money is recorded in, where it is not the operation's own. */
  attemptId?: string
  /** The provider's reference of the payment: with the kind, what makes a repeat of the proof open nothing twice. */
  reference: string
  /** Whole rupiah that were due; null when nothing was. */
  expectedIdr: number | null
  /** What the provider says it took or took back, in `currency`; null when it says nothing about money. */
  receivedIdr: number | null
  /** ISO 4217, as the provider said it; IDR when left out. */
  currency?: string
  /** What happened, in plain words for the person who looks. */
  detail: string
}

/**
 * Opens a case in the transaction of the change that needs it (decision 3.7). Undefined when this payment has one of
 * the kind already, open or resolved.
 */
export async function openCase(
  sql: Sql, { kind, operation, attemptId, reference, expectedIdr, receivedIdr, currency, detail }: CaseDraft,
  { runtime }: Pick<EventSettings, 'runtime'>, now: Date,
): Promise<CaseRow | undefined> {
  const { tenant_id, merchant_id, intent_id, attempt_id, provider } = operation
  return insertCase(sql, {
    id: newId(runtime), tenant_id, merchant_id, kind, intent_id, attempt_id: attemptId ?? attempt_id, provider, provider_reference: reference,
    expected_idr: expectedIdr, received_idr: receivedIdr, currency: currency ?? 'IDR', detail, opened_at: now,
  })
}
