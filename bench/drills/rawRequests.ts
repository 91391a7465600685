import { setTimeout as wait } from 'node:timers/promises'
import { hasRetryAfter } from './requests.ts'
import type { Operation, Try } from './requests.ts'
import type { StagedMerchant } from './stage.ts'

/** An answer to the byte. */
export interface RawAnswer {
  /** Null when there was none. */
  status: number | null
  text: string
  body: Record<string, unknown>
  /** Times it was answered 503 with Retry-After before. */
  refusals: number
}

/** Sends a POST to the process of that number, counted round, and again as long as it is asked to try again. */
export type Call = (process: number, request: RawRequest) => Promise<RawAnswer>

export interface RawRequest {
  operation: Operation
  merchant?: StagedMerchant | undefined
  path: string
  key?: string
  body?: object
}

const hangMs = 20_000
const triesAtMost = 10
const againMs = 200

/** A caller of the processes of `urls`, which records each request in `tries` once it is over. Never rejects. */
export function caller(urls: readonly string[], tries: Try[]): Call {
  return async (asked, { operation, merchant, path, key, body }) => {
    const process = asked % urls.length
    for (let refusals = 0; ; refusals += 1) {
      const began = performance.now()
      const { retryAfter, ...answer } = await post(`${urls[process]}${path}`, {
        ...(merchant && { Authorization: `Bearer ${merchant.apiKey}` }), ...(key !== undefined && { 'Idempotency-Key': key }),
        ...(body && { 'Content-Type': 'application/json' }),
      }, body)
      const { status, text } = answer
      const problem = status === null || status >= 400 ? text : ''
      tries.push({ operation, process, began, ended: performance.now(), status, retryAfter, problem, again: refusals > 0 })
      if (status !== 503 || !retryAfter || refusals >= triesAtMost) return { ...answer, refusals }
      await wait(againMs)
    }
  }
}

async function post(
  url: string, headers: Record<string, string>, body?: object,
): Promise<Omit<RawAnswer, 'refusals'> & { retryAfter: boolean }> {
  try {
    const response = await fetch(url, { method: 'POST', headers, ...(body && { body: JSON.stringify(body) }), signal: AbortSignal.timeout(hangMs) })
    const text = await response.text()
    return { status: response.status, text, body: JSON.parse(text) as Record<string, unknown>, retryAfter: hasRetryAfter(response) }
  } catch (error) {
    return { status: null, text: String(error), body: {}, retryAfter: false }
  }
}
