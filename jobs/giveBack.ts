import { leaseSeconds, releaseProviderOperation } from '../db/payments/providerOperations.ts'
import type { ProviderOperationRow } from '../db/payments/providerOperations.ts'
import { isDatabaseUnavailable } from '../db/sql.ts'
import type { Database, DatabaseUnavailable } from '../db/sql.ts'
import type { Runtime } from '../domain/runtime.ts'

interface GivingBack {
  database: Database
  runtime: Pick<Runtime, 'sleep'>
}

const giveBackEveryMs = 250

/**
 * Gives the lease of an operation that lost the database back once that is there again, so that the client's retry need
 * not wait until it lapses. Where a transaction was committed after all, or another holds the lease, nothing changes.
 */
export async function giveBack(operation: ProviderOperationRow, { database, runtime }: GivingBack): Promise<void> {
  for (let waited = 0; waited < leaseSeconds * 1000; waited += giveBackEveryMs) {
    await runtime.sleep(giveBackEveryMs)
    try {
      await database.query((sql) => releaseProviderOperation(sql, operation, 0))
      return
    } catch (error) {
      // A process that ends leaves the lease to lapse, as it does with whatever else is wrong.
      if (!isDatabaseUnavailable(error) || (error as DatabaseUnavailable).reason === 'closed') return
    }
  }
}
