// node bench/pipelineServer.ts <pipeline|pipeline-checked|express|http> <api key>: one server under measurement, asked over IPC.
import { createServer } from 'node:http'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import type { Database, Sql } from '../db/sql.ts'
import { digestOfApiKey } from '../domain/apiKeys.ts'
import { systemRuntime } from '../domain/runtime.ts'
import type { Caller } from '../handlers/http/caller.ts'
import type { Guard } from '../handlers/http/exchange.ts'
import type { AnyHandler } from '../handlers/http/handler.ts'
import { authenticate } from '../handlers/http/guards/authenticate.ts'
import { authorize } from '../handlers/http/guards/authorize.ts'
import { environment } from '../handlers/http/guards/environment.ts'
import { module } from '../handlers/http/guards/module.ts'
import { clientRateLimit, rateLimit } from '../handlers/http/guards/rateLimit.ts'
import { replay } from '../handlers/http/guards/replay.ts'
import { stepUp } from '../handlers/http/guards/stepUp.ts'
import { buildPipeline } from '../handlers/http/pipeline.ts'
import { validation } from '../handlers/http/validation.ts'
import { createMetrics } from '../handlers/metrics.ts'
import { operationsOf } from '../spec/house/openapi.ts'
import { sampleThing, syntheticDocument } from './syntheticDocument.ts'

/** What a handler of the sample gets from its pipeline. */
interface Context {
  reply(status: number, body: unknown): { status: number, body: unknown }
}

const listLength = 10
const list = () => ({ data: Array.from({ length: listLength }, () => sampleThing), page: 2, limit: 20, total: 21 })
const kinds: Record<string, (apiKey: string) => Promise<RequestListener>> = {
  pipeline: (apiKey) => pipeline(apiKey, false),
  'pipeline-checked': (apiKey) => pipeline(apiKey, true),
  express: async () => {
    const app = express()
    app.disable('x-powered-by')
    app.disable('etag')
    app.all('/{*path}', answerPlainly)
    return app
  },
  http: async () => answerPlainly,
}

async function pipeline(apiKey: string, checkResponses: boolean): Promise<RequestListener> {
  const document = syntheticDocument()
  const statements = undefined as unknown as Sql
  const database: Database = {
    query: (work) => work(statements), tx: (work) => work(statements), readTx: (work) => work(statements),
    stats: () => ({ max: 0, busy: 0, waiting: 0, poolsReplaced: 0 }), end: async () => undefined,
  }
  const metrics = createMetrics('bench')
  const started = performance.now()
  const { express: app } = await buildPipeline({
    document: 'synthetic', bundle: document, guards: guards(apiKey, document, database), handlers: handlersOf(document), app: {}, database,
    runtime: systemRuntime, idempotency: noReplies, checkResponses, httpsOnly: true, trustedProxies: [],
    observe: (observation) => metrics.observe(observation),
    report: (error) => process.stderr.write(`${String(error)}\n`),
  })
  compileMs = performance.now() - started
  return app
}

let compileMs = 0
const noReplies = { claim: async () => null, find: async () => null, store: async () => undefined }

function handlersOf(document: ReturnType<typeof syntheticDocument>): Record<string, AnyHandler> {
  const one = (async ({ reply }: Context) => reply(200, { ...sampleThing })) as unknown as AnyHandler
  const created = (async ({ reply }: Context) => reply(201, { ...sampleThing })) as unknown as AnyHandler
  const page = (async ({ reply }: Context) => reply(200, list())) as unknown as AnyHandler
  return Object.fromEntries(operationsOf(document).map(({ operation: { operationId } }) =>
    [operationId, operationId.startsWith('list') ? page : operationId.startsWith('create') ? created : one]))
}

/** The guards of the payments service in their order; only what they would ask the database is known beforehand. */
function guards(apiKey: string, document: ReturnType<typeof syntheticDocument>, database: Database): Guard[] {
  const limits = { perCaller: 1_000_000, perAddress: 1_000_000 }
  const clock = () => performance.now()
  const scopes = operationsOf(document).flatMap(({ operation }) => operation['x-caller']?.scope?.slice(0, 1) ?? [])
  const caller: Caller = {
    kind: 'api_key', id: 'bench', tenantId: 'tenant', merchantId: 'merchant', scopes: [...new Set(scopes)].sort(), prefix: apiKey.slice(0, 12), createdBy: 'bench',
  }
  const digest = digestOfApiKey(apiKey)
  return [
    environment('sandbox'),
    authenticate({
      environment: 'sandbox', tokens: { verify: () => Promise.reject(new Error('no tokens here')) },
      apiKey: async (asked) => asked.equals(digest) ? caller : null, provider: async () => null,
    }),
    module(async () => ['reports']), authorize(), stepUp(), rateLimit(limits, clock), validation(), clientRateLimit(limits, clock),
    replay(noReplies, database),
  ]
}

/** The same bytes as the pipeline's answers, without anything of its own. */
const plainThing = Buffer.from(JSON.stringify(sampleThing))
const plainList = Buffer.from(JSON.stringify(list()))

function answerPlainly(request: IncomingMessage, response: ServerResponse): void {
  request.on('data', () => undefined)
  request.on('end', () => {
    const bytes = request.url?.includes('?') ? plainList : plainThing
    response.setHeader('Content-Type', 'application/json')
    response.setHeader('Content-Length', bytes.length)
    response.end(bytes)
  })
}

const [kind = '', apiKey = ''] = process.argv.slice(2)
const build = kinds[kind]
if (!build) throw new Error(`say which server: ${Object.keys(kinds).join(', ')}`)
const server = createServer({ keepAliveTimeout: 60_000 }, await build(apiKey))
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port, compileMs }))
process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send?.({ cpuMicroseconds: user + system })
})
process.on('disconnect', () => process.exit(0))
