import { listDueProviderOperations, listProvidersWithDueOperations } from '../db/payments/providerOperations.ts'
import type { DueProviderOperation } from '../db/payments/providerOperations.ts'
import { resumeChoice } from './channelChoice.ts'
import { resumeCreation } from './chargeCreation.ts'
import type { CreationSettings } from './chargeCreation.ts'
import { dueWithdrawals, withdrawCharge } from './chargeWithdrawal.ts'
import { providerLanes } from './providerLanes.ts'
import type { Repeated } from './repeat.ts'
import { atATime, sweep } from './sweep.ts'

/** Reports a failure of the sweep, with what it was about. */
export type SweepReport = (error: unknown, about: { provider?: string, providerOperationId?: string, attemptId?: string }) => void

const sweepEveryMs = 5000
const batch = 2 * atATime

/**
 * Finishes creations that nobody holds, gives up such choices (decision 3.3), and expires withdrawn charges, every 5 s
 * and at once while there are more, each provider in a lane of its own.
 */
export function startChargeSweep(settings: CreationSettings, report: SweepReport): Repeated {
  const { database } = settings
  const operations = providerLanes(settings, {
    everyMs: sweepEveryMs, waiting: listProvidersWithDueOperations, report,
    turn: (provider, halted) => sweep({
      list: () => database.query((sql) => listDueProviderOperations(sql, provider, batch)),
      resume: (operation) => resume(operation, settings),
      failed: (error, { id }) => report(error, { provider, providerOperationId: id }),
      halted,
    }),
  })
  const withdrawals = providerLanes(settings, {
    everyMs: sweepEveryMs, report,
    turn: (provider, halted) => sweep({
      list: () => dueWithdrawals(settings, provider, batch),
      resume: (withdrawal) => withdrawCharge(withdrawal, settings),
      failed: (error, { attempt_id }) => report(error, { provider, attemptId: attempt_id }),
      halted,
    }),
  })
  return {
    stop: async () => {
      await Promise.all([operations.stop(), withdrawals.stop()])
    },
  }
}

function resume({ kind, tenant_id, merchant_id, id }: DueProviderOperation, settings: CreationSettings): Promise<void> {
  switch (kind) {
    case 'create_charge': return resumeCreation(tenant_id, merchant_id, id, settings)
    case 'choose_channel': return resumeChoice(tenant_id, merchant_id, id, settings)
  }
}
