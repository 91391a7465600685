const longestSeconds = 3600
const failuresOfRun = 10
const failuresOfRound = 16

/**
 * Seconds until the next attempt after the `failures`-th failure of a round: min(2^n, 3600) times a factor in
 * [0.5, 1.5) (brief, payments: Events; decision 6.4). `uniform` is a random number in [0, 1).
 */
export function retryDelaySeconds(failures: number, uniform: number): number {
  return Math.min(2 ** failures, longestSeconds) * (0.5 + uniform)
}

/**
 * Seconds that a receiver asks to be left alone, at most 3600: Retry-After of a 429 or 503, as seconds or as a date
 * (RFC 9110, section 10.2.3). 0 when it asks for nothing.
 */
export function requestedDelaySeconds(status: number | null, retryAfter: string | undefined, now: Date): number {
  if ((status !== 429 && status !== 503) || retryAfter === undefined) return 0
  const text = retryAfter.trim()
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - now.getTime()) / 1000
  return Number.isNaN(seconds) ? 0 : Math.min(Math.max(seconds, 0), longestSeconds)
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
  if (run >= failuresOfRun) return { next: 'dead', reason: 'failures', disables: true }
  if (round >= failuresOfRound) return { next: 'dead', reason: 'exhausted', disables: false }
  return { next: 'retry' }
}
