import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { IncomingHttpHeaders } from 'node:http'
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import type { ChannelCode } from '../../domain/channels.ts'
import type { Runtime } from '../../domain/runtime.ts'
import type { Charge, ChargeIdentity, ChargeRequest, CreateChargeResult, KnownCharge } from '../paymentProvider.ts'
import { SimulatorProvider } from '../simulatorProvider.ts'
import { startSimulator } from './server.ts'
import type { RunningSimulator } from './server.ts'

export const apiKey = randomBytes(16).toString('hex')
export const secret = randomBytes(32).toString('hex')
export const start = new Date('2026-08-03T03:04:05.678Z')

// A running simulator, its client and a receiver of callbacks, new for each test of the file that imports this.

export interface ReceivedHere {
  readonly headers: IncomingHttpHeaders
  readonly rawBody: Buffer
}

/** What the simulator's operations answer, taken together. */
export interface AnyAnswer {
  readonly code?: string
  readonly message?: string
  readonly total?: number
  readonly charges?: readonly Readonly<Record<string, unknown>>[]
  readonly refunds?: readonly Readonly<Record<string, unknown>>[]
  readonly queued?: readonly unknown[]
  readonly held?: readonly { readonly id: string; readonly event: string }[]
  readonly released?: readonly { readonly id: string; readonly callback: unknown }[]
  readonly callbacks?: readonly unknown[]
  readonly by_key?: Readonly<Record<string, { charges: number; create_calls: number }>>
  readonly callback?: unknown
}

let clock = start
export let slept: number[] = []
export let simulator: RunningSimulator
export let provider: SimulatorProvider
let giveUp: AbortController
export let received: ReceivedHere[] = []
let answer = 200
let serial = 0

export const runtime: Runtime = {
  now: () => clock,
  randomBytes,
  fetch: (input, init) => {
    const signal = AbortSignal.any([giveUp.signal, ...(init?.signal ? [init.signal] : [])])
    return fetch(input, { ...init, signal })
  },
  sleep: async (milliseconds) => {
    slept.push(milliseconds)
  },
}

const receiver = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    received.push({ headers: request.headers, rawBody: Buffer.concat(chunks) })
    response.writeHead(answer).end('noted')
  })
})
export let callbackUrl: string

beforeAll(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  const address = receiver.address()
  callbackUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/callbacks`
})
afterAll(() => new Promise((resolve) => receiver.close(resolve)))

/** Moves the simulator's and the client's clock to `seconds` after the start. */
export function clockAt(seconds: number): Date {
  clock = new Date(start.getTime() + seconds * 1000)
  return clock
}

/** What the receiver of callbacks answers from now on. */
export function answerWith(status: number): void {
  answer = status
}

/** The callback received at this place; throws when there is none. */
export function callbackAt(place: number): ReceivedHere {
  const callback = received[place]
  if (callback === undefined) throw new Error(`no callback at ${place}`)
  return callback
}

/** Starts the simulator, in place of the one before. */
export async function launch(journalPath?: string): Promise<void> {
  simulator = await startSimulator({
    port: 0, runtime, apiKey, callbackSecret: secret, callbackUrl, ...(journalPath ? { journalPath } : {}),
  })
  provider = new SimulatorProvider({ baseUrl: simulator.url, apiKey, runtime })
}

beforeEach(async () => {
  clock = start
  slept = []
  received = []
  answer = 200
  giveUp = new AbortController()
  await launch()
})
afterEach(() => simulator.close())

/** A creation that the simulator accepts, under a key of its own. */
export function requestFor(channel: ChannelCode, change: Partial<ChargeRequest> = {}): ChargeRequest {
  serial += 1
  return {
    key: `operation-${serial}`,
    channel,
    amountIdr: 150_000,
    multiUse: false,
    expiresAt: new Date(start.getTime() + 600_000),
    description: 'Two coffees',
    merchantReference: `order-${serial}`,
    merchant: {
      id: 'merchant-1', name: 'Warung Kopi Émas', city: 'Bandung', postalCode: '40111', mcc: '5814', nmid: null,
      qrisCriteria: 'UMI',
    },
    customer: null,
    callbackUrl,
    returnUrl: null,
    ...change,
  }
}

/** A charge as it is asked for by our key alone; the simulator does not look at the channel. */
export function byKey(key: string): ChargeIdentity {
  return { key, reference: null, channel: 'qris' }
}

/** A charge as it is asked for once its creation was answered. */
export function known({ key, reference }: { key: string; reference: string }): KnownCharge {
  return { key, reference, channel: 'qris' }
}

/** What stands beside a callback's headers and body. */
export const toCallbackAddress = { method: 'POST', path: '/callbacks' } as const

/** The charge of a creation that succeeded; throws on any other. */
export function charged(result: CreateChargeResult): Charge {
  if (result.outcome !== 'charged') throw new Error(`not charged: ${JSON.stringify(result)}`)
  return result.charge
}

/** A bare call to the simulator. */
export async function call(
  method: string, path: string, body?: unknown, key = apiKey,
): Promise<{ status: number; json: AnyAnswer }> {
  const response = await fetch(simulator.url + path, {
    method,
    headers: { authorization: `Bearer ${key}` },
    body: body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body),
  })
  return { status: response.status, json: (await response.json()) as AnyAnswer }
}

/** How many charges the simulator holds under the key, and how often one was asked for. */
export async function heldFor(key: string): Promise<{ charges: number; create_calls: number } | undefined> {
  return (await call('GET', `/control/charges?key=${key}`)).json.by_key?.[key]
}

const behavioursLeft = async (): Promise<number> => ((await call('GET', '/control/next')).json.queued ?? []).length

/** Makes a call that gets no answer, and gives up on it once it has changed what `counted` counts: the behaviours left, unless told. */
export async function unanswered<Result>(attempt: () => Promise<Result>, counted = behavioursLeft): Promise<Result> {
  const before = await counted()
  const pending = attempt()
  while (await counted() === before);
  giveUp.abort()
  const result = await pending
  giveUp = new AbortController()
  return result
}

/** Begins a creation that gets no answer, and gives up on it once the simulator has dealt with it. */
export async function createUnanswered(request: ChargeRequest): Promise<CreateChargeResult> {
  const before = (await heldFor(request.key))?.create_calls ?? 0
  const pending = provider.createCharge(request)
  while (((await heldFor(request.key))?.create_calls ?? 0) === before);
  giveUp.abort()
  const result = await pending
  giveUp = new AbortController()
  return result
}
