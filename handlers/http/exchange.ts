import type { Request, Response } from 'express'
import type { OpenAPIBackend } from 'openapi-backend'
import type { Caller, Reach } from './caller.ts'
import type { Operation } from './operation.ts'

/** A storefront that a request's Host stands for. */
export interface Site {
  tenantId: string
  storeId: string
  host: string
}

/** An answer of a handler: status, JSON body and headers. */
export interface Reply {
  status: number
  body: unknown
  headers?: Record<string, string>
}

/** One request on its way through the guards. Each guard fills in what it has proven. */
export class Exchange {
  readonly operation: Operation
  readonly request: Request
  readonly response: Response
  readonly requestId: string
  readonly now: Date
  /** Address of the client, taken through trusted proxies only. */
  readonly address: string
  caller: Caller = { kind: 'anonymous' }
  reach: Reach | undefined
  site: Site | undefined
  params: Record<string, unknown> = {}
  query: Record<string, unknown> = {}
  body: unknown = undefined
  rawBody: Buffer | undefined
  idempotencyKey: string | undefined
  /** What begins once the answer is sent. */
  readonly afterAnswer: (() => void)[] = []

  constructor(operation: Operation, request: Request, response: Response, requestId: string, now: Date) {
    this.operation = operation
    this.request = request
    this.response = response
    this.requestId = requestId
    this.now = now
    this.address = request.ip ?? ''
  }

  header(name: string): string | undefined {
    const value = this.request.headers[name.toLowerCase()]
    return Array.isArray(value) ? value.join(', ') : value
  }
}

/** Ends the guards early with a stored answer. */
export class Replay {
  readonly reply: Reply
  constructor(reply: Reply) {
    this.reply = reply
  }
}

/** One compiled check of one operation. It throws an ApiError, or a Replay. */
export type Step = (exchange: Exchange) => void | Promise<void>

/** A kind of check: which x- keys it enforces, and how it is compiled for an operation that needs it. */
export interface Guard {
  name: string
  /** The x- keys of an operation that this guard enforces. */
  enforces: readonly string[]
  /** Null when the operation does not need it. Throws when the service cannot enforce what the operation declares. */
  compile(operation: Operation, api: OpenAPIBackend): Step | null
}
