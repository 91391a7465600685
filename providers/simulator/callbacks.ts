import type { Runtime } from '../../domain/runtime.ts'
import { signCallback } from '../callbackSignature.ts'
import type { ChargeStatus } from '../paymentProvider.ts'
import type { CallbackAbout, HeldCallbacks } from './heldCallbacks.ts'
import type { StoredCharge, StoredPayment, StoredRefund } from './ledger.ts'
import type { SignatureForm, Telling } from './telling.ts'

const LIMIT_MS = 10_000
const KEPT_ANSWER = 2048
const HOUR_MS = 3_600_000

export interface CallbackSettings {
  readonly runtime: Runtime
  readonly secret: string
  /** Where callbacks go of charges that named no address. */
  readonly defaultUrl: string
  readonly held: HeldCallbacks
}

/** What became of one callback: the receiver's answer, why there is none, or under which id it is held back. */
export type CallbackReport =
  | { readonly url: string; readonly status: number; readonly body: string }
  | { readonly url: string; readonly error: string }
  | { readonly url: string; readonly held: string }

/** A callback to be told. */
export interface Notice {
  readonly about: CallbackAbout
  readonly url: string | null
  readonly body: Readonly<Record<string, unknown>>
}

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

/** The body of a callback about the refund in its present state. */
export function refundCallbackBody(refund: StoredRefund): Record<string, unknown> {
  return {
    event_id: `${refund.reference}-E${refund.notices}`,
    event: `refund.${refund.status}`,
    key: refund.key,
    reference: refund.reference,
    charge_key: refund.charge_key,
    payment_reference: refund.payment_reference,
    status: refund.status,
    currency: 'IDR',
    amount_idr: refund.amount_idr,
    completed_at: refund.completed_at,
    decline: refund.decline,
  }
}

/** Tells the notice as asked, repeats at once, and waits for the answers, at most 10 s. Held back: for nothing. */
export async function sendNotice(settings: CallbackSettings, { about, url: own, body }: Notice, telling: Telling): Promise<CallbackReport[]> {
  if (telling.silent) return []
  const said = { ...body, ...telling.says }
  for (const name of telling.without) delete said[name]
  const url = own ?? settings.defaultUrl
  const send = () => post(settings, url, said, telling)
  return Promise.all(Array.from({ length: telling.repeat }, async (): Promise<CallbackReport> => {
    if (!settings.held.holds(about)) return send()
    return { url, held: settings.held.add({ about, event: String(said.event), send }).id }
  }))
}

async function post(
  { runtime, secret }: CallbackSettings, url: string, said: Readonly<Record<string, unknown>>, { body, signature: form }: Telling,
): Promise<CallbackReport> {
  const raw = Buffer.from(body ?? JSON.stringify(said))
  try {
    const signature = signatureOf(form, raw, secret, runtime)
    const response = await runtime.fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(signature !== null && { 'x-simulator-signature': signature }) },
      body: form === 'altered-body' ? altered(raw, body === null ? said.amount_idr : null, said) : raw,
      redirect: 'manual',
      signal: AbortSignal.timeout(LIMIT_MS),
    })
    return { url, status: response.status, body: (await response.text()).slice(0, KEPT_ANSWER) }
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : ''
    return { url, error: `${error instanceof Error ? error.message : 'failed'}${cause}` }
  }
}

function signatureOf(form: SignatureForm, raw: Buffer, secret: string, runtime: Runtime): string | null {
  switch (form) {
    case 'right':
    case 'altered-body':
      return signCallback(secret, raw, runtime.now())
    case 'wrong-secret':
      return signCallback(runtime.randomBytes(32).toString('hex'), raw, runtime.now())
    case 'stale':
      return signCallback(secret, raw, new Date(runtime.now().getTime() - HOUR_MS))
    case 'malformed':
      return 'v1=signed'
    case 'missing':
      return null
  }
}

function altered(raw: Buffer, amount: unknown, said: Readonly<Record<string, unknown>>): Buffer {
  return typeof amount === 'number' ? Buffer.from(JSON.stringify({ ...said, amount_idr: amount + 1 })) : Buffer.concat([raw, Buffer.from(' ')])
}
