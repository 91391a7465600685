import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { formatApiKey } from '../domain/apiKeys.ts'
import { loadInRounds, requestBytes } from './load.ts'
import { median } from './median.ts'
import { operationsOf } from '../spec/house/openapi.ts'
import { sampleRequests, syntheticDocument } from './syntheticDocument.ts'

const kinds = ['http', 'express', 'pipeline', 'pipeline-checked'] as const
export type ServerKind = typeof kinds[number]

export interface PipelineCost {
  /** CPU microseconds a request of the whole server process: median, least and most over the runs. */
  cpu: Record<ServerKind, { median: number, low: number, high: number }>
  /** What the pipeline adds to bare node:http, in CPU microseconds a request: median over the runs. */
  own: number
  ownExpress: number
  ownChecked: number
  operations: number
}

interface MeasuredServer {
  child: ChildProcess
  port: number
  /** Seconds from the start of the process until it listens, and those of them that compiling the document took. */
  readySeconds: number
  compileSeconds: number
}

const connections = 64

/** Measures servers in processes of their own, in turn, so that a noisy minute strikes all of them. */
export async function measurePipeline(
  { runs = 7, requests = 20_000, warmUp = 50_000 }: { runs?: number, requests?: number, warmUp?: number } = {}, progress: (line: string) => void = () => undefined,
): Promise<PipelineCost> {
  const apiKey = formatApiKey('sandbox', randomBytes(32))
  const samples = sampleRequests(apiKey).map(({ method, path, headers, body }) => requestBytes(method, path, headers, body))
  const servers = await Promise.all(kinds.map(async (kind) => ({ kind, ...await startServer(kind, apiKey) })))
  const costs = Object.fromEntries(kinds.map((kind) => [kind, [] as number[]])) as Record<ServerKind, number[]>
  try {
    for (const { port } of servers) await loadInRounds({ port, requests: samples, connections, total: warmUp })
    for (let run = 0; run < runs; run += 1) {
      for (const { kind, port, child } of servers) {
        const before = await usage(child)
        await loadInRounds({ port, requests: samples, connections, total: requests })
        costs[kind].push((await usage(child) - before) / requests)
      }
      progress(`run ${run + 1}: ${kinds.map((kind) => `${kind} ${costs[kind].at(-1)?.toFixed(1)}`).join(', ')} µs of CPU a request`)
    }
  } finally {
    for (const { child } of servers) child.disconnect()
  }
  const over = (kind: ServerKind) => median(costs[kind].map((cost, run) => cost - (costs.http[run] ?? 0)))
  return {
    cpu: Object.fromEntries(kinds.map((kind) =>
      [kind, { median: median(costs[kind]), low: Math.min(...costs[kind]), high: Math.max(...costs[kind]) }])) as PipelineCost['cpu'],
    own: over('pipeline'), ownExpress: over('express'), ownChecked: over('pipeline-checked'),
    operations: operationsOf(syntheticDocument()).length,
  }
}

/** Starts the pipeline with the synthetic document, alone, and tells how long that took: medians. */
export async function measureSyntheticStart(starts: number): Promise<{ ready: number, compile: number }> {
  const servers: MeasuredServer[] = []
  for (let at = 0; at < starts; at += 1) {
    const server = await startServer('pipeline', formatApiKey('sandbox', randomBytes(32)))
    server.child.disconnect()
    await once(server.child, 'exit')
    servers.push(server)
  }
  return { ready: median(servers.map(({ readySeconds }) => readySeconds)), compile: median(servers.map(({ compileSeconds }) => compileSeconds)) }
}

async function startServer(kind: ServerKind, apiKey: string): Promise<MeasuredServer> {
  const from = performance.now()
  const child = fork(new URL('pipelineServer.ts', import.meta.url), [kind, apiKey])
  const [{ port, compileMs }] = await Promise.race([
    once(child, 'message'), once(child, 'exit').then(() => Promise.reject(new Error(`the ${kind} server did not start`))),
  ]) as [{ port: number, compileMs: number }]
  return { child, port, readySeconds: (performance.now() - from) / 1000, compileSeconds: compileMs / 1000 }
}

async function usage(child: ChildProcess): Promise<number> {
  child.send('usage')
  const [{ cpuMicroseconds }] = await once(child, 'message') as [{ cpuMicroseconds: number }]
  return cpuMicroseconds
}
