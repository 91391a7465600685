import createClient from 'openapi-fetch'
import type { IncomingMessage, RequestListener } from 'node:http'
import type { components, paths } from '../generated/payments.ts'
import { callInProcess } from './inProcess.ts'

export type Checkout = components['schemas']['PublicCheckout']
export type Attempt = components['schemas']['PublicAttempt']

/** What the public operations refuse with. */
export interface Refusal {
  status: number
  code: string
  /** Seconds after which to try again, where that is known. */
  retrySeconds: number | null
}

export type Result<Value> = { value: Value } | { refusal: Refusal }

/** The public operations, as the pages use them; they know nothing else of a payment. */
export interface PublicCheckouts {
  read(shortcode: string, attemptId: string | undefined): Promise<Result<Checkout>>
  choose(shortcode: string, channel: string): Promise<Result<Attempt>>
  /** Brings the result of a 3-D-Secure challenge. */
  answerChallenge(intentId: string, authCode: string): Promise<Result<unknown>>
}

/** The public operations on behalf of whoever sent `page`. */
export function publicCheckouts(pipeline: RequestListener, page: IncomingMessage): PublicCheckouts {
  const client = createClient<paths>({ baseUrl: 'http://pages.invalid', fetch: callInProcess(pipeline, page) })
  const result = <Value>({ data, error, response }: { data?: Value, error?: unknown, response: Response }): Result<Value> =>
    response.ok ? { value: data as Value } : { refusal: refusalOf(error, response) }
  return {
    read: async (shortcode, attemptId) => result(await client.GET('/v1/public/payments/intents/{shortcode}', {
      params: { path: { shortcode }, query: attemptId === undefined ? {} : { attempt_id: attemptId } },
    })),
    choose: async (shortcode, channel) => result(await client.POST('/v1/public/payments/intents/{shortcode}/attempts', {
      params: { path: { shortcode } }, body: { channel },
    })),
    answerChallenge: async (intentId, authCode) => result(await client.POST('/v1/payments/intents/{id}/3ds-callback', {
      params: { path: { id: intentId }, query: { auth_code: authCode } },
    })),
  }
}

function refusalOf(error: unknown, response: Response): Refusal {
  const code = (error as { error?: unknown } | undefined)?.error
  const seconds = Number(response.headers.get('retry-after') ?? NaN)
  return { status: response.status, code: typeof code === 'string' ? code : 'internal_error', retrySeconds: Number.isFinite(seconds) ? seconds : null }
}
