import { takeDueChecks } from '../../db/payments/attemptChecks.ts'
import { takeDueCallbacks } from '../../db/payments/providerCallbacks.ts'
import { listDueProviderOperations } from '../../db/payments/providerOperations.ts'
import { newId } from '../../db/ids.ts'
import { isDatabaseUnavailable } from '../../db/sql.ts'
import { resumeChoice } from '../../jobs/channelChoice.ts'
import type { CreationSettings } from '../../jobs/chargeCreation.ts'
import { resumeCreation } from '../../jobs/chargeCreation.ts'
import { dueWithdrawals, withdrawCharge } from '../../jobs/chargeWithdrawal.ts'
import { expireDue } from '../../jobs/expireIntents.ts'
import { processCallback } from '../../jobs/processCallback.ts'
import { reconcileAttempt } from '../../jobs/reconcileAttempts.ts'
import type { Job } from './steps.ts'

const provider = 'simulator'
const leaseMs = 15_000
const observer = { processed: () => undefined, failed: (error: unknown) => {
  throw error
} }

/**
 * What a worker does, by hand: everything of one kind that is due now, one after the other. What fails because the
 * database is away is left to the next time, as the worker leaves it.
 */
export function recovery(settings: CreationSettings): (job: Job) => Promise<void> {
  const { database, runtime } = settings
  const lease = () => ({ now: runtime.now(), leaseUntil: new Date(runtime.now().getTime() + leaseMs) })
  const turns: Record<Job, () => Promise<boolean>> = {
    'expiry': () => expireDue(settings),
    'charge sweep': async () => {
      const due = await database.query((sql) => listDueProviderOperations(sql, provider, 100))
      for (const { kind, tenant_id, merchant_id, id } of due) {
        await unlessAway(() => (kind === 'create_charge' ? resumeCreation : resumeChoice)(tenant_id, merchant_id, id, settings))
      }
      return false
    },
    'withdrawals': async () => {
      const due = await dueWithdrawals(settings, provider, 100)
      for (const withdrawal of due) await unlessAway(() => withdrawCharge(withdrawal, settings))
      return false
    },
    'callbacks': async () => {
      const [held] = await database.query((sql) => takeDueCallbacks(sql, provider, { ...lease(), leaseToken: newId(runtime), most: 1 }))
      if (held) await unlessAway(() => processCallback(held, settings, observer))
      return held !== undefined
    },
    'reconciler': async () => {
      const [check] = await database.query((sql) => takeDueChecks(sql, provider, { ...lease(), most: 1 }))
      if (check) await unlessAway(() => reconcileAttempt(check, settings))
      return check !== undefined
    },
  }
  return async (job) => {
    while (await unlessAway(turns[job])) { /* there may be more */ }
  }
}

async function unlessAway<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    if (!isDatabaseUnavailable(error)) throw error
    return undefined
  }
}
