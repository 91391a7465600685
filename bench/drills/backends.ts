import { setTimeout as wait } from 'node:timers/promises'
import { connect } from '../../db/sql.ts'
import type { Database } from '../../db/sql.ts'
import { between, failuresOf } from './drill.ts'
import type { Drill } from './drill.ts'
import { countsByStatus, describe, longestOpen } from './judgement.ts'
import type { Try } from './requests.ts'
import { everyProcess, judgeEnds, underLoad } from './underLoad.ts'

/** A backend that was ended: whose it was, and whether it was at work. */
export interface Ended {
  application: string
  atWork: boolean
}

const rounds = { short: 5, long: 60 } as const
const everyMs = 1000
const mostAtOnce = 3
const looks = 50
const lookEveryMs = 10

/** Connections are cut from the side of the server, those at work preferred. */
export const backends: Drill = {
  name: 'backends',
  about: 'random backends of PostgreSQL are terminated each second for a minute, in the short form for 5 s',
  run: (options) => underLoad(options, {
    followUpMs: 30_000,
    disturb: async ({ stage, random, say }) => {
      const killer = connect(stage.databaseUrl, { max: 1, limitMs: 10_000, applicationName: 'bayar drill' })
      const ended: Ended[] = []
      try {
        for (let round = options.short ? rounds.short : rounds.long; round > 0; round -= 1) {
          const next = wait(everyMs)
          ended.push(...await endBusy(killer))
          ended.push(...await endSome(killer, between(random, 1, mostAtOnce), random))
          await next
        }
      } finally {
        await killer.end()
      }
      say(`${ended.length} backends terminated`)
      return ended
    },
    judge: ({ tries, made, stage }) => [...judgeTerminations(tries, made), ...judgeEnds(everyProcess(stage))],
    figures: ({ tries, made }) => [
      ['requests by status', countsByStatus(tries)],
      ['backends terminated', `${made.length}, at work ${made.filter(({ atWork }) => atWork).length}`],
      ['of', [...Map.groupBy(made, ({ application }) => application)].map(([name, those]) => `${name}: ${those.length}`).sort().join(', ')],
      ['longest open request', `${Math.round(longestOpen(tries))} ms`],
    ],
  }),
}

/** Every request has an answer, and the faults met what they were meant for. */
export function judgeTerminations(tries: readonly Try[], ended: readonly Ended[]): string[] {
  return [
    ...failuresOf('requests without an answer', tries.filter(({ status }) => status === null), describe),
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

async function endSome(killer: Database, count: number, random: () => number): Promise<Ended[]> {
  const there = await killer.query((sql) => sql<{ pid: number }[]>`
    select pid from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`)
  const chosen = there.map(({ pid }) => ({ pid, place: random() })).sort((a, b) => a.place - b.place).slice(0, count)
  // Not as a condition: that might be looked at before the others, for everyone.
  const ended = await killer.query((sql) => sql<(Ended & { done: boolean })[]>`
    select application_name as application, state <> 'idle' as "atWork", pg_terminate_backend(pid) as done from pg_stat_activity
    where pid = any(${chosen.map(({ pid }) => pid)}::int[])`)
  return ended.filter(({ done }) => done)
}
