import type { Environment } from './apiKeys.ts'

/** Version of event bodies, `api_version`. */
export const eventApiVersion = 'v1'

/** The JSON of an event as it is stored and delivered, byte for byte (decision 6.1). */
export function eventBody(event: {
  id: string, kind: string, createdAt: Date, environment: Environment, merchantId: string, data: object,
}): string {
  return JSON.stringify({
    id: event.id,
    event: event.kind,
    created_at: event.createdAt.toISOString(),
    environment: event.environment,
    api_version: eventApiVersion,
    merchant_id: event.merchantId,
    data: event.data,
  })
}
