// A receiver of webhooks in a process of its own: what it does with a request stands in the path. It tells its parent of
// every request, many at a time.
import type { ServerResponse } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { openReceiver } from '../../contract-tests/harness/tlsReceiver.ts'
import type { ReceivedRequest } from '../../contract-tests/harness/tlsReceiver.ts'

/** One request: when it had arrived (milliseconds since 1970), where, which event, under which delivery id, about which intent. */
export type Arrival = [at: number, path: string, event: string, delivery: string, intent: string | null]

export interface ReceiverReport {
  arrivals: Arrival[]
  /** Requests whose sender went away before they were answered. */
  cuts: [at: number, event: string, delivery: string][]
}

export interface ReceiverReady {
  url: string
  /** The same with a certificate that nobody vouches for. */
  untrustedUrl: string
  certificate: string
}

const reportEveryMs = 50
const bigBody = Buffer.alloc(10_000_000, 'a')
let report: ReceiverReport = { arrivals: [], cuts: [] }
const now = (): number => performance.timeOrigin + performance.now()

/** `/<behaviour>/<value>/<anything>`, as `/status/404`, `/sleep/30000`, `/reset`, `/big`, `/later/7` (429 with Retry-After), `/redirect/302`. */
async function answer(path: string, response: ServerResponse): Promise<void> {
  const [, behaviour, value = ''] = path.split('/')
  switch (behaviour) {
    case 'status': return void response.writeHead(Number(value)).end(`status ${value}`)
    case 'redirect': return void response.writeHead(Number(value), { Location: '/status/200' }).end()
    case 'later': return void response.writeHead(429, { 'Retry-After': value }).end()
    case 'reset': return void response.socket?.destroy()
    case 'big': return void response.writeHead(200).end(bigBody)
    case 'sleep':
      await wait(Number(value))
      return void response.writeHead(204).end()
    default: return void response.writeHead(204).end()
  }
}

function receive({ body, headers, path }: ReceivedRequest, response: ServerResponse): void {
  const { id, data } = JSON.parse(body.toString()) as { id: string, data: { intent?: { id: string } } }
  const delivery = String(headers['x-service-delivery-id'])
  report.arrivals.push([now(), path, id, delivery, data.intent?.id ?? null])
  response.once('close', () => {
    if (!response.writableFinished && !path.startsWith('/reset') && !path.startsWith('/big')) report.cuts.push([now(), id, delivery])
  })
  // A sender that goes away while it is answered is told of as a cut.
  response.on('error', () => undefined)
  void answer(path, response)
}

const trusted = await openReceiver(receive)
const untrusted = await openReceiver(receive)
setInterval(() => {
  // What is told is forgotten here.
  trusted.received.length = 0
  if (report.arrivals.length === 0 && report.cuts.length === 0) return
  process.send?.(report)
  report = { arrivals: [], cuts: [] }
}, reportEveryMs)
process.send?.({ url: trusted.url, untrustedUrl: untrusted.url, certificate: trusted.certificate } satisfies ReceiverReady)
process.once('disconnect', () => process.exit(0))
