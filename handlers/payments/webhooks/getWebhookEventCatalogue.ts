import document from '../../../generated/payments.3.1.json' with { type: 'json' }
import { eventApiVersion } from '../../../domain/events.ts'
import { webhookCatalogue } from '../../../domain/webhookCatalogue.ts'
import type { Handler } from '../handler.ts'

const { events, testEvent } = webhookCatalogue(document)

export const getWebhookEventCatalogue: Handler<'getWebhookEventCatalogue'> = ({ reply }) =>
  Promise.resolve(reply(200, { api_version: eventApiVersion, events, test_event: testEvent }))
