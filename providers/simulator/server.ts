import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { readConfiguration } from '../../domain/configuration.ts'
import { systemRuntime } from '../../domain/runtime.ts'
import type { Runtime } from '../../domain/runtime.ts'
import { readBehaviour } from './behaviours.ts'
import type { Queued } from './behaviours.ts'
import { expire, viewOf } from './charges.ts'
import type { Shop } from './charges.ts'
import { payLate } from './completion.ts'
import { listCharges, moveCharge, payLateNow } from './control.ts'
import { createCharge } from './creation.ts'
import { carriesKey, noAnswer, readBody, readJson, Refusal, send } from './exchange.ts'
import type { Reply } from './exchange.ts'
import { Ledger } from './ledger.ts'
import type { StoredCharge } from './ledger.ts'
import { choose, showPage } from './pages.ts'

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
  const server = createServer()
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
    ledger, runtime, callbacks: { runtime, secret, defaultUrl }, publicUrl: settings.publicUrl ?? url,
  }
  const queue: Queued[] = []
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    serve(shop, queue, settings.apiKey, request).then(
      (reply) => {
        if (reply !== noAnswer) send(response, reply, false)
      },
      (error: unknown) => {
        const refusal = error instanceof Refusal ? error : new Refusal(500, 'simulator_error', 'the simulator failed')
        if (refusal !== error && !request.destroyed) process.stderr.write(`simulator: ${String(error)}\n`)
        send(response, { status: refusal.status, json: { code: refusal.code, message: refusal.message } },
          refusal.status === 413)
      },
    ).catch((error: unknown) => {
      process.stderr.write(`simulator: ${String(error)}\n`)
      response.destroy()
    })
  })
  const late = setInterval(() => {
    payLate(shop).catch((error: unknown) => process.stderr.write(`simulator: ${String(error)}\n`))
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

const moves = ['pay', 'complete', 'decline', 'expire', 'reverse']

async function serve(
  shop: Shop, queue: Queued[], apiKey: string, request: IncomingMessage,
): Promise<Reply | typeof noAnswer> {
  const address = URL.parse(request.url ?? '', 'http://simulator')
  if (address === null) throw new Refusal(400, 'invalid_address', 'the address is malformed')
  const [first, second, third, fourth, ...more] = address.pathname.split('/').slice(1)
  const at = `${request.method} /${first}`
  if (at === 'GET /health' && second === undefined) return { status: 200, json: { status: 'ok' } }
  if (first === 'pages' && fourth === undefined) return servePages(shop, request, second, third)
  if (!carriesKey(request, apiKey)) throw new Refusal(401, 'unauthenticated', 'the API key is missing or wrong')
  const body = readJson(await readBody(request))

  if (at === 'POST /charges' && second === undefined) return createCharge(shop, queue, body)
  if (at === 'GET /charges' && second === undefined) return findCharge(shop, address.searchParams.get('key'))
  if (at === 'POST /charges' && third === 'expire' && fourth === undefined) {
    return { status: 200, json: viewOf(shop, expire(shop, chargeOf(shop, second))) }
  }
  if (at === 'GET /control' && second === 'charges' && third === undefined) {
    return listCharges(shop, address.searchParams)
  }
  if (at === 'POST /control' && second === 'charges' && more.length === 0) {
    if (fourth !== undefined && moves.includes(fourth)) {
      return moveCharge(shop, chargeOf(shop, third), fourth, body)
    }
  }
  if (at === 'POST /control' && third === undefined && second === 'next') {
    queue.push(readBehaviour(body))
    return { status: 200, json: { queued: queue.length } }
  }
  if (at === 'POST /control' && third === undefined && second === 'late') return payLateNow(shop)
  if (at === 'POST /control' && third === undefined && second === 'reset') {
    queue.length = 0
    shop.ledger.reset()
    return { status: 200, json: { queued: 0 } }
  }
  throw new Refusal(404, 'no_such_operation', 'the simulator has no such operation')
}

// The payer's browser has no API key: the reference in the address is what it knows.
async function servePages(
  shop: Shop, request: IncomingMessage, reference: string | undefined, move: string | undefined,
): Promise<Reply> {
  const charge = chargeOf(shop, reference)
  if (request.method === 'GET' && move === undefined) return showPage(shop, charge)
  if (request.method === 'POST' && (move === 'pay' || move === 'decline')) {
    await readBody(request)
    return choose(shop, chargeOf(shop, reference), move)
  }
  throw new Refusal(404, 'no_such_operation', 'the simulator has no such operation')
}

function findCharge(shop: Shop, key: string | null): Reply {
  if (key === null || key === '') throw new Refusal(400, 'invalid_request', 'the query needs key')
  const charge = shop.ledger.byKey(key)
  return { status: 200, json: { charges: charge === undefined ? [] : [viewOf(shop, charge)] } }
}

function chargeOf(shop: Shop, reference: string | undefined): StoredCharge {
  const charge = reference === undefined ? undefined : shop.ledger.byReference(reference)
  if (charge === undefined) throw new Refusal(404, 'charge_not_found', 'there is no such charge')
  return charge
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
