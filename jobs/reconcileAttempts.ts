import { endChecks, listProvidersWithDueChecks, scheduleCheck, takeDueChecks } from '../db/payments/attemptChecks.ts'
import type { AttemptCheckRow } from '../db/payments/attemptChecks.ts'
import { findPaymentAttempt } from '../db/payments/paymentAttempts.ts'
import type { PaymentAttemptRow } from '../db/payments/paymentAttempts.ts'
import { findProviderOperation } from '../db/payments/providerOperations.ts'
import type { ProviderOperationRow } from '../db/payments/providerOperations.ts'
import type { Database, Sql } from '../db/sql.ts'
import { lastCheckAt, nextCheckAt, retryCheckAt } from '../domain/checkSchedule.ts'
import type { Runtime } from '../domain/runtime.ts'
import { isUnsettled } from '../providers/paymentProvider.ts'
import type { PaymentProvider } from '../providers/paymentProvider.ts'
import { applyCharge } from './applyCharge.ts'
import type { EventSettings } from './paymentEvents.ts'
import { findKnownCharge, providerOf } from './providerCharges.ts'
import { providerLanes } from './providerLanes.ts'
import type { Repeated } from './repeat.ts'
import { atATime, sweep } from './sweep.ts'

export interface ReconcilerSettings extends EventSettings {
  database: Database
  providers: ReadonlyMap<string, PaymentProvider>
  runtime: Pick<Runtime, 'now' | 'randomBytes' | 'sleep'>
}

export type ReconcilerReport = (error: unknown, about: { provider?: string, attemptId?: string }) => void

const everyMs = 5000
/** How long a check is left to whoever took it. Longer than a question to the provider lasts. */
const leaseSeconds = 15
const failedRetrySeconds = 3600

/**
 * Asks providers about attempts that they have said nothing of (decision 3.7), by the schedule of
 * domain/checkSchedule.ts, and applies what they show as a callback would; any number of workers may do so. A provider
 * that is silent is asked as rarely as before, and never holds up another.
 */
export function startReconciler(settings: ReconcilerSettings, report: ReconcilerReport): Repeated {
  return providerLanes(settings, {
    everyMs, waiting: listProvidersWithDueChecks, report,
    turn: (provider, halted) => sweepChecks(settings, provider, report, halted),
  })
}

/** One batch of a provider. True when there may be more, and the provider answers. */
export function sweepChecks(
  settings: ReconcilerSettings, provider: string, report: ReconcilerReport, halted = new AbortController().signal,
): Promise<boolean> {
  const { database, runtime } = settings
  return sweep({
    list: () => {
      const now = runtime.now()
      const leaseUntil = new Date(now.getTime() + leaseSeconds * 1000)
      return database.query((sql) => takeDueChecks(sql, provider, { now, leaseUntil, most: atATime }))
    },
    resume: (check) => reconcileAttempt(check, settings),
    failed: (error, { attempt_id }) => report(error, { provider, attemptId: attempt_id }),
    // No more than are begun at once: a lease runs from the moment it is taken.
    batch: atATime, halted,
  })
}

/** One check. False when the provider did not answer; one that fails is made again in an hour. */
export async function reconcileAttempt(check: AttemptCheckRow, settings: ReconcilerSettings): Promise<boolean> {
  const { database, runtime } = settings
  try {
    return await reconcile(check, await database.query((sql) => read(sql, check)), settings)
  } catch (error) {
    const retryAt = new Date(runtime.now().getTime() + failedRetrySeconds * 1000)
    // Where the database is away its lease lapses by itself.
    await database.query((sql) => scheduleCheck(sql, check, retryAt)).catch(() => undefined)
    throw error
  }
}

interface Checked { operation: ProviderOperationRow, attempt: PaymentAttemptRow }

async function reconcile(check: AttemptCheckRow, { operation, attempt }: Checked, settings: ReconcilerSettings): Promise<boolean> {
  const { database, providers, runtime } = settings
  const before = runtime.now()
  if (isOver(attempt)) {
    await database.query((sql) => endChecks(sql, check))
    return true
  }
  const wait = waitOf(attempt, operation, before)
  if (wait) {
    await database.query((sql) => scheduleCheck(sql, check, wait))
    return true
  }
  const found = await findKnownCharge(providerOf(providers, operation), operation, attempt.charge_reference)
  const now = runtime.now()
  if (isUnsettled(found)) {
    await database.query((sql) => scheduleCheck(sql, check, retryCheckAt(attempt, now)))
    return false
  }
  await database.tx(async (sql) => {
    const { more } = found.outcome === 'found' ? await applyCharge(sql, operation, found.charge, settings, now) : { more: false }
    const next = more ? now : nextCheckAt(attempt, now)
    if (next) await scheduleCheck(sql, check, next)
    else await endChecks(sql, check)
  })
  return true
}

async function read(sql: Sql, { tenant_id, merchant_id, attempt_id }: AttemptCheckRow): Promise<Checked> {
  const attempt = await findPaymentAttempt(sql, tenant_id, merchant_id, attempt_id)
  const key = attempt?.provider_key ?? null
  const operation = key === null ? undefined : await findProviderOperation(sql, tenant_id, merchant_id, key)
  if (!attempt || !operation) throw new Error(`payment attempt ${attempt_id} has no operation to ask about`)
  return { operation, attempt }
}

/** Whether an attempt has ended so that its provider need not be asked: an expired one may have been paid all the same. */
function isOver({ status }: PaymentAttemptRow): boolean {
  return status === 'succeeded' || status === 'reversed' || status === 'failed'
}

/** When to come back to an attempt that is not to be asked about now; null when it is. */
function waitOf(attempt: PaymentAttemptRow, { recovery_point }: ProviderOperationRow, now: Date): Date | null {
  // Its creation is not answered: whoever finishes that asks first.
  if (recovery_point === 'started') return retryCheckAt(attempt, now)
  const last = lastCheckAt(attempt)
  return attempt.status === 'expired' && now < last ? last : null
}
