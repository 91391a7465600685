import { errors } from '../generated/errors.ts'

/** A code of the error catalogue, `spec/http/error-codes.yaml`. */
export type ErrorCode = keyof typeof errors

/** What an error tells beyond its code. Everything here is public; what is not goes to the log. */
export interface ErrorDetails {
  /** Replaces the catalogue's text. */
  message?: string
  /** Dotted path to reason. */
  fields?: Record<string, string>
  /** Members of the body that the catalogue declares for the code. */
  members?: Record<string, unknown>
  /** Response headers that the catalogue declares for the code. */
  headers?: Record<string, string>
}

/** A refusal or failure that is told to the caller as it stands. */
export class ApiError extends Error {
  readonly code: ErrorCode
  readonly details: ErrorDetails

  /** `cause` is for the log and never told. */
  constructor(code: ErrorCode, details: ErrorDetails = {}, cause?: unknown) {
    super(details.message ?? errors[code].message, cause === undefined ? undefined : { cause })
    this.name = 'ApiError'
    this.code = code
    this.details = details
  }

  get status(): number {
    return errors[this.code].status
  }

  /** The error body (decision 1.6). */
  body(requestId: string): Record<string, unknown> {
    const { fields, members } = this.details
    return { error: this.code, message: this.message, request_id: requestId, ...(fields && { fields }), ...members }
  }
}
