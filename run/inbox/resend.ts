import { readFileSync } from 'node:fs'
import createClient from 'openapi-fetch'
import type { Runtime } from '../../domain/runtime.ts'
import type { paths } from '../../generated/payments.ts'
import type { Credentials } from '../credentials.ts'
import type { Resend } from './deliveries.ts'

export type AskForResend = (deliveryId: string) => Promise<Omit<Resend, 'at'>>

const timeoutMs = 10_000
const notYet = 'The development run has not logged its owner in yet: try again in a few seconds.'

/** Whether payments could know such a delivery: the header of an attempt holds its UUID. */
export function isDeliveryId(text: string | null): text is string {
  return text !== null && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)
}

/**
 * Asks payments to send a delivery once more (replayWebhookDelivery), as the demo merchant's owner. `credentialsFile` is what the run
 * writes; it is read each time, since tokens in it are renewed. Never throws: what went wrong is said in words.
 */
export function resending(credentialsFile: string, { fetch }: Pick<Runtime, 'fetch'>): AskForResend {
  return async (deliveryId) => {
    const credentials = readCredentials(credentialsFile)
    const token = credentials?.owner?.access_token
    if (!credentials?.payments_url || !token) return { accepted: false, message: notYet }
    const client = createClient<paths>({ baseUrl: credentials.payments_url, fetch: (request) => fetch(request, { signal: AbortSignal.timeout(timeoutMs) }) })
    try {
      const { data, error, response } = await client.POST('/v1/payments/settings/webhook-deliveries/{id}/replay', {
        params: { path: { id: deliveryId } }, headers: { Authorization: `Bearer ${token}` },
      })
      if (data) {
        return { accepted: true, message: data.status === 'in_flight' ? 'It is on its way already.' : 'Payments sends it again now: it comes as a new attempt.' }
      }
      return { accepted: false, message: refusal(response, (error as { message?: string } | undefined)?.message ?? '') }
    } catch (error) {
      return { accepted: false, message: `Payments cannot be reached at ${credentials.payments_url}: ${causeOf(error)}.` }
    }
  }
}

function readCredentials(file: string): Partial<Credentials> | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Partial<Credentials>
  } catch {
    // It is not there before the first log-in, and for a moment half written.
    return null
  }
}

function refusal({ status, headers }: Response, message: string): string {
  switch (status) {
    case 401: return `Payments does not accept the owner's token (401): the run renews it, try again in a few seconds.`
    case 404: return 'Payments does not know this delivery (404): a test fire cannot be sent again, and old ones are forgotten.'
    case 409: return `Payments cannot send it now (409): ${message} A subscription that failures turned off is on again after make run is started anew.`
    case 429: return `It has been sent again just now (429): wait ${headers.get('Retry-After') ?? 'a few'} s.`
    default: return `Payments refused (${status})${message === '' ? '' : `: ${message}`}.`.replace('..', '.')
  }
}

function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'TimeoutError') return `no answer within ${timeoutMs / 1000} s`
  const { cause } = error as { cause?: { code?: string } }
  return cause?.code ?? error.message
}
