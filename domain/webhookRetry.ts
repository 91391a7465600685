const delayCapSeconds = 3600

/** The numbers that deliveries are made and retried by (brief, payments: Events; decisions 6.4, 6.5, 6.7). */
export const retryPolicy = {
  delayBase: 2,
  delayCapSeconds,
  /** The random factor lies in [min, max). */
  jitter: { min: 0.5, max: 1.5 },
  /** Failures in a row after which a subscription is disabled. */
  failuresToDisable: 10,
  attemptsPerRound: 16,
  /** Longest attempt in all. */
  timeoutSeconds: 30,
  retryAfter: { statuses: [429, 503], capSeconds: delayCapSeconds },
} as const

/**
 * Seconds until the next attempt after the `failures`-th failure of a round: min(2^n, 3600) times a factor in
 * [0.5, 1.5) (brief, payments: Events; decision 6.4). `uniform` is a random number in [0, 1).
 */
export function retryDelaySeconds(failures: number, uniform: number): number {
  const { min, max } = retryPolicy.jitter
  return baseDelaySeconds(failures) * (min + uniform * (max - min))
}

function baseDelaySeconds(failures: number): number {
  return Math.min(retryPolicy.delayBase ** failures, delayCapSeconds)
}

/** A time at which an attempt may be made, and the seconds since the failure before it. */
interface PlannedAttempt {
  delaySeconds: number
  at: Date
}

/** The next attempt after `failures` failures. It is made from `earliest` on and before `latest`. */
export interface NextAttempt {
  failures: number
  earliest: PlannedAttempt
  base: PlannedAttempt
  latest: PlannedAttempt
}

/** The next `count` attempts of a delivery that fails for the first time at `from`, if each of them fails at once. */
export function nextAttempts(from: Date, count: number): NextAttempt[] {
  const at = { earliest: from.getTime(), base: from.getTime(), latest: from.getTime() }
  const planned = (bound: keyof typeof at, delaySeconds: number): PlannedAttempt => {
    at[bound] += delaySeconds * 1000
    return { delaySeconds, at: new Date(at[bound]) }
  }
  return Array.from({ length: count }, (_, index) => {
    const failures = index + 1
    return {
      failures,
      earliest: planned('earliest', retryDelaySeconds(failures, 0)),
      base: planned('base', baseDelaySeconds(failures)),
      latest: planned('latest', retryDelaySeconds(failures, 1)),
    }
  })
}

/**
 * Seconds that a receiver asks to be left alone, at most 3600: Retry-After of a 429 or 503, as seconds or as a date
 * (RFC 9110, section 10.2.3). 0 when it asks for nothing.
 */
export function requestedDelaySeconds(status: number | null, retryAfter: string | undefined, now: Date): number {
  const { statuses, capSeconds } = retryPolicy.retryAfter
  if (!statuses.some((honoured) => honoured === status) || retryAfter === undefined) return 0
  const text = retryAfter.trim()
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - now.getTime()) / 1000
  return Number.isNaN(seconds) ? 0 : Math.min(Math.max(seconds, 0), capSeconds)
}

/** What stands when a failed attempt is judged, this failure included. */
export interface FailureStanding {
  subscription: 'active' | 'inactive' | 'deleted'
  /** Failures since the latest of: creation, replay, the subscription's last success, its last activation. */
  run: number
  /** Failures since creation or replay. */
  round: number
}

export type FailureVerdict =
  | { next: 'retry' }
  /** Until the subscription is active again. */
  | { next: 'wait' }
  | { next: 'dead', reason: 'failures' | 'exhausted' | 'subscription_deleted', disables: boolean }

/** What becomes of a delivery and its subscription after a failed attempt (decision 6.5). */
export function judgeFailure({ subscription, run, round }: FailureStanding): FailureVerdict {
  if (subscription === 'deleted') return { next: 'dead', reason: 'subscription_deleted', disables: false }
  if (subscription === 'inactive') return { next: 'wait' }
  if (run >= retryPolicy.failuresToDisable) return { next: 'dead', reason: 'failures', disables: true }
  if (round >= retryPolicy.attemptsPerRound) return { next: 'dead', reason: 'exhausted', disables: false }
  return { next: 'retry' }
}
