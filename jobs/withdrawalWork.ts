import { takeIntentWithdrawals } from '../db/payments/intentWithdrawals.ts'
import type { Boss } from './boss.ts'
import type { CreationSettings } from './chargeCreation.ts'
import { withdrawCharge } from './chargeWithdrawal.ts'
import { withdrawalQueue } from './endAttempts.ts'
import type { WithdrawalJob } from './endAttempts.ts'
import { work } from './worker.ts'

const retrySeconds = 30

/** Works on the queue of intents that ended with charges to be expired at the provider, in a worker. */
export async function workOnWithdrawals(boss: Boss, settings: CreationSettings): Promise<void> {
  await work<WithdrawalJob>(boss, withdrawalQueue, ({ data }) => withdrawChargesOf(data, settings))
}

/** Expires the charges of an intent that are to be; without an answer of the provider the sweep tries again. */
export async function withdrawChargesOf({ tenant_id, merchant_id, intent_id }: WithdrawalJob, settings: CreationSettings): Promise<void> {
  const due = await settings.database.query((sql) => takeIntentWithdrawals(sql, tenant_id, merchant_id, intent_id, retrySeconds))
  for (const withdrawal of due) await withdrawCharge(withdrawal, settings)
}
