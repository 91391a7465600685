import type { MoneyFilters } from '../../../db/payments/moneyFilters.ts'

/** The query of a list of intents or payments, validated by the document. */
export interface MoneyQuery {
  status?: string
  channel?: string
  created_from?: string
  created_to?: string
  paid_from?: string
  paid_to?: string
  reference_id?: string
  metadata?: Record<string, string>
  search?: string
}

/** Reads the filters (decision 1.5). */
export function readFilters(query: MoneyQuery): MoneyFilters {
  const time = (text: string | undefined): Date | undefined => text === undefined ? undefined : new Date(text)
  return {
    status: query.status, channel: query.channel, referenceId: query.reference_id, metadata: query.metadata, search: query.search,
    createdFrom: time(query.created_from), createdTo: time(query.created_to), paidFrom: time(query.paid_from), paidTo: time(query.paid_to),
  }
}
