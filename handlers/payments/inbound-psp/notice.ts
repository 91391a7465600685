import { createHash } from 'node:crypto'
import type { NewProviderCallback } from '../../../db/payments/providerCallbacks.ts'
import type { CallbackReading, ChargeCallback, PaymentProvider, RefundCallback } from '../../../providers/paymentProvider.ts'

/** What of a callback is kept beside its bytes. */
export type Notice = Pick<NewProviderCallback, 'eventId' | 'headers' | 'status' | 'paymentReference' | 'outcome' | 'detail'> & { isToBeProcessed: boolean }

/** Longer names would not fit into an index. */
const longest = 200

/** Reads a verified callback as far as keeping it needs. What cannot be read is kept too, a repeat of the same bytes once. */
export function noticeOf(provider: PaymentProvider | undefined, rawBody: Buffer, header: (name: string) => string | undefined): Notice {
  const reading: CallbackReading = provider?.parseCallback(rawBody) ?? { outcome: 'unintelligible', reason: 'unknown provider' }
  const headers = Object.fromEntries((provider?.callbackHeaders ?? []).flatMap((name) => {
    const value = header(name)
    return value === undefined ? [] : [[name, value]]
  }))
  const ignored = (eventId: string, detail: string): Notice =>
    ({ eventId, headers, status: null, paymentReference: null, outcome: 'ignored', detail, isToBeProcessed: false })
  if (reading.outcome === 'unintelligible') return ignored(digest('unread', rawBody), reading.reason)
  const { callback } = reading
  if (namesOf(callback).some((name) => name !== null && !isName(name))) return ignored(digest('unread', rawBody), 'it names things by what is no name')
  const eventId = isName(callback.eventId) ? callback.eventId : digest('long', Buffer.from(callback.eventId))
  if (reading.outcome === 'refund') return ignored(eventId, `refund ${callback.key} ${callback.status}`)
  const { status, paymentReference } = reading.callback
  return { eventId, headers, status, paymentReference, outcome: 'received', detail: null, isToBeProcessed: true }
}

function namesOf(callback: ChargeCallback | RefundCallback): (string | null)[] {
  const { currency, key, reference } = callback
  return [currency, key, reference, ...('merchantReference' in callback ? [callback.merchantReference, callback.paymentReference] : [])]
}

/** No text column takes the character of number zero. */
function isName(text: string): boolean {
  return text.length <= longest && !text.includes('\0')
}

function digest(kind: string, bytes: Buffer): string {
  return `${kind}-${createHash('sha256').update(bytes).digest('hex')}`
}
