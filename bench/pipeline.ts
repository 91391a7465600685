import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { formatApiKey } from '../domain/apiKeys.ts'
import { loadInRounds, requestBytes } from './load.ts'
import { sampleRequests } from './syntheticDocument.ts'

const kinds = ['http', 'express', 'pipeline', 'pipeline-checked'] as const
export type ServerKind = typeof kinds[number]

export interface PipelineCost {
  /** CPU microseconds a request of the whole server process: median, least and most over the runs. */
  cpu: Record<ServerKind, { median: number, low: number, high: number }>
  /** What the pipeline adds to bare node:http, in CPU microseconds a request: median over the runs. */
  own: number
  ownExpress: number
  ownChecked: number
  /** Milliseconds from document to Express application. */
  compileMs: number
  operations: number
}

const connections = 64
/** Measures servers in processes of their own, in turn, so that a noisy minute strikes all of them. */
export async function measurePipeline(
  { runs = 7, requests = 20_000, warmUp = 50_000 }: { runs?: number, requests?: number, warmUp?: number } = {}, progress: (line: string) => void = () => undefined,
): Promise<PipelineCost> {
  const apiKey = formatApiKey('sandbox', randomBytes(32))
  const samples = sampleRequests(apiKey).map(({ method, path, headers, body }) => requestBytes(method, path, headers, body))
  const servers = await Promise.all(kinds.map(async (kind) => ({ kind, ...await start(kind, apiKey) })))
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
    compileMs: servers.find(({ kind }) => kind === 'pipeline')?.compileMs ?? Number.NaN,
    operations: 330,
  }
}

async function start(kind: ServerKind, apiKey: string): Promise<{ child: ChildProcess, port: number, compileMs: number }> {
  const child = fork(new URL('pipelineServer.ts', import.meta.url), [kind, apiKey], { execArgv: process.env.BENCH_PROFILE === kind ? ['--cpu-prof'] : [] })
  const [message] = await Promise.race([
    once(child, 'message'), once(child, 'exit').then(() => Promise.reject(new Error(`the ${kind} server did not start`))),
  ]) as [{ port: number, compileMs: number }]
  return { child, ...message }
}

async function usage(child: ChildProcess): Promise<number> {
  child.send('usage')
  const [{ cpuMicroseconds }] = await once(child, 'message') as [{ cpuMicroseconds: number }]
  return cpuMicroseconds
}

/** The middle value; of an even number, the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length / 2
  return sorted.length % 2 === 1 ? sorted[Math.floor(middle)] as number : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2
}

if (import.meta.main) console.log(await measurePipeline({}, console.log))
