import { setTimeout as wait } from 'node:timers/promises'
import { benchConnections } from './benchSystem.ts'
import type { BenchSystem } from './benchSystem.ts'
import type { LoadOrder } from './loadProcess.ts'
import { startRecorder } from './references/recorder.ts'
import type { Recorded, Recorder } from './references/recorder.ts'
import { scriptOf, without } from './references/script.ts'
import type { Script } from './references/script.ts'
import { subscribe } from './webhooks/events.ts'

/** Requests of one operation. */
export type Flow = Pick<LoadOrder, 'method' | 'paths' | 'headers' | 'body' | 'keyed'> & { name: FlowName }

export type FlowName = 'createPaymentIntent, several channels' | 'createPaymentIntent, through the simulator' | 'getPaymentIntent'

export interface RecordedFlow extends Flow {
  /** The statements of one request. */
  script: Script
}

const things = 50

/** A payments process whose merchant hears of every intent by webhook, so that a creation writes an event, a delivery and its job. */
export async function recordFlows(system: BenchSystem): Promise<RecordedFlow[]> {
  const database = system.connect()
  await subscribe(database, system.merchant, 'https://receiver.invalid/bench', system.sealing, ['payment_intent.created'])
  await database.end()
  const recorder = await startRecorder(system.databaseUrl)
  const service = await system.startPayments({ DATABASE_URL: recorder.url })
  try {
    const [several, one] = creations(system)
    const ids: string[] = []
    for (let at = 0; at < things; at += 1) ids.push(await ask(service.url, one))
    const get: Flow = {
      name: 'getPaymentIntent', method: 'GET', paths: ids.map((id) => `/v1/payments/intents/${id}`), headers: several.headers, body: null, keyed: false,
    }
    const recorded: RecordedFlow[] = []
    for (const flow of [several, one, get]) recorded.push({ ...flow, script: await record(flow, service.url, recorder) })
    return recorded
  } finally {
    await service.end()
    await recorder.stop()
  }
}

/** Creations with several channels, and with one that its provider is asked for. */
export function creations({ apiKey }: Pick<BenchSystem, 'apiKey'>): [Flow, Flow] {
  const headers = { 'Authorization': `Bearer ${apiKey}`, 'Content-Type': 'application/json' }
  const creation = (name: FlowName, channels: readonly string[]): Flow => ({
    name, method: 'POST', paths: ['/v1/payments/intents'], headers, keyed: true,
    body: JSON.stringify({ amount_idr: 150_000, allowed_channels: channels, description: 'Order 1042', metadata: { order_id: '1042' } }),
  })
  return [
    creation('createPaymentIntent, several channels', ['qris', 'va_bank_a', 'ewallet_wallet_a']), creation('createPaymentIntent, through the simulator', ['qris']),
  ]
}

/** Sends a request and answers the id of what it is about. */
async function ask(url: string, { method, paths, headers, body, keyed }: Flow): Promise<string> {
  const response = await fetch(`${url}${paths[0]}`, { method, headers: keyed ? { ...headers, 'Idempotency-Key': crypto.randomUUID() } : headers, body })
  const { id } = await response.json() as { id?: string }
  if (id === undefined) throw new Error(`${method} ${paths[0]} answered ${response.status}`)
  return id
}

/** Requests of keys are recorded in batches, each second and after the answers: they are no part of a request. */
const isBeside = (text: string): boolean => /insert into payments\.api_key_requests|update payments\.api_keys/.test(text)
const recordings = 5

/** The statements of one request, from two that were recorded with everything prepared and nothing going on beside them. */
async function record(flow: Flow, url: string, recorder: Recorder): Promise<Script> {
  const one = async (): Promise<Recorded[]> => {
    recorder.take()
    await ask(url, flow)
    return without(recorder.take(), isBeside)
  }
  for (let warm = 0; warm < benchConnections; warm += 1) await ask(url, flow)
  for (let tries = 1; ; tries += 1) {
    const [first, second] = [await one(), await one()]
    try {
      return scriptOf(first, second)
    } catch (error) {
      if (tries === recordings) throw error
      await wait(200)
    }
  }
}
