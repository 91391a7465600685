import type { Database } from '../../db/sql.ts'
import { until } from '../webhooks/receiver.ts'
import type { ReceiverProcess } from '../webhooks/receiver.ts'
import { failuresOf } from './drill.ts'

const settledWithinMs = 60_000
const lookEveryMs = 200
/** The receiver tells of what arrived many at a time. */
const toldWithinMs = 5000

/** How much is begun or due, and not finished. */
export interface Unfinished {
  operations: number
  callbacks: number
  deliveries: number
}

/** Counts provider operations without an end, callbacks that were not processed, and deliveries that are to be made still. */
export async function countUnfinished(database: Database): Promise<Unfinished> {
  const [row] = await database.query((sql) => sql<Unfinished[]>`
    select
      (select count(*)::int from payments.provider_operations where recovery_point = 'started') as operations,
      (select count(*)::int from payments.provider_callbacks where outcome = 'received') as callbacks,
      (select count(*)::int from payments.webhook_deliveries d
        join payments.webhook_subscriptions s on s.id = d.subscription_id and s.active
        where d.status = 'pending') as deliveries`)
  if (!row) throw new Error('nothing was counted')
  return row
}

/**
 * Waits until nothing is begun or due, and then the invariants tell what became of everything; a failure where that takes
 * more than a minute. A delivery that waits for its next attempt counts too: the receiver refuses none.
 */
export async function awaitSettled(database: Database): Promise<string[]> {
  let left: Unfinished = { operations: 0, callbacks: 0, deliveries: 0 }
  const settled = await until(async () => {
    left = await countUnfinished(database)
    return isFinished(left)
  }, settledWithinMs, lookEveryMs)
  return settled ? [] : judgeUnfinished(left)
}

function isFinished({ operations, callbacks, deliveries }: Unfinished): boolean {
  return operations === 0 && callbacks === 0 && deliveries === 0
}

/** A failure for what is unfinished. */
export function judgeUnfinished(left: Unfinished): string[] {
  if (isFinished(left)) return []
  const { operations, callbacks, deliveries } = left
  return [`${settledWithinMs / 1000} s after the load are unfinished: ${operations} provider operations, ${callbacks} callbacks, ${deliveries} deliveries`]
}

/** Failures for events that were written and did not reach the receiver, and for a load that wrote none. */
export async function judgeTold(database: Database, receiver: ReceiverProcess): Promise<string[]> {
  const events = await database.query((sql) => sql<{ id: string, kind: string }[]>`select id, kind from payments.events`)
  const untold = (): { id: string, kind: string }[] => events.filter(({ id }) => !receiver.arrived.has(id))
  await until(() => untold().length === 0, toldWithinMs)
  return [
    ...failuresOf('events that the receiver was not told of', untold(), ({ id, kind }) => `${kind} ${id}`),
    ...(events.length === 0 ? ['no event was written'] : []),
  ]
}
