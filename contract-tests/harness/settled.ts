import { setTimeout as wait } from 'node:timers/promises'
import type { Database } from '../../db/sql.ts'

/** Waits for `act`, then until every callback that the service has received is processed: none is `received` any more. */
export type Settled = <Result = void>(act?: Promise<Result>) => Promise<Result>

const lookEveryMs = 5
/** A callback whose process was killed is processed by a worker once its lease has lapsed. */
const limitMs = 30_000

/** As above, by looking at the rows: a callback is answered before it is processed. */
export function settlingIn(database: Database): Settled {
  return async <Result>(act?: Promise<Result>) => {
    const result = await act
    for (let waited = 0; waited < limitMs; waited += lookEveryMs) {
      const rows = await database.query((sql) => sql`select from payments.provider_callbacks where outcome = 'received' limit 1`)
      if (rows.length === 0) return result as Result
      await wait(lookEveryMs)
    }
    throw new Error('a callback is still not processed')
  }
}
