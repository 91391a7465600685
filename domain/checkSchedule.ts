/** After how many seconds from its creation an attempt is asked about; then every hour. */
const firstSeconds = [30, 120, 600] as const
const everySeconds = 3600
/** Money that was under way at an attempt's end has arrived by then. */
const afterEndSeconds = 120
/** An attempt without an end of its own is no longer asked about after so many days. */
const endlessDays = 30

/** Share of a wait that it is stretched by at most, so that attempts made together are not asked about together. */
const spread = 0.1

export interface CheckedAttempt {
  /** A UUIDv7: its random end is what spreads the checks. */
  id: string
  created_at: Date
  expires_at: Date | null
}

/** When the provider is asked about a new attempt for the first time. */
export function firstCheckAt(attempt: CheckedAttempt): Date {
  return nextCheckAt(attempt, attempt.created_at) ?? lastCheckAt(attempt)
}

/**
 * When it is asked next, after it was asked at `now`: 30 s, 2 min and 10 min after the creation, then hourly until the
 * attempt's end, and once soon after that. Null after the last time.
 */
export function nextCheckAt(attempt: CheckedAttempt, now: Date): Date | null {
  const last = lastCheckAt(attempt)
  if (now >= last) return null
  const next = regularCheckAt(attempt, now)
  return next < endOf(attempt) ? next : last
}

/** The check after an attempt's end, which finds what was paid at the last moment and never reported. */
export function lastCheckAt(attempt: CheckedAttempt): Date {
  return later(endOf(attempt), afterEndSeconds * (1 + share(attempt)))
}

/** The next try of a check that got no answer: never sooner than a regular one, and hourly when none is left. */
export function retryCheckAt(attempt: CheckedAttempt, now: Date): Date {
  return nextCheckAt(attempt, now) ?? later(now, everySeconds * (1 + spread * share(attempt)))
}

function regularCheckAt(attempt: CheckedAttempt, now: Date): Date {
  const { created_at } = attempt
  const stretch = 1 + spread * share(attempt)
  const early = firstSeconds.map((seconds) => later(created_at, seconds * stretch)).find((at) => at > now)
  if (early) return early
  const hourlyFrom = later(created_at, firstSeconds[2] + everySeconds * (stretch - 1))
  const hours = Math.floor((now.getTime() - hourlyFrom.getTime()) / 1000 / everySeconds) + 1
  return later(hourlyFrom, Math.max(hours, 1) * everySeconds)
}

function endOf({ created_at, expires_at }: CheckedAttempt): Date {
  return expires_at ?? later(created_at, endlessDays * 86_400)
}

/** A number in [0, 1) of the attempt's own. */
function share({ id }: CheckedAttempt): number {
  return Number.parseInt(id.slice(-8), 16) / 2 ** 32
}

function later(time: Date, seconds: number): Date {
  return new Date(time.getTime() + Math.round(seconds * 1000))
}
