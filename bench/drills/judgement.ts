import type { Try } from './callers.ts'
import { failuresOf } from './drill.ts'

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
  return [
    ...failuresOf(`requests open longer than ${openAtMostMs / 1000} s`, tries.filter(({ began, ended }) => ended - began > openAtMostMs), describe),
    ...failuresOf('5xx other than 503', tries.filter(({ status }) => status !== null && status >= 500 && status !== 503), describe),
    ...failuresOf('503 without Retry-After', tries.filter(({ status, retryAfter }) => status === 503 && !retryAfter), describe),
  ]
}

/** Milliseconds from the end of an outage to the first success that was asked for after it; null when there was none before `until`. */
export function firstSuccess(tries: readonly Try[], { to }: Outage, until: number): number | null {
  const times = tries.filter(({ status, began, ended }) => isSuccess(status) && began >= to && ended <= until).map(({ ended }) => ended - to)
  return times.length === 0 ? null : Math.min(...times)
}

/** Milliseconds from the end of an outage to the moment after which, for a second, nothing is answered 503; null when that never comes before `until`. */
export function fullService(tries: readonly Try[], { to }: Outage, until: number): number | null {
  const refusals = tries.filter(({ status, ended }) => status === 503 && ended >= to && ended <= until).map(({ ended }) => ended).sort((a, b) => a - b)
  const last = [to, ...refusals].find((time, at, all) => (all[at + 1] ?? Infinity) - time > calmMs)
  return last === undefined || last + calmMs > until ? null : last - to
}

export function isSuccess(status: number | null): boolean {
  return status !== null && status >= 200 && status < 300
}

/** Counts of answers, `none` for requests without one. */
export function countsByStatus(tries: readonly Try[]): string {
  const counts = Map.groupBy(tries, ({ status }) => status ?? 'none')
  return [...counts].map(([status, group]) => `${status}: ${group.length}`).sort().join(', ')
}

export function describe({ operation, process, began, ended, status, problem, again }: Try): string {
  return `${operation}${again ? ' again' : ''} at process ${process + 1}, ${Math.round(ended - began)} ms, at ${(began / 1000).toFixed(2)} s: ${status ?? ''} ${problem}`
}
