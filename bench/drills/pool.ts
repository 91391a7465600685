import { setTimeout as wait } from 'node:timers/promises'
import { connect } from '../../db/sql.ts'
import type { Database } from '../../db/sql.ts'
import { failuresOf, medianAndMost } from './drill.ts'
import type { Drill, DrillReport } from './drill.ts'
import { countsByStatus, describe, firstSuccess, longestOpen } from './judgement.ts'
import type { Outage } from './judgement.ts'
import { isSuccess } from './requests.ts'
import type { Operation, Try } from './requests.ts'
import type { Disturbed } from './underLoad.ts'
import { everyProcess, judgeEnds, underLoad } from './underLoad.ts'

const connections = 5
const callers = 100
const holds = { short: { times: 1, heldMs: 3000, freeMs: 2500 }, long: { times: 5, heldMs: 4000, freeMs: 4000 } } as const
const healthEveryMs = 50
const healthWithinMs = 2000
const recoveredWithinMs = 1000
/**
 * Reads wait at most 1 s for a place, and their statement 1.5 s for the lock; the rest is for a hundred callers on a
 * machine with much else to do.
 */
const readWithinMs = 5000
const reads: ReadonlySet<Operation> = new Set(['getPaymentIntent', 'listPaymentIntents'])

/** Ten times as many callers as connections, while statements wait for a lock that somebody holds. */
export const pool: Drill = {
  name: 'pool',
  about: `${callers} callers on ${2 * connections} connections, all held up by locks of another for 4 s, 5 times, in the short form once`,
  run: (options) => underLoad(options, {
    stage: { environment: () => Promise.resolve({ DATABASE_CONNECTIONS: String(connections) }) },
    load: { callers, pauseMs: 5 },
    followUpMs: 40_000,
    disturb: (at) => holdUp(at, options.short ? holds.short : holds.long),
    judge: ({ tries, made, stage, loadEnd }) => [...judgePool(tries, made, loadEnd), ...judgeEnds(everyProcess(stage))],
    figures: ({ tries, made, loadEnd }) => figuresOf(tries, made, loadEnd),
  }),
}

async function holdUp(
  { stage, load, say }: Disturbed, { times, heldMs, freeMs }: { times: number, heldMs: number, freeMs: number },
): Promise<Outage[]> {
  const holder = connect(stage.databaseUrl, { max: 1, limitMs: 60_000, applicationName: 'bayar drill' })
  const done = new AbortController()
  const asked = askHealth(stage.payments.length, load, done.signal)
  const outages: Outage[] = []
  try {
    for (let time = 1; time <= times; time += 1) {
      const outage = await hold(holder, heldMs)
      outages.push(outage)
      await wait(freeMs)
      const first = firstSuccess(load.tries, outage, performance.now())
      say(`lock ${time} of ${times}: held ${Math.round(outage.to - outage.from)} ms, first success after ${first?.toFixed(0) ?? '-'} ms`)
    }
  } finally {
    done.abort()
    await asked
    await holder.end()
  }
  return outages
}

async function hold(holder: Database, heldMs: number): Promise<Outage> {
  const from = await holder.tx(async (sql) => {
    await sql`lock table payments.payment_intents in access exclusive mode`
    const held = performance.now()
    await wait(heldMs)
    return held
  })
  return { from, to: performance.now() }
}

/** Whether a process lives must not depend on its connections. */
async function askHealth(processes: number, { send }: Disturbed['load'], signal: AbortSignal): Promise<void> {
  for (let at = 0; !signal.aborted; at += 1) {
    await send('getHealth', at % processes, { path: '/v1/health' })
    await wait(healthEveryMs)
  }
}

/** Waiting is bounded, refusing is declared, health answers, and service is back at once. */
export function judgePool(tries: readonly Try[], outages: readonly Outage[], loadEnd: number): string[] {
  const health = tries.filter(({ operation }) => operation === 'getHealth')
  const unwell = health.filter(({ status, began, ended }) => status !== 200 || ended - began > healthWithinMs)
  const slow = tries.filter(({ operation, began, ended }) => reads.has(operation) && ended - began > readWithinMs)
  const unmet = outages.filter((outage) => !tries.some((entry) => entry.status === 503 && isWithin(entry, outage)))
  const unasked = outages.filter((outage) => !health.some((entry) => isWithin(entry, outage)))
  const others = tries.filter(({ operation }) => operation !== 'getHealth')
  const late = outages.filter((outage, at) =>
    (firstSuccess(others, outage, outages[at + 1]?.from ?? loadEnd) ?? Infinity) > recoveredWithinMs)
  const stuck = outages.filter(({ to }, at) => !isFlowing(others, to, outages[at + 1]?.from ?? loadEnd))
  const number = (outage: Outage): string => `lock ${outages.indexOf(outage) + 1}`
  return [
    ...failuresOf('requests without an answer', tries.filter(({ status }) => status === null), describe),
    ...failuresOf(`health not answered 200 within ${healthWithinMs / 1000} s`, unwell, describe),
    ...failuresOf(`reads open longer than ${readWithinMs / 1000} s`, slow, describe),
    ...failuresOf(`no success within ${recoveredWithinMs / 1000} s of the lock's end`, late, number),
    ...failuresOf('locks after which most requests were still refused', stuck, number),
    // A load that never met the lock would prove nothing.
    ...failuresOf('locks that no request met', unmet, number),
    ...failuresOf('locks during which health was not asked', unasked, number),
  ]
}

function isWithin({ ended }: Try, { from, to }: Outage): boolean {
  return ended >= from && ended <= to
}

/** Whether at least nine of ten requests begun more than a second after `from` succeed. */
function isFlowing(tries: readonly Try[], from: number, until: number): boolean {
  const those = tries.filter(({ began, ended }) => began >= from + recoveredWithinMs && ended <= until)
  return those.length > 0 && those.filter(({ status }) => isSuccess(status)).length >= 0.9 * those.length
}

function figuresOf(tries: readonly Try[], outages: readonly Outage[], loadEnd: number): DrillReport['figures'] {
  const times = (some: readonly Try[]): string => medianAndMost(some.map(({ began, ended }) => ended - began))
  const held = tries.filter((entry) => outages.some((outage) => isWithin(entry, outage)))
  const firsts = outages.map((outage, at) => firstSuccess(tries.filter(({ operation }) => operation !== 'getHealth'), outage, outages[at + 1]?.from ?? loadEnd))
  return [
    ['requests by status', countsByStatus(tries)],
    ['while the lock was held', countsByStatus(held)],
    ['503 while it was held, answered after', times(held.filter(({ status }) => status === 503))],
    ['health', times(tries.filter(({ operation }) => operation === 'getHealth'))],
    ['reads', times(tries.filter(({ operation }) => reads.has(operation)))],
    ["lock's end to first success", medianAndMost(firsts.filter((time) => time !== null))],
    ['longest open request', `${Math.round(longestOpen(tries))} ms`],
  ]
}
