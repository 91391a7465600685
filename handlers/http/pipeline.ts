import express from 'express'
import type { Express, Request, Response } from 'express'
import { DatabaseUnavailable } from '../../db/sql.ts'
import type { Database, Sql } from '../../db/sql.ts'
import { fingerprint } from '../../domain/fingerprint.ts'
import type { Runtime } from '../../domain/runtime.ts'
import { ApiError } from '../../domain/apiError.ts'
import type { ErrorCode, ErrorDetails } from '../../domain/apiError.ts'
import { compileContract, assertHandlers } from './contract.ts'
import type { Contract } from './contract.ts'
import { allowAnyOrigin, isOpenToBrowsers, preflightHeaders } from './cors.ts'
import { Exchange, Replay } from './exchange.ts'
import type { Guard, Reply, Step } from './exchange.ts'
import type { AnyHandler } from './handler.ts'
import type { MakePages } from './pageHandler.ts'
import { assertSameRequest, idempotentRequest, replayOf } from './idempotency.ts'
import type { IdempotencyStore } from './idempotency.ts'
import type { Operation } from './operation.ts'
import { responder } from './respond.ts'
import type { Responder } from './respond.ts'
import { assertDeclared } from './responseCheck.ts'
import { routeTable } from './routeTable.ts'
import { requestIds } from './requestId.ts'

/** What is told about each request once it is answered. */
export interface Observation {
  operationId: string
  status: number
  code: string | undefined
  /** Milliseconds from the first byte to the end of the answer. */
  duration: number
  exchange: Exchange | undefined
}

export interface PipelineOptions<App> {
  document: string
  bundle: unknown
  /** In the order in which they run. The guard named `validation` reads the body. */
  guards: readonly Guard[]
  handlers: Record<string, AnyHandler>
  app: App
  database: Database
  runtime: Runtime
  idempotency?: IdempotencyStore
  /** Outside production every answer is checked against the document. */
  checkResponses: boolean
  httpsOnly: boolean
  /** Networks and addresses of proxies whose X-Forwarded-For is believed, as Express takes them. */
  trustedProxies: readonly string[]
  /** Pages beside the contract; asked for every path that is no operation's. */
  pages?: MakePages
  observe(observation: Observation): void
  /** Told what must not be shown: the cause of a 500. */
  report(error: unknown, exchange: Exchange | undefined, requestId: string): void
}

interface Route {
  operation: Operation
  steps: readonly Step[]
  handler: AnyHandler
}

/** Compiles a document, guards and handlers into an Express application. Refuses whatever does not fit together. */
export async function buildPipeline<App>(options: PipelineOptions<App>): Promise<{ express: Express, contract: Contract }> {
  const contract = await compileContract(options.document, options.bundle, options.guards)
  assertHandlers(contract, options.handlers)
  assertIdempotency(contract, options)
  const routes = contract.operations.map((operation): Route => ({
    operation,
    steps: compileSteps(operation, contract, options.guards),
    handler: options.handlers[operation.id] as AnyHandler,
  }))
  return { express: buildExpress(contract, routes, options), contract }
}

/** An operation in one transaction keeps its idempotency key through the pipeline, which needs somewhere to keep it. */
function assertIdempotency<App>({ document, operations }: Contract, { idempotency }: PipelineOptions<App>): void {
  const kept = idempotency ? [] : operations.filter(({ rules }) => rules.has('x-idempotency')).map(({ id }) => id)
  if (kept.length > 0) throw new Error(`The ${document} service cannot start:\n  ${kept.map((id) => `${id}: the service keeps no idempotency keys, so nothing enforces x-idempotency`).join('\n  ')}`)
}

function compileSteps(operation: Operation, { api }: Contract, guards: readonly Guard[]): Step[] {
  return guards.map((guard) => guard.compile(operation, api)).filter((step) => step !== null)
}

function buildExpress<App>(contract: Contract, routes: readonly Route[], options: PipelineOptions<App>): Express {
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.enable('strict routing')
  app.enable('case sensitive routing')
  app.set('trust proxy', [...options.trustedProxies])
  const answer = responder(options.httpsOnly)
  const requestIdOf = requestIds(options.runtime)
  const refuse = refusing(answer, requestIdOf, options)
  const byPath = Map.groupBy(routes, ({ operation }) => operation.path)
  const find = routeTable([...byPath].map(([path, group]) => [path, byMethod(group, contract, answer, requestIdOf, refuse, options)]))
  const pages = options.pages?.(app)
  app.use(async (request: Request, response: Response) => {
    const found = find(request.path)
    if (found) {
      request.params = found.params
      return found.target(request, response)
    }
    if (!await pages?.(request, response)) refuse(request, response, new ApiError('not_found'))
  })
  app.use((error: unknown, request: Request, response: Response, _next: unknown) => refuse(request, response, error))
  return app
}

type Serve = (request: Request, response: Response) => Promise<void> | void

/** What a path does with each method: an unknown one is 405, HEAD is answered by GET, and OPTIONS where browsers may call. */
function byMethod<App>(
  group: readonly Route[], contract: Contract, answer: Responder, requestIdOf: RequestIdOf, refuse: Refuse, options: PipelineOptions<App>,
): Serve {
  const handlers = new Map(group.map((route): [string, Serve] => [route.operation.method.toUpperCase(), serve(route, contract, answer, requestIdOf, options)]))
  const get = handlers.get('GET')
  if (get && !handlers.has('HEAD')) handlers.set('HEAD', get)
  const allow = [...handlers.keys()].join(', ')
  const open = group.filter(({ operation }) => isOpenToBrowsers(operation)).map(({ operation }) => operation.method.toUpperCase())
  return (request, response) => {
    const handler = handlers.get(request.method)
    if (handler) return handler(request, response)
    if (request.method === 'OPTIONS' && open.length > 0 && request.headers.origin) {
      response.setHeader('X-Request-Id', requestIdOf(request))
      return answer.send(response, 204, undefined, preflightHeaders(open))
    }
    return refuse(request, response, new ApiError('method_not_allowed', { headers: { Allow: allow } }))
  }
}

function serve<App>(route: Route, contract: Contract, answer: Responder, requestIdOf: RequestIdOf, options: PipelineOptions<App>): Serve {
  const { operation, steps } = route
  const open = isOpenToBrowsers(operation)
  return async (request: Request, response: Response): Promise<void> => {
    const started = performance.now()
    const requestId = requestIdOf(request)
    response.setHeader('X-Request-Id', requestId)
    if (open) allowAnyOrigin(response)
    const exchange = new Exchange(operation, request, response, requestId, options.runtime.now())
    let code: string | undefined
    let reply: Reply
    try {
      for (const step of steps) {
        const waiting = step(exchange)
        if (waiting) await waiting
      }
      reply = await run(route, exchange, options)
    } catch (thrown) {
      exchange.afterAnswer.length = 0
      if (thrown instanceof Replay) reply = thrown.reply
      else {
        const error = asApiError(thrown, exchange, requestId, options)
        code = error.code
        reply = errorReply(error, requestId)
      }
    }
    if (options.checkResponses) {
      const broken = assertDeclared(contract.api, operation, reply)
      if (broken) {
        options.report(broken, exchange, requestId)
        code = 'internal_error'
        reply = errorReply(new ApiError('internal_error'), requestId)
      }
    }
    answer.send(response, reply.status, reply.body, reply.headers)
    for (const begin of exchange.afterAnswer) begin()
    options.observe({ operationId: operation.id, status: reply.status, code, duration: performance.now() - started, exchange })
  }
}

async function run<App>({ operation, handler }: Route, exchange: Exchange, options: PipelineOptions<App>): Promise<Reply> {
  const { database, idempotency } = options
  const call = (access: object) => handler(Object.assign(contextOf(exchange, options), access) as never)
  switch (operation.transaction) {
    case 'none': return call({})
    case 'query': return database.query((sql) => call({ sql }))
    case 'read': return database.readTx((sql) => call({ sql }))
    case 'two-step': return call({ db: database })
    case 'write': return database.tx((sql) => idempotency && operation.rules.has('x-idempotency')
      ? once(exchange, sql, idempotency, () => call({ sql })) : call({ sql }))
  }
}

/** Runs the work of an idempotency key once; a twin waits on the unique index, then answers the stored reply. */
async function once(exchange: Exchange, sql: Sql, store: IdempotencyStore, work: () => Promise<Reply>): Promise<Reply> {
  const request = idempotentRequest(exchange)
  if (!request) return work()
  const earlier = await store.claim(sql, request, exchange.now)
  if (earlier) {
    assertSameRequest(earlier.fingerprint, request)
    if (earlier.reply) return replayOf(earlier.reply)
    // In one transaction a key that can be seen was answered: what is missing has been forgotten (decision 3.10).
    throw new ApiError('idempotency_key_reused', { message: 'This key was used more than 30 days ago, and its answer is no longer kept.' })
  }
  const reply = await work()
  await store.store(sql, request, reply, exchange.now)
  return reply
}

function contextOf<App>(exchange: Exchange, { app, runtime }: PipelineOptions<App>): object {
  const { operation, request } = exchange
  return {
    app, runtime,
    caller: exchange.caller, reach: exchange.reach, site: exchange.site,
    params: exchange.params, query: exchange.query, body: exchange.body, rawBody: exchange.rawBody,
    now: exchange.now, requestId: exchange.requestId, idempotencyKey: exchange.idempotencyKey, address: exchange.address,
    header: (name: string) => exchange.header(name),
    afterAnswer: (work: () => void) => void exchange.afterAnswer.push(work),
    fingerprint: () => fingerprint(operation.id, request.path, exchange.body),
    reply: (status: number, body: unknown, headers?: Record<string, string>): Reply => ({ status, body, ...(headers && { headers }) }),
    fail: (code: ErrorCode, details?: ErrorDetails): never => {
      throw new ApiError(code, details)
    },
  }
}

function asApiError<App>(thrown: unknown, exchange: Exchange | undefined, requestId: string, options: PipelineOptions<App>): ApiError {
  if (thrown instanceof ApiError) {
    // What a failure was caused by is told nowhere else.
    if (thrown.cause !== undefined) options.report(thrown, exchange, requestId)
    return withDefaults(thrown)
  }
  if (thrown instanceof DatabaseUnavailable) {
    options.report(thrown, exchange, requestId)
    return new ApiError('unavailable', { headers: { 'Retry-After': '1' } })
  }
  options.report(thrown, exchange, requestId)
  return new ApiError('internal_error')
}

/** Headers that a code never goes without. */
function withDefaults(error: ApiError): ApiError {
  const missing = error.status === 401 && !error.details.headers?.['WWW-Authenticate'] ? { 'WWW-Authenticate': 'Bearer' }
    : error.status === 503 && !error.details.headers?.['Retry-After'] ? { 'Retry-After': '1' } : undefined
  return missing ? new ApiError(error.code, { ...error.details, headers: { ...error.details.headers, ...missing } }) : error
}

function errorReply(error: ApiError, requestId: string): Reply {
  return { status: error.status, body: error.body(requestId), ...(error.details.headers && { headers: error.details.headers }) }
}

type RequestIdOf = ReturnType<typeof requestIds>
type Refuse = (request: Request, response: Response, thrown: unknown) => void

/** Answers what no operation is there for. */
function refusing<App>(answer: Responder, requestIdOf: RequestIdOf, options: PipelineOptions<App>): Refuse {
  return (request, response, thrown) => {
    const requestId = requestIdOf(request)
    response.setHeader('X-Request-Id', requestId)
    const error = asApiError(thrown, undefined, requestId, options)
    answer.send(response, error.status, error.body(requestId), error.details.headers)
    options.observe({ operationId: 'none', status: error.status, code: error.code, duration: 0, exchange: undefined })
  }
}
