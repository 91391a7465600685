import type { StagedMerchant } from './stage.ts'

export type Operation =
  | 'createPaymentIntent' | 'getPaymentIntent' | 'listPaymentIntents' | 'cancelPaymentIntent' | 'choosePublicCheckoutChannel'
  | 'sandboxCompletePaymentIntent' | 'sandboxExpirePaymentIntent' | 'getReadiness' | 'getHealth' | 'repeat'

/** One request, as its caller saw it. Times are milliseconds of this process's clock. */
export interface Try {
  operation: Operation
  /** Index of the process asked. */
  process: number
  began: number
  ended: number
  /** Null when there was no answer. */
  status: number | null
  retryAfter: boolean
  problem: string
  /** A key sent before and not answered yet. */
  again: boolean
}

export interface OutgoingRequest {
  merchant?: StagedMerchant
  path: string
  key?: string
  body?: object
  /** Default: POST with a body, GET without. */
  method?: 'POST'
  again?: boolean
}

export interface Answer {
  status: number | null
  body: { id?: string, [member: string]: unknown }
  problem: string
}

export type Send = (operation: Operation, process: number, request: OutgoingRequest) => Promise<Answer>

/** Above every limit that is judged: what takes this long hangs. */
const hangMs = 20_000

/** Sends requests to the processes of `urls` and records each in `tries` once it is over. Never rejects. */
export function recordedSend(urls: readonly string[], tries: Try[]): Send {
  return async (operation, process, request) => {
    const began = performance.now()
    const { answer, retryAfter } = await exchange(`${urls[process]}${request.path}`, request)
    const { status, problem } = answer
    const again = request.again ?? false
    tries.push({ operation, process, began, ended: performance.now(), status, retryAfter, problem, again })
    return answer
  }
}

async function exchange(
  url: string, { merchant, key, body, method }: OutgoingRequest,
): Promise<{ answer: Answer, retryAfter: boolean }> {
  try {
    const response = await fetch(url, {
      method: method ?? (body ? 'POST' : 'GET'),
      headers: {
        ...(merchant && { Authorization: `Bearer ${merchant.apiKey}` }), ...(key && { 'Idempotency-Key': key }),
        ...(body && { 'Content-Type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(hangMs),
    })
    const read = JSON.parse(await response.text()) as Answer['body']
    const problem = typeof read.message === 'string' ? read.message : ''
    return { answer: { status: response.status, body: read, problem }, retryAfter: hasRetryAfter(response) }
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : ''
    return { answer: { status: null, body: {}, problem: `${String(error)} ${cause}` }, retryAfter: false }
  }
}

/** Whether an answer says in how many seconds to ask again. */
export function hasRetryAfter({ headers }: Response): boolean {
  return /^\d+$/.test(headers.get('retry-after') ?? '')
}

export function isSuccess(status: number | null): boolean {
  return status !== null && status >= 200 && status < 300
}

/** No answer, or one that asks to try again. */
export function isFailed({ status }: Pick<Answer, 'status'>): boolean {
  return status === null || status >= 500
}

export function isRefused({ status }: Pick<Answer, 'status'>): boolean {
  return status !== null && status >= 400 && status < 500
}
