import { failuresOf } from './drill.ts'
import { isSuccess } from './requests.ts'
import type { Try } from './requests.ts'

export const openAtMostMs = 10_000
export const backWithinMs = 5000
/** Service is full again when this long nothing is answered 503. */
const calmMs = 1000

/** A time in which something was away, by this process's clock. */
export interface Outage {
  from: number
  /** Accepts connections again. */
  to: number
}

/** Milliseconds that the longest request was open. */
export function longestOpen(tries: readonly Try[]): number {
  return tries.reduce((longest, { began, ended }) => Math.max(longest, ended - began), 0)
}

/** What no fault excuses. */
export function judgeAnswers(tries: readonly Try[]): string[] {
  const long = tries.filter(({ began, ended }) => ended - began > openAtMostMs)
  const broken = tries.filter(({ status }) => status !== null && status >= 500 && status !== 503)
  const bare = tries.filter(({ status, retryAfter }) => status === 503 && !retryAfter)
  return [
    ...failuresOf(`requests open longer than ${openAtMostMs / 1000} s`, long, describe),
    ...failuresOf('5xx other than 503', broken, describe),
    ...failuresOf('503 without Retry-After', bare, describe),
  ]
}

/** Milliseconds from the end of an outage to the first success asked for after it; null when none came by `until`. */
export function firstSuccess(tries: readonly Try[], { to }: Outage, until: number): number | null {
  const successes = tries.filter(({ status, began, ended }) => isSuccess(status) && began >= to && ended <= until)
  return successes.length === 0 ? null : Math.min(...successes.map(({ ended }) => ended)) - to
}

/**
 * Milliseconds from the end of an outage to the moment after which nothing is answered 503 for a second; null when
 * that second never comes by `until`.
 */
export function fullService(tries: readonly Try[], { to }: Outage, until: number): number | null {
  const refusals = tries.filter(({ status, ended }) => status === 503 && ended >= to && ended <= until)
  const times = [to, ...refusals.map(({ ended }) => ended).sort((a, b) => a - b)]
  const last = times.find((time, at) => (times[at + 1] ?? Infinity) - time > calmMs)
  return last === undefined || last + calmMs > until ? null : last - to
}

/** A calm ends once service is whole again, which takes a second without refusal; it is waited for so long. */
export const calmAtMostMs = backWithinMs + 1500

/** Whether something succeeded since an outage, and then nothing was refused for a second. */
export function isWhole(tries: readonly Try[], outage: Outage, now: number): boolean {
  return firstSuccess(tries, outage, now) !== null && fullService(tries, outage, now) !== null
}

/** Whether an answer that came at that time is excused by an outage: while it lasted, and until service has to be back. */
export function isExcused({ ended }: Pick<Try, 'ended'>, outages: readonly Outage[]): boolean {
  return outages.some(({ from, to }) => ended >= from && ended <= to + backWithinMs)
}

/** The longest time from `from` to `to` in which a process answered nothing with a success, milliseconds. */
export function longestSilence(tries: readonly Try[], process: number, from: number, to: number): number {
  const successes = tries.filter((entry) => entry.process === process && isSuccess(entry.status) && entry.ended > from && entry.ended < to)
  const times = [from, ...successes.map(({ ended }) => ended).sort((a, b) => a - b), to]
  return Math.max(...times.map((time, at) => time - (times[at - 1] ?? from)))
}

/** Counts of answers, `none` for requests without one. */
export function countsByStatus(tries: readonly Try[]): string {
  const counts = Map.groupBy(tries, ({ status }) => status ?? 'none')
  return [...counts].map(([status, group]) => `${status}: ${group.length}`).sort().join(', ')
}

export function describe({ operation, process, began, ended, status, problem, again }: Try): string {
  const where = `${operation}${again ? ' again' : ''} at process ${process + 1}`
  const when = `${Math.round(ended - began)} ms, at ${(began / 1000).toFixed(2)} s`
  return `${where}, ${when}: ${status ?? 'no answer'} ${problem}`
}
