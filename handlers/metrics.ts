import { createServer } from 'node:http'
import type { Server } from 'node:http'
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client'
import type { DatabaseStats } from '../db/sql.ts'
import type { CallbackNotice } from '../jobs/processCallback.ts'
import type { Observation } from './http/pipeline.ts'

export interface Metrics {
  observe(observation: Observation): void
  observeCallback(notice: Pick<CallbackNotice, 'provider' | 'outcome' | 'waits'>): void
  registry: Registry
}

const latencySeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** Metrics of a process for Prometheus: requests by operation and status, latency, database pool, queue depth. */
export function createMetrics(process: string, databaseStats?: () => DatabaseStats, queueDepths?: () => Promise<readonly QueueDepthMetric[]>): Metrics {
  const registry = new Registry()
  registry.setDefaultLabels({ process })
  collectDefaultMetrics({ register: registry })
  const registers = [registry]
  const requests = new Counter({ name: 'bayar_requests_total', help: 'Requests answered.', labelNames: ['operation', 'status'], registers })
  const latency = new Histogram({
    name: 'bayar_request_duration_seconds', help: 'Time to answer.', labelNames: ['operation'], buckets: latencySeconds, registers,
  })
  const callbacks = new Counter({
    name: 'bayar_provider_callbacks_total', help: 'Callbacks of payment providers processed, by what became of them; waits: to be tried again.',
    labelNames: ['provider', 'outcome', 'waits'], registers,
  })
  if (databaseStats) addDatabase(databaseStats, registers)
  if (queueDepths) addQueues(queueDepths, registers)
  return {
    registry,
    observe({ operationId, status, duration }) {
      requests.inc({ operation: operationId, status })
      latency.observe({ operation: operationId }, duration / 1000)
    },
    observeCallback({ provider, outcome, waits }) {
      callbacks.inc({ provider, outcome, waits: String(waits) })
    },
  }
}

function addDatabase(databaseStats: () => DatabaseStats, registers: Registry[]): void {
  const gauge = (name: string, help: string, read: (stats: DatabaseStats) => number) => new Gauge({
    name, help, registers,
    collect() {
      this.set(read(databaseStats()))
    },
  })
  gauge('bayar_database_connections_max', 'Most works inside the database driver at a time.', ({ max }) => max)
  gauge('bayar_database_connections_busy', 'Works inside the database driver.', ({ busy }) => busy)
  gauge('bayar_database_waiting', 'Works that wait for a place.', ({ waiting }) => waiting)
  gauge('bayar_database_pools_replaced', 'Pools replaced because a work overran its deadline.', ({ poolsReplaced }) => poolsReplaced)
}

export interface QueueDepthMetric {
  queue: string
  ready: number
  deferred: number
  active: number
  failed: number
}

function addQueues(queueDepths: () => Promise<readonly QueueDepthMetric[]>, registers: Registry[]): void {
  new Gauge({
    name: 'bayar_queue_jobs', help: 'Jobs by queue and state.', labelNames: ['queue', 'state'], registers,
    async collect() {
      // A scrape must not fail because the database is away: the other figures are wanted most then.
      for (const { queue, ...states } of await queueDepths().catch(() => [])) {
        for (const [state, count] of Object.entries(states)) this.set({ queue, state }, count)
      }
    },
  })
}

/** Serves `/metrics` on a port of its own, on loopback: it is for operators, not for merchants. */
export async function serveMetrics({ registry }: Metrics, port: number): Promise<Server> {
  const server = createServer((request, response) => {
    if (request.url !== '/metrics' || request.method !== 'GET') {
      response.writeHead(404).end()
      return
    }
    registry.metrics().then((text) => response.writeHead(200, { 'Content-Type': registry.contentType }).end(text), () => response.writeHead(500).end())
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve))
  return server
}
