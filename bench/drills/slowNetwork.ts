import { setTimeout as wait } from 'node:timers/promises'
import { startDatabaseProxy } from './databaseProxy.ts'
import type { Cut, DatabaseProxy } from './databaseProxy.ts'
import { failuresOf, medianAndMost } from './drill.ts'
import type { Drill, DrillReport } from './drill.ts'
import { backWithinMs, calmAtMostMs, countsByStatus, describe, firstSuccess, fullService, isExcused, isWhole, longestOpen } from './judgement.ts'
import type { Outage } from './judgement.ts'
import { isSuccess } from './requests.ts'
import type { Try } from './requests.ts'
import type { Disturbed } from './underLoad.ts'
import { everyProcess, judgeEnds, underLoad } from './underLoad.ts'
import { until } from '../webhooks/receiver.ts'

/** A time in which the network was bad, and how often it was. */
export interface BadNetwork extends Outage {
  kind: 'latency' | 'bandwidth' | 'silence' | Cut
  /** Connections that met it; for latency and bandwidth none is counted. */
  met: number
}

const lengths = {
  short: { slowMs: 2500, silences: 1, cuts: 3, calmMs: 0 },
  long: { slowMs: 6000, silences: 3, cuts: 25, calmMs: 2500 },
} as const
const latencyMs = 200
const bytesPerSecond = 32_768
const silentMs = 4000
const betweenCutsMs = 150
const cutWithinMs = 10_000

/** The way to PostgreSQL gets slow, silent, or is cut where that hurts most. */
export const slowNetwork: Drill = {
  name: 'slow-network',
  about: 'the network to PostgreSQL: 200 ms latency, 32 kB/s, silence without an end, cut inside transactions and between commit and answer',
  async run(options) {
    let proxy: DatabaseProxy | undefined
    try {
      return await underLoad(options, {
        stage: {
          environment: async (_, databaseUrl) => {
            const through = new URL(databaseUrl)
            proxy = await startDatabaseProxy(Number(through.port))
            through.port = String(proxy.port)
            return { DATABASE_URL: through.href }
          },
        },
        followUpMs: 40_000,
        disturb: (at) => {
          if (!proxy) throw new Error('there is no proxy')
          return disturb(at, proxy, options.short ? lengths.short : lengths.long)
        },
        judge: ({ tries, made, stage, loadEnd }) => [...judgeNetwork(tries, made, loadEnd), ...judgeEnds(everyProcess(stage))],
        figures: ({ tries, made, loadEnd }) => figuresOf(tries, made, loadEnd),
      })
    } finally {
      await proxy?.close()
    }
  },
}

async function disturb(
  { load, say }: Disturbed, proxy: DatabaseProxy, { slowMs, silences, cuts, calmMs }: { slowMs: number, silences: number, cuts: number, calmMs: number },
): Promise<BadNetwork[]> {
  const made: BadNetwork[] = []
  const during = async (kind: BadNetwork['kind'], work: () => Promise<number>): Promise<void> => {
    const from = performance.now()
    const met = await work()
    const bad = { kind, met, from, to: performance.now() }
    made.push(bad)
    await wait(calmMs)
    await until(() => isWhole(load.tries, bad, performance.now()), calmAtMostMs - calmMs)
    const first = firstSuccess(load.tries, bad, performance.now())
    say(`${kind}${met > 0 ? ` (${met} connections)` : ''}, ${Math.round(bad.to - from)} ms, first success after ${first?.toFixed(0) ?? '-'} ms`)
  }
  const slowly = (speed: Parameters<DatabaseProxy['slow']>[0]) => async (): Promise<number> => {
    proxy.slow(speed)
    await wait(slowMs)
    proxy.slow({})
    return 0
  }
  const cutting = (at: Cut) => async (): Promise<number> => {
    let met = 0
    for (let cut = 0; cut < cuts; cut += 1) {
      if (await proxy.cut(at, cutWithinMs)) met += 1
      await wait(betweenCutsMs)
    }
    return met
  }
  await during('latency', slowly({ latencyMs }))
  await during('bandwidth', slowly({ bytesPerSecond }))
  for (let silence = 0; silence < silences; silence += 1) {
    await during('silence', async () => {
      const met = proxy.silence()
      await wait(silentMs)
      proxy.restore()
      return met
    })
  }
  await during('transaction', cutting('transaction'))
  await during('commit', cutting('commit'))
  return made
}

/** Everything is answered, and service is whole again soon after each trouble; new connections work even while the old are silent. */
export function judgeNetwork(tries: readonly Try[], made: readonly BadNetwork[], loadEnd: number): string[] {
  const until = (bad: BadNetwork): number => made[made.indexOf(bad) + 1]?.from ?? loadEnd
  const backLate = (time: number | null): boolean => (time ?? Infinity) > backWithinMs
  const kinds = made.map(({ kind }) => kind)
  const late = made.filter((bad) => backLate(firstSuccess(tries, bad, until(bad))))
  const mute = made.filter(({ from, to }) => !tries.some(({ status, began }) => isSuccess(status) && began >= from && began <= to))
  return [
    ...failuresOf('requests without an answer', tries.filter(({ status }) => status === null), describe),
    ...failuresOf(`no success within ${backWithinMs / 1000} s`, late, ({ kind }) => kind),
    ...failuresOf(`503 later than ${backWithinMs / 1000} s after`, tries.filter((entry) => entry.status === 503 && !isExcused(entry, made)), describe),
    ...failuresOf('no success at all of what was asked meanwhile', mute, ({ kind }) => kind),
    // A trouble that met nothing would prove nothing.
    ...failuresOf('met no connection', made.filter(({ kind, met }) => met === 0 && kind !== 'latency' && kind !== 'bandwidth'), ({ kind }) => kind),
    ...(['latency', 'bandwidth', 'silence', 'transaction', 'commit'] as const).filter((kind) => !kinds.includes(kind)).map((kind) => `${kind} was not tried`),
  ]
}

function isWithin({ began, ended }: Try, { from, to }: Outage): boolean {
  return began >= from && ended <= to
}

function figuresOf(tries: readonly Try[], made: readonly BadNetwork[], loadEnd: number): DrillReport['figures'] {
  const untils = made.map((bad, at) => ({ bad, until: made[at + 1]?.from ?? loadEnd }))
  const over = (measure: typeof firstSuccess): string =>
    medianAndMost(untils.map(({ bad, until }) => measure(tries, bad, until)).filter((time) => time !== null))
  return [
    ['requests by status', countsByStatus(tries)],
    ...made.map((bad): [string, string] => {
      const those = tries.filter((entry) => isWithin(entry, bad))
      return [`${bad.kind}${bad.met > 0 ? `, ${bad.met} connections` : ''}`, `${countsByStatus(those)}; longest ${Math.round(longestOpen(those))} ms`]
    }),
    ['end to first success', over(firstSuccess)],
    ['end to full service', over(fullService)],
    ['longest open request', `${Math.round(longestOpen(tries))} ms`],
  ]
}
