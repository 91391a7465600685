import type { Runtime } from '../domain/runtime.ts'
import type { Unsettled } from './paymentProvider.ts'
import { parseJson } from './readJson.ts'

/** Limit of one call in milliseconds, from connecting to the last byte (decision 3.3). */
const usualLimitMs = 8000

/** What came of one call to a provider. */
export interface ProviderAnswer {
  readonly status: number
  /** Undefined where the body is not JSON. */
  readonly json: unknown
  /** Of an answer that asks for patience. */
  readonly retryAfterSeconds: number | null
}

export interface CallSettings {
  readonly runtime: Pick<Runtime, 'fetch'>
  /** 8000 unless told. */
  readonly callLimitMs?: number
}

export interface ProviderRequest {
  readonly method: 'GET' | 'POST'
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Sent as JSON; undefined: nothing is. */
  readonly body?: unknown
}

/**
 * Calls a provider once, in `withinMs` where that is less than its limit. Never throws: no answer, one cut short, or one
 * after the limit is unknown.
 */
export async function callProvider(
  { runtime, callLimitMs = usualLimitMs }: CallSettings, { method, url, headers, body }: ProviderRequest, withinMs = callLimitMs,
): Promise<ProviderAnswer | Unsettled> {
  try {
    const response = await runtime.fetch(url, {
      method,
      headers: { ...headers, 'content-type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
      redirect: 'error',
      signal: AbortSignal.timeout(Math.min(callLimitMs, withinMs)),
    })
    return { status: response.status, json: parseJson(await response.text()), retryAfterSeconds: secondsIn(response.headers.get('retry-after')) }
  } catch (error) {
    return unknown(describe(error))
  }
}

/**
 * What an answer that decides nothing leaves to believe. 401 and 403 come from a door that knows us not, and 429 from one
 * that lets nobody through for now, whatever the form of their bodies: nothing was done behind it.
 */
export function unsettled({ status, json, retryAfterSeconds }: ProviderAnswer, code: string | null): Unsettled {
  const reason = `status ${status}${code === null ? '' : ` ${code}`}${json === undefined ? ', not JSON' : ''}`
  if (status === 401 || status === 403) return { outcome: 'misconfigured', reason }
  return status === 429 ? { outcome: 'retryable', reason, retryAfterSeconds } : unknown(reason)
}

/** The provider may or may not have acted; `reason` is for the log. */
export function unknown(reason: string): Unsettled {
  return { outcome: 'unknown', reason }
}

function secondsIn(header: string | null): number | null {
  return header !== null && /^\d{1,6}$/.test(header) ? Number(header) : null
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return 'call failed'
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : ''
  return `${error.name}: ${error.message}${cause}`
}
