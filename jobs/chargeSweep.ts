import { listDueProviderOperations, listProvidersWithDueOperations } from '../db/payments/providerOperations.ts'
import type { DueProviderOperation } from '../db/payments/providerOperations.ts'
import { resumeChoice } from './channelChoice.ts'
import { resumeCreation } from './chargeCreation.ts'
import type { CreationSettings } from './chargeCreation.ts'
import { dueWithdrawals, withdrawCharge } from './chargeWithdrawal.ts'
import { repeat } from './repeat.ts'
import type { Repeated } from './repeat.ts'

/** Reports a failure of the sweep, with what it was about. */
export type SweepReport = (error: unknown, about: { provider?: string, providerOperationId?: string, attemptId?: string }) => void

const sweepEveryMs = 5000
const unknownProvidersEveryMs = 60_000
const atATime = 8
const batch = 2 * atATime

/**
 * Finishes creations that nobody holds, gives up such choices (decision 3.3), and expires withdrawn charges, every 5 s
 * and at once while there are more. Each provider has lanes of its own, so that a slow one holds up nobody else's.
 */
export function startChargeSweep(settings: CreationSettings, report: SweepReport): Repeated {
  const { database, providers, runtime } = settings
  const sleep = (milliseconds: number) => runtime.sleep(milliseconds)
  const lanes = [...providers.keys()].map((provider) => repeat((halted) => sweep({
    list: () => database.query((sql) => listDueProviderOperations(sql, provider, batch)),
    resume: (operation) => resume(operation, settings),
    failed: (error, { id }) => report(error, { provider, providerOperationId: id }),
    halted,
  }), { everyMs: sweepEveryMs, sleep, report: (error) => report(error, { provider }) }))
  const withdrawals = [...providers.keys()].map((provider) => repeat((halted) => sweep({
    list: () => dueWithdrawals(settings, provider, batch),
    resume: (withdrawal) => withdrawCharge(withdrawal, settings),
    failed: (error, { attempt_id }) => report(error, { provider, attemptId: attempt_id }),
    halted,
  }), { everyMs: sweepEveryMs, sleep, report: (error) => report(error, { provider }) }))
  const unknown = repeat(async () => {
    const names = await database.query(listProvidersWithDueOperations)
    for (const provider of names.filter((name) => !providers.has(name))) {
      report(new Error('operations wait for a provider that is not configured'), { provider })
    }
    return false
  }, { everyMs: unknownProvidersEveryMs, sleep, report: (error) => report(error, {}) })
  return {
    stop: async () => {
      await Promise.all([...lanes, ...withdrawals, unknown].map((task) => task.stop()))
    },
  }
}

function resume({ kind, tenant_id, merchant_id, id }: DueProviderOperation, settings: CreationSettings): Promise<void> {
  switch (kind) {
    case 'create_charge': return resumeCreation(tenant_id, merchant_id, id, settings)
    case 'choose_channel': return resumeChoice(tenant_id, merchant_id, id, settings)
  }
}

export interface Sweep<Item> {
  list(): Promise<readonly Item[]>
  resume(item: Item): Promise<void>
  failed(error: unknown, item: Item): void
  /** Once aborted no further item is begun. */
  halted: AbortSignal
}

/** Resumes what is listed, a few at a time. True when there may be more and nothing failed: then it is worth going on at once. */
export async function sweep<Item>({ list, resume, failed, halted }: Sweep<Item>): Promise<boolean> {
  const due = await list()
  const rest = due.values()
  let failures = 0
  const worker = async (): Promise<void> => {
    for (const item of rest) {
      if (halted.aborted) return
      try {
        await resume(item)
      } catch (error) {
        failures += 1
        failed(error, item)
      }
    }
  }
  await Promise.all(Array.from({ length: atATime }, worker))
  return due.length >= batch && failures === 0
}
