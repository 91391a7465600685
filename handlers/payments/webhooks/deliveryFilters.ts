import type { DeliveryFilters } from '../../../db/payments/webhookDeliveryList.ts'

/** What every list of deliveries can be narrowed by, validated by the document. */
interface DeliveryQuery {
  subscription_id?: string
  event?: string
  created_from?: string
  created_to?: string
}

/** Reads the filters that all lists of deliveries have. */
export function readDeliveryFilters(query: DeliveryQuery): DeliveryFilters {
  const time = (text: string | undefined): Date | undefined => text === undefined ? undefined : new Date(text)
  return { subscriptionId: query.subscription_id, kind: query.event, createdFrom: time(query.created_from), createdTo: time(query.created_to) }
}
