import { setTimeout as wait } from 'node:timers/promises'
import { connect } from '../../db/sql.ts'
import type { Database } from '../../db/sql.ts'
import { between, failuresOf, randomFrom } from './drill.ts'
import type { Drill } from './drill.ts'
import { countsByStatus, describe, longestOpen, longestSilence } from './judgement.ts'
import type { Try } from './requests.ts'
import { everyProcess, judgeEnds, underLoad } from './underLoad.ts'

/** A backend that was ended: whose it was, and whether it was at work. */
export interface Ended {
  application: string
  atWork: boolean
}

/** Those that were ended, and from when to when. */
export interface Terminations {
  ended: readonly Ended[]
  from: number
  to: number
}

const rounds = { short: 5, long: 60 } as const
const everyMs = 1000
const mostAtOnce = 3
const looks = 50
const lookEveryMs = 10
/** What is cut off is refused, and asked again: service as a whole goes on. The rest is for a busy machine. */
const refusedAtMost = 0.1
const silentAtMostMs = 3000

/** Connections are cut from the side of the server, those at work preferred. */
export const backends: Drill = {
  name: 'backends',
  about: 'random backends of PostgreSQL are terminated each second for a minute, in the short form for 5 s',
  run: (options) => {
    const random = randomFrom(options.seed)
    const plan = Array.from({ length: options.short ? rounds.short : rounds.long }, () =>
      Array.from({ length: between(random, 1, mostAtOnce) }, random))
    return underLoad(options, {
      followUpMs: 30_000,
      disturb: async ({ stage, say }) => {
        const killer = connect(stage.databaseUrl, { max: 1, limitMs: 10_000, applicationName: 'bayar drill' })
        const from = performance.now()
        const ended: Ended[] = []
        try {
          for (const places of plan) {
            const next = wait(everyMs)
            ended.push(...await endBusy(killer))
            ended.push(...await endSome(killer, places))
            await next
          }
        } finally {
          await killer.end()
        }
        say(`${ended.length} backends terminated`)
        return { ended, from, to: performance.now() }
      },
      judge: ({ tries, made, stage }) => [...judgeTerminations(tries, made, stage.payments.length), ...judgeEnds(everyProcess(stage))],
      figures: ({ tries, made, stage: { payments } }) => [
        ['requests by status', countsByStatus(tries)],
        ['backends terminated', `${made.ended.length}, at work ${made.ended.filter(({ atWork }) => atWork).length}`],
        ['of', [...Map.groupBy(made.ended, ({ application }) => application)].map(([name, those]) => `${name}: ${those.length}`).sort().join(', ')],
        ['longest without a success, each process', payments.map((_, at) => `${Math.round(longestSilence(tries, at, made.from, made.to))} ms`).join(', ')],
        ['longest open request', `${Math.round(longestOpen(tries))} ms`],
      ],
    })
  },
}

/** Every request has an answer, few are refused, each process serves on, and the faults met what they were meant for. */
export function judgeTerminations(tries: readonly Try[], { ended, from, to }: Terminations, processes: number): string[] {
  const meanwhile = tries.filter((entry) => entry.ended >= from && entry.began <= to)
  const refused = meanwhile.filter(({ status }) => status === 503)
  const silent = Array.from({ length: processes }, (_, at) => at).filter((at) => longestSilence(tries, at, from, to) > silentAtMostMs)
  const share = refused.length / meanwhile.length
  return [
    ...failuresOf('requests without an answer', tries.filter(({ status }) => status === null), describe),
    ...(share <= refusedAtMost ? [] : failuresOf(`more than ${refusedAtMost * 100} % of ${meanwhile.length} requests were answered 503`, refused, describe)),
    ...failuresOf(`processes without a success for ${silentAtMostMs / 1000} s`, silent, (at) => `payments process ${at + 1}`),
    ...(meanwhile.length === 0 ? ['no request was made'] : []),
    ...(ended.some(({ atWork }) => atWork) ? [] : ['no backend was at work when it was terminated']),
    ...(ended.some(({ atWork }) => !atWork) ? [] : ['no backend was idle when it was terminated']),
  ]
}

/** Ends one backend in the midst of its work, as soon as there is one. */
async function endBusy(killer: Database): Promise<Ended[]> {
  for (let look = 0; look < looks; look += 1) {
    const rows = await killer.query((sql) => sql<{ application: string }[]>`
      select application_name as application, pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend' and state <> 'idle'
      limit 1`)
    if (rows.length > 0) return rows.map(({ application }) => ({ application, atWork: true }))
    await wait(lookEveryMs)
  }
  return []
}

/** Ends a backend for each place, which lie between 0 and 1 in the line of those that are there. */
async function endSome(killer: Database, places: readonly number[]): Promise<Ended[]> {
  const there = await killer.query((sql) => sql<{ pid: number }[]>`
    select pid from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'
    order by application_name, backend_start`)
  const chosen = places.flatMap((place) => there.splice(Math.floor(place * there.length), 1))
  // Not as a condition: that might be looked at before the others, for everyone.
  const ended = await killer.query((sql) => sql<(Ended & { done: boolean })[]>`
    select application_name as application, state <> 'idle' as "atWork", pg_terminate_backend(pid) as done from pg_stat_activity
    where pid = any(${chosen.map(({ pid }) => pid)}::int[])`)
  return ended.filter(({ done }) => done)
}
