import type { Sql, Database } from '../../db/sql.ts'
import type { Runtime } from '../../domain/runtime.ts'
import type { ErrorDetails } from '../../domain/apiError.ts'
import type { Caller, Reach } from './caller.ts'
import type { Reply, Site } from './exchange.ts'

type Json<Content> = Content extends { content: { 'application/json': infer Body } } ? Body : Content extends { content?: never } ? undefined : unknown
type Success<Responses> = Extract<keyof Responses, 200 | 201 | 202 | 204>
type Part<Operation, Name extends string> = Operation extends { parameters: infer Parameters }
  ? Name extends keyof Parameters ? NonNullable<Parameters[Name]> : Record<string, never>
  : Record<string, never>
type Body<Operation> = Operation extends { requestBody: { content: infer Content } }
  ? 'application/json' extends keyof Content ? Content['application/json'] : unknown
  : Operation extends { requestBody?: { content: infer Content } } ? Content extends { 'application/json': infer Parsed } ? Parsed | undefined : undefined : undefined

/** Query parameters with a default are always there once validated. */
type Access<Mode> = Mode extends 'none' ? object : Mode extends 'two-step' ? { db: Database } : { sql: Sql }

/** What a handler may answer: one of its declared successes. */
export type ReplyOf<Operation> = Operation extends { responses: infer Responses }
  ? { [Status in Success<Responses>]: { status: Status, body: Json<Responses[Status]>, headers?: Record<string, string> } }[Success<Responses>]
  : never

/** What a handler is given. Everything in it is validated, authenticated and authorised. */
export type Context<Operation, Codes extends string, Mode, App> = Access<Mode> & {
  app: App
  caller: Caller
  /** Rows within the caller's reach; only where the operation has a credential of a tenant. */
  reach: Reach
  /** The storefront that the Host stands for; only on storefront operations of the buyer's side. */
  site: Site | undefined
  params: Part<Operation, 'path'>
  query: Part<Operation, 'query'>
  body: Body<Operation>
  /** The bytes of the body as they came; only where the operation declares `x-body: raw`. */
  rawBody: Buffer
  header(name: string): string | undefined
  /** Time of the request. */
  now: Date
  runtime: Runtime
  requestId: string
  idempotencyKey: string | undefined
  /** SHA-256 of operation, path and body with sorted members (decision 3.10). */
  fingerprint(): Buffer
  address: string
  /** Begins `work` once what was written is committed and the answer is sent; never when the request fails. It must not throw. */
  afterAnswer(work: () => void): void
  reply<Status extends ReplyOf<Operation>['status']>(
    status: Status, body: Extract<ReplyOf<Operation>, { status: Status }>['body'], headers?: Record<string, string>,
  ): ReplyOf<Operation>
  /** Refuses with a code that the operation declares; another code does not compile. */
  fail: Fail<Codes>
}

/** Refuses with one of the codes. */
export type Fail<Codes extends string> = (code: Codes, details?: ErrorDetails) => never

/** Domain logic of one operation. */
export type HandlerOf<Operations, Codes, Modes, App, Id extends keyof Operations> = (
  context: Context<Operations[Id], Id extends keyof Codes ? Codes[Id] & string : never, Id extends keyof Modes ? Modes[Id] : never, App>,
) => Promise<ReplyOf<Operations[Id]> | StoredReply>

/** A reply that was stored under an idempotency key, passed on as it is. */
export interface StoredReply extends Reply {
  replayed: boolean
}

/** A handler whose types were checked where it is written. */
export type AnyHandler = (context: never) => Promise<Reply | StoredReply>
