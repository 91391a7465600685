// Started by bench/openLoad.ts: sends requests in a process of its own, so that what it costs does not delay what it measures.
import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { Pool } from 'undici'

/** Requests to send. */
export interface LoadOrder {
  /** Servers, in turn. */
  urls: readonly string[]
  method: 'GET' | 'POST'
  /** In turn. */
  paths: readonly string[]
  headers: Record<string, string>
  /** Authorizations in turn, instead of the one in the headers. */
  authorizations?: readonly string[]
  body: string | null
  /** A new Idempotency-Key for each. */
  keyed: boolean
  seconds: number
  pace:
    /** Open: so many begin each second at even distances, whatever is unanswered. */
    | { perSecond: number }
    /** Closed: so many at a time, each begun when one before it is answered. */
    | { atATime: number }
}

export interface LoadReport {
  /** Answers with a 2xx a second, from the first request to the last answer. */
  perSecond: number
  answered: number
  /** Other answers and none at all, by what they were. */
  failures: Record<string, number>
  /** Milliseconds from when a request was due: open ones wait for nobody. */
  p50: number
  p99: number
  max: number
}

/** Sockets to each server when nobody waits for anybody. */
const openConnections = 128

async function run({ urls, method, paths, headers, authorizations = [], body, keyed, seconds, pace }: LoadOrder): Promise<LoadReport> {
  const open = 'perSecond' in pace
  const pools = urls.map((url) => new Pool(url, { connections: open ? openConnections : Math.ceil(pace.atATime / urls.length), pipelining: 1 }))
  const latencies: number[] = []
  const failures: Record<string, number> = {}
  let begun = 0
  const send = async (due: number): Promise<void> => {
    const number = begun++
    const pool = pools[number % pools.length] as Pool
    const authorization = authorizations[number % authorizations.length]
    try {
      const answer = await pool.request({
        method, path: paths[number % paths.length] as string, body,
        headers: { ...headers, ...(authorization !== undefined && { Authorization: authorization }), ...(keyed && { 'Idempotency-Key': randomUUID() }) },
      })
      await answer.body.dump()
      if (answer.statusCode < 300) latencies.push(performance.now() - due)
      else count(failures, String(answer.statusCode))
    } catch (error) {
      count(failures, error instanceof Error ? error.message : String(error))
    }
  }
  const started = performance.now()
  const until = started + seconds * 1000
  if (open) await sendEvenly(pace.perSecond, started, Math.round(pace.perSecond * seconds), send)
  else {
    await Promise.all(Array.from({ length: pace.atATime }, async () => {
      for (let now = performance.now(); now < until; now = performance.now()) await send(now)
    }))
  }
  const elapsed = (performance.now() - started) / 1000
  await Promise.all(pools.map((pool) => pool.close()))
  latencies.sort((a, b) => a - b)
  const quantile = (share: number): number => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? Number.NaN
  return {
    perSecond: latencies.length / elapsed, answered: latencies.length, failures, p50: quantile(0.5), p99: quantile(0.99), max: latencies.at(-1) ?? Number.NaN,
  }
}

/** Begins each request when it is due; a late timer begins all that are due by then, timed from when they were. */
async function sendEvenly(perSecond: number, started: number, total: number, send: (due: number) => Promise<void>): Promise<void> {
  const unanswered = new Set<Promise<void>>()
  const dueAt = (number: number): number => started + number / perSecond * 1000
  for (let begun = 0; begun < total;) {
    for (const now = performance.now(); begun < total && dueAt(begun) <= now; begun += 1) {
      const sending = send(dueAt(begun))
      unanswered.add(sending)
      void sending.finally(() => unanswered.delete(sending))
    }
    if (begun < total) await wait(Math.max(dueAt(begun) - performance.now(), 0))
  }
  await Promise.all(unanswered)
}

function count(failures: Record<string, number>, what: string): void {
  failures[what] = (failures[what] ?? 0) + 1
}

process.on('message', (order: LoadOrder) => {
  void run(order).then((report) => process.send?.(report), (error: unknown) => {
    process.stderr.write(`${String(error)}\n`)
    process.exit(1)
  })
})
process.on('disconnect', () => process.exit(0))
