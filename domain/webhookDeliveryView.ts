import type { components } from '../generated/payments.ts'

type DeliveryView = components['schemas']['WebhookDelivery']
type AttemptView = components['schemas']['WebhookDeliveryAttempt']

interface DeliveryRow {
  id: string
  merchant_id: string
  subscription_id: string
  event_id: string
  kind: string
  origin: string
  status: string
  dead_reason: string | null
  attempt: number
  round_failures: number
  due_at: Date | null
  lease_token: string | null
  created_at: Date
  ended_at: Date | null
  subscription_active: boolean
  last_outcome: string | null
  last_status: number | null
  last_error: string | null
}

interface AttemptRow {
  id: string
  number: number
  outcome: string | null
  status: number | null
  response_headers: Record<string, string> | null
  response_body: Buffer | null
  duration_ms: number | null
  error: string | null
  started_at: Date
  ended_at: Date | null
}

/** A delivery as its merchant sees it. In flight: an attempt holds it, for whatever was recorded before. */
export function webhookDeliveryView(row: DeliveryRow): DeliveryView {
  const inFlight = row.lease_token !== null
  return {
    id: row.id,
    merchant_id: row.merchant_id,
    subscription_id: row.subscription_id,
    event_id: row.event_id,
    event: row.kind,
    origin: row.origin,
    status: inFlight ? 'in_flight' : row.status,
    dead_reason: row.dead_reason,
    attempt_count: row.attempt,
    round_failures: row.round_failures,
    next_attempt_at: inFlight || !row.subscription_active ? null : row.due_at?.toISOString() ?? null,
    last_status: row.last_status,
    last_error: errorOf(row.last_outcome, row.last_error),
    created_at: row.created_at.toISOString(),
    ended_at: row.ended_at?.toISOString() ?? null,
  }
}

/** An attempt with what the receiver answered, or why no answer came. */
export function webhookAttemptView(row: AttemptRow): AttemptView {
  const error = errorOf(row.outcome, row.error)
  const body = row.response_body && readBody(row.response_body)
  return {
    delivery_id: row.id,
    number: row.number,
    outcome: row.outcome,
    status: row.status,
    duration_ms: row.duration_ms,
    response_headers: row.response_headers,
    response_body: body?.text ?? null,
    response_body_encoding: body?.encoding ?? null,
    error,
    error_message: error && (messages[error]?.(row.status) ?? 'The delivery failed.'),
    started_at: row.started_at.toISOString(),
    ended_at: row.ended_at?.toISOString() ?? null,
  }
}

function errorOf(outcome: string | null, error: string | null): string | null {
  return outcome === 'lost' ? 'lost' : error
}

/** What each word of `error` means, to somebody who runs the receiver. */
const messages: Record<string, (status: number | null) => string> = {
  status: (status) => `The receiver answered ${status ?? 'no 2xx'}. Only a 2xx accepts a delivery.`,
  redirect: (status) => `The receiver answered ${status ?? '3xx'}, a redirect. None is followed: give the subscription the final address.`,
  timeout: () => 'No complete answer came within 30 seconds. Answer as soon as the event is stored.',
  name_not_resolved: () => 'The host name of the url could not be resolved to an address.',
  address_refused: () => 'The host name of the url leads to an address that is not public. Webhooks are sent to public addresses only.',
  connection_refused: () => 'The receiver refused the connection: nothing listens there, or a firewall says so.',
  connection_reset: () => 'The connection was closed before a complete answer came.',
  tls: () => 'No trusted TLS connection came about: the certificate is expired, incomplete, for another name or of an unknown issuer.',
  protocol: () => 'What came back is no valid HTTP answer.',
  connection_failed: () => 'The connection failed.',
  lost: () => 'The sender ended before an answer came. It counts neither as success nor as failure, and the attempt was made anew.',
}

const keptBytes = 2048

/** Text where the bytes are UTF-8, a character that is cut off at the limit aside; else base64. */
function readBody(bytes: Buffer): { text: string, encoding: 'utf-8' | 'base64' } {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  try {
    // As a stream, an unfinished character at the end is no error.
    return { text: decoder.decode(bytes, { stream: bytes.length >= keptBytes }), encoding: 'utf-8' }
  } catch {
    return { text: bytes.toString('base64'), encoding: 'base64' }
  }
}
