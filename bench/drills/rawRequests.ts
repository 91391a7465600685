import { setTimeout as wait } from 'node:timers/promises'
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
  merchant?: StagedMerchant | undefined
  path: string
  key?: string
  body?: object
}

const hangMs = 20_000
const triesAtMost = 10
const againMs = 200

/** A caller of the processes of `urls`. Never rejects. */
export function caller(urls: readonly string[]): Call {
  return async (process, { merchant, path, key, body }) => {
    for (let refusals = 0; ; refusals += 1) {
      const answer = await post(`${urls[process % urls.length]}${path}`, {
        ...(merchant && { Authorization: `Bearer ${merchant.apiKey}` }), ...(key !== undefined && { 'Idempotency-Key': key }),
        ...(body && { 'Content-Type': 'application/json' }),
      }, body)
      if (answer.status !== 503 || refusals >= triesAtMost) return { ...answer, refusals }
      await wait(againMs)
    }
  }
}

async function post(url: string, headers: Record<string, string>, body?: object): Promise<Omit<RawAnswer, 'refusals'>> {
  try {
    const response = await fetch(url, { method: 'POST', headers, ...(body && { body: JSON.stringify(body) }), signal: AbortSignal.timeout(hangMs) })
    const text = await response.text()
    return { status: response.status, text, body: JSON.parse(text) as Record<string, unknown> }
  } catch (error) {
    return { status: null, text: String(error), body: {} }
  }
}
