import type { Runtime } from '../../domain/runtime.ts'
import { signCallback } from '../callbackSignature.ts'
import type { ChargeStatus } from '../paymentProvider.ts'
import type { StoredCharge, StoredPayment } from './ledger.ts'

const LIMIT_MS = 10_000
const KEPT_ANSWER = 2048

export interface CallbackSettings {
  readonly runtime: Runtime
  readonly secret: string
  /** Where callbacks go of charges that named no address. */
  readonly defaultUrl: string
}

/** What became of one callback: the receiver's answer, or why there is none. */
export type CallbackReport =
  | { readonly url: string; readonly status: number; readonly body: string }
  | { readonly url: string; readonly error: string }

/** The body of a callback about the charge in its present state. */
export function callbackBody(
  charge: StoredCharge, status: ChargeStatus, payment: StoredPayment | null,
): Record<string, unknown> {
  return {
    event_id: `${charge.reference}-E${charge.notices}`,
    event: `charge.${status}`,
    key: charge.key,
    reference: charge.reference,
    merchant_reference: charge.merchant_reference,
    channel: charge.channel,
    status,
    currency: 'IDR',
    amount_idr: payment?.amount_idr ?? charge.amount_idr,
    payment_reference: payment?.reference ?? null,
    completed_at: payment?.completed_at ?? null,
    decline: status === 'failed' ? charge.decline : null,
    payer: payment === null ? null : {
      issuer: 'SIMULATED ISSUER',
      bank_code: charge.fields.va_bank ?? null,
      account_number: charge.fields.va_number === undefined ? null : `90${charge.fields.va_number.slice(-8)}`,
      account_name: charge.fields.va_number === undefined ? null : 'SIMULATED PAYER',
    },
  }
}

/** Sends one signed callback and waits for its answer, at most 10 s. Never rejects. */
export async function sendCallback(
  settings: CallbackSettings, charge: StoredCharge, body: Record<string, unknown>,
): Promise<CallbackReport> {
  const { runtime, secret, defaultUrl } = settings
  const url = charge.callback_url ?? defaultUrl
  const raw = Buffer.from(JSON.stringify(body))
  try {
    const signature = signCallback(secret, raw, runtime.now())
    const response = await runtime.fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-simulator-signature': signature },
      body: raw,
      redirect: 'manual',
      signal: AbortSignal.timeout(LIMIT_MS),
    })
    return { url, status: response.status, body: (await response.text()).slice(0, KEPT_ANSWER) }
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : ''
    return { url, error: `${error instanceof Error ? error.message : 'failed'}${cause}` }
  }
}
