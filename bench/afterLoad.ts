import type { Database } from '../db/sql.ts'
import { checkInvariants, connectPatiently } from './invariants.ts'
import type { Verdict } from './invariants.ts'
import type { JudgedFigure } from './results.ts'
import { until } from './webhooks/receiver.ts'

/** What the tables said after a load. */
export interface AfterLoad {
  /** Creations that were answered with a 2xx, and intents that came to be meanwhile. */
  acknowledged: number
  created: number
  verdicts: readonly Pick<Verdict, 'name' | 'offenders'>[]
}

/** What is overdue for a minute breaks an invariant, so the wait for it is longer than that. */
const settlingMs = 90_000
const lookEveryMs = 500

/** Intents that can be seen, of all merchants. */
export async function countIntents(database: Database): Promise<number> {
  const [row] = await database.query((sql) => sql<{ count: number }[]>`select count(*)::int as count from payments.payment_intents where visible`)
  return row?.count ?? Number.NaN
}

/** Waits until no operation at a provider is open and no delivery has been due for a second; workers must run. False when that takes too long. */
export function untilSettled(database: Database, limitMs = settlingMs): Promise<boolean> {
  return until(async () => {
    const [row] = await database.query((sql) => sql<{ open: boolean }[]>`
      select exists (select from payments.provider_operations where recovery_point = 'started')
        or exists (select from payments.webhook_deliveries where status = 'pending' and due_at < now() - interval '1 second') as open`)
    return row?.open === false
  }, limitMs, lookEveryMs)
}

/**
 * Lets the workers finish what a load left to them, then asks every invariant, and whether what was acknowledged is
 * there. What is still not finished by then breaks the invariant about it. `before`: the intents that there were before.
 */
export async function checkAfterLoad(databaseUrl: string, { acknowledged, before }: { acknowledged: number, before: number }): Promise<AfterLoad> {
  const database = connectPatiently(databaseUrl)
  try {
    await untilSettled(database)
    return { acknowledged, created: await countIntents(database) - before, verdicts: await checkInvariants(database) }
  } finally {
    await database.end()
  }
}

export function judgeAfterLoad({ acknowledged, created, verdicts }: AfterLoad): JudgedFigure[] {
  const broken = verdicts.filter(({ offenders }) => offenders.length > 0)
  const told = broken.map(({ name, offenders: [first] }) => `${name}, as in ${JSON.stringify(first)}`)
  return [
    {
      name: 'acknowledged creations that are there', figure: `${Math.min(created, acknowledged)} of ${acknowledged}`, bar: 'all',
      held: acknowledged > 0 && created >= acknowledged,
    },
    {
      name: 'invariants after the load', bar: 'all hold', held: verdicts.length > 0 && broken.length === 0,
      figure: broken.length === 0 ? `${verdicts.length} hold` : `${broken.length} of ${verdicts.length} are broken: ${told.join('; ').replaceAll('|', ' ')}`,
    },
  ]
}
