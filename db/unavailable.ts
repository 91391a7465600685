/** Why a database call could not be done now; every one of them may be tried again. */
export type UnavailableReason = 'busy' | 'deadline' | 'connect' | 'lost' | 'timeout' | 'resources' | 'closed'

/**
 * The database did not do the work in time (decision 9.3): answer 503 with Retry-After.
 * With `deadline` and `lost` the outcome is unknown, a commit may have happened: the idempotency key settles it.
 */
export class DatabaseUnavailable extends Error {
  readonly reason: UnavailableReason

  constructor(reason: UnavailableReason, cause?: unknown) {
    super(`database unavailable: ${reason}`, cause === undefined ? undefined : { cause })
    this.name = 'DatabaseUnavailable'
    this.reason = reason
  }
}

const byCode: Record<string, UnavailableReason> = {
  ECONNREFUSED: 'connect',
  ENOTFOUND: 'connect',
  EAI_AGAIN: 'connect',
  EHOSTUNREACH: 'connect',
  ENETUNREACH: 'connect',
  EHOSTDOWN: 'connect',
  EADDRNOTAVAIL: 'connect',
  CONNECT_TIMEOUT: 'connect',
  ECONNRESET: 'lost',
  ECONNABORTED: 'lost',
  EPIPE: 'lost',
  ETIMEDOUT: 'lost',
  CONNECTION_CLOSED: 'lost',
  CONNECTION_DESTROYED: 'lost',
  CONNECTION_ENDED: 'lost',
  // SQLSTATEs, PostgreSQL's appendix A
  '57P01': 'lost',
  '57P02': 'lost',
  '57P03': 'connect',
  '57P05': 'lost',
  '57014': 'timeout',
  '25P03': 'timeout',
  '25P04': 'timeout',
}

const classes: Record<string, UnavailableReason> = { '08': 'lost', '53': 'resources' }

// node-pg, which the job queue brings, reports these two without a code
const codeless: [RegExp, UnavailableReason][] = [
  [/^Connection terminated/, 'lost'],
  [/^timeout exceeded when trying to connect/, 'connect'],
]

/** The reason an error of either driver stands for, undefined when the database did answer. */
export function unavailableReason(error: unknown): UnavailableReason | undefined {
  if (error instanceof DatabaseUnavailable) return error.reason
  if (!(error instanceof Error)) return undefined
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  const named = byCode[code]
  if (named) return named
  if (/^[0-9A-Z]{5}$/.test(code)) return classes[code.slice(0, 2)]
  return code === '' ? codeless.find(([text]) => text.test(error.message))?.[1] : undefined
}

/** True for DatabaseUnavailable and for the raw errors of a lost, refused, full or timed-out connection. */
export function isDatabaseUnavailable(error: unknown): boolean {
  return unavailableReason(error) !== undefined
}

const violations = new Set(['23505', '23503', '23514', '23P01'])

/** Name of the unique, foreign key, check or exclusion constraint that refused a row, else undefined. */
export function constraintOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error) || !violations.has(String(error.code))) return undefined
  // postgres.js calls the field constraint_name, node-pg constraint
  for (const field of ['constraint_name', 'constraint']) {
    const name: unknown = Reflect.get(error, field)
    if (typeof name === 'string') return name
  }
  return undefined
}
