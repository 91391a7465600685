import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { readConfiguration } from '../../domain/configuration.ts'
import { systemRuntime } from '../../domain/runtime.ts'
import type { Runtime } from '../../domain/runtime.ts'
import { apiRoutes } from './api.ts'
import { catchUp } from './completion.ts'
import { controlRoutes } from './control.ts'
import { carriesKey, readBody, readJson, Refusal, send } from './exchange.ts'
import type { Served } from './exchange.ts'
import { HeldCallbacks } from './heldCallbacks.ts'
import { Ledger } from './ledger.ts'
import { chargeOf } from './lookup.ts'
import { choose, showPage } from './pages.ts'
import { readMembers, routed } from './route.ts'
import type { Shop } from './shop.ts'

export interface SimulatorSettings {
  /** 0: any free port. */
  readonly port: number
  /** 127.0.0.1 unless told. */
  readonly host?: string
  readonly runtime: Runtime
  readonly apiKey: string
  /** Callbacks are signed under this, the secret of the credential in the callback address. */
  readonly callbackSecret: string
  /** Where callbacks go of charges that name no address of their own. */
  readonly callbackUrl: string
  /** File that keeps the charges over a restart; without it they end with the process. */
  readonly journalPath?: string
  /** How a payer's browser reaches the simulator; unless told, the address it listens on. */
  readonly publicUrl?: string
}

export interface RunningSimulator {
  readonly url: string
  readonly port: number
  /** Stops listening and ends every connection, those left without an answer among them. */
  close(): Promise<void>
}

const lateEveryMs = 500

/** Starts the provider simulator. Rejects when the port is taken or the journal is unreadable. */
export async function startSimulator(settings: SimulatorSettings): Promise<RunningSimulator> {
  const host = settings.host ?? '127.0.0.1'
  const ledger = new Ledger(settings.journalPath ?? null)
  // Longer than callers keep an idle connection: none of them writes into one that is being closed.
  const server = createServer({ keepAliveTimeout: 65_000 })
  const port = await new Promise<number>((resolve, reject) => {
    server.once('error', reject)
    server.listen(settings.port, host, () => {
      const address = server.address()
      if (typeof address === 'object' && address !== null) resolve(address.port)
      else reject(new Error('the simulator has no port'))
    })
  }).catch((error: unknown) => {
    ledger.close()
    throw error
  })
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${port}`
  const { runtime, callbackSecret: secret, callbackUrl: defaultUrl } = settings
  const shop: Shop = {
    ledger, runtime, callbacks: { runtime, secret, defaultUrl, held: new HeldCallbacks() }, publicUrl: settings.publicUrl ?? url, queue: [],
  }
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    serve(shop, settings.apiKey, request).then(
      (served) => answer(response, served),
      (error: unknown) => {
        const refusal = error instanceof Refusal ? error : new Refusal(500, 'simulator_error', 'the simulator failed')
        if (refusal !== error && !request.destroyed) report(error)
        send(response, { status: refusal.status, json: { code: refusal.code, message: refusal.message, ...refusal.members } },
          refusal.status === 413)
      },
    ).catch((error: unknown) => {
      report(error)
      response.destroy()
    })
  })
  const late = setInterval(() => {
    catchUp(shop, false).catch(report)
  }, lateEveryMs).unref()
  return {
    url,
    port,
    async close() {
      clearInterval(late)
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      await closed
      ledger.close()
    },
  }
}

function report(error: unknown): void {
  process.stderr.write(`simulator: ${String(error)}\n`)
}

function answer(response: ServerResponse, served: Served): void {
  if ('reset' in served) response.socket?.resetAndDestroy()
  else if (!('silence' in served)) send(response, served, false)
  const { after } = served
  if (after === undefined) return
  const follow = () => void after().catch(report)
  // Once the answer is on its way, so that the two arrive in this order as a rule.
  if (response.writableEnded && !response.destroyed) response.once('close', follow)
  else follow()
}

async function serve(shop: Shop, apiKey: string, request: IncomingMessage): Promise<Served> {
  const address = URL.parse(request.url ?? '', 'http://simulator')
  if (address === null) throw new Refusal(400, 'invalid_address', 'the address is malformed')
  const { pathname, searchParams: query } = address
  const method = request.method ?? ''
  if (method === 'GET' && pathname === '/health') return { status: 200, json: { status: 'ok' } }
  const [, first, reference, move, ...more] = pathname.split('/')
  if (first === 'pages' && more.length === 0) return servePages(shop, request, reference, move)
  if (!carriesKey(request, apiKey)) throw new Refusal(401, 'unauthenticated', 'the API key is missing or wrong')
  const body = readJson(await readBody(request))
  const api = routed(apiRoutes, method, pathname)
  if (api) return api.route.serve(shop, { parameters: api.parameters, query, body: body as Record<string, unknown> })
  const control = routed(controlRoutes, method, pathname)
  if (control) return control.route.serve(shop, { parameters: control.parameters, query, body: readMembers(control.route, body) })
  throw new Refusal(404, 'no_such_operation', 'the simulator has no such operation')
}

// The payer's browser has no API key: the reference in the address is what it knows.
async function servePages(
  shop: Shop, request: IncomingMessage, reference: string | undefined, move: string | undefined,
): Promise<Served> {
  const charge = chargeOf(shop, reference)
  if (request.method === 'GET' && move === undefined) return showPage(shop, charge)
  if (request.method === 'POST' && (move === 'pay' || move === 'decline')) {
    await readBody(request)
    return choose(shop, chargeOf(shop, reference), move)
  }
  throw new Refusal(404, 'no_such_operation', 'the simulator has no such operation')
}

async function runFromEnvironment(): Promise<void> {
  const configuration = readConfiguration('simulator', process.env)
  const simulator = await startSimulator({
    port: configuration.SIMULATOR_PORT,
    host: configuration.HOST,
    runtime: systemRuntime,
    apiKey: configuration.SIMULATOR_API_KEY,
    callbackSecret: configuration.SIMULATOR_CALLBACK_SECRET,
    callbackUrl: configuration.SIMULATOR_CALLBACK_URL,
    ...(configuration.SIMULATOR_JOURNAL !== '' && { journalPath: configuration.SIMULATOR_JOURNAL }),
    // A port of the system's choosing is not the one that SIMULATOR_URL names.
    ...(configuration.SIMULATOR_PORT !== 0 && { publicUrl: configuration.SIMULATOR_URL }),
  })
  process.stdout.write(`${JSON.stringify({ message: 'simulator ready', url: simulator.url })}\n`)
  process.send?.({ ready: true, port: simulator.port })
  // Without its supervisor nobody would restart or stop this process.
  for (const event of ['SIGTERM', 'SIGINT', 'disconnect'] as const) {
    process.once(event, () => {
      void simulator.close().finally(() => process.exit(0))
    })
  }
}

if (import.meta.main) {
  runFromEnvironment().catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    process.exit(1)
  })
}
