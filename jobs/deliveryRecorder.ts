import { isDatabaseUnavailable } from '../db/sql.ts'
import type { DatabaseUnavailable } from '../db/sql.ts'
import type { DeliveryOutcome, DeliverySettings } from './deliverySettings.ts'
import { recordFailures, recordSuccesses } from './deliveryResults.ts'
import type { AnsweredDelivery } from './deliveryResults.ts'
import { gather } from './gather.ts'

type RecorderSettings = Pick<DeliverySettings, 'database' | 'boss' | 'runtime'>

const writtenAtATime = 100
const subscriptionsAtATime = 4
const againMs = 250
/** About as long as leases last; then another worker is at it. */
const patienceMs = 10_000

/** Writes answers as they come, many together. While the database is away it keeps them for as long as a lease may last. */
export function answerRecorder(settings: RecorderSettings): (answer: AnsweredDelivery) => Promise<DeliveryOutcome> {
  const patiently = <Result>(write: () => Promise<Result>): Promise<Result> => persist(write, settings.runtime)
  const succeed = gather({ most: writtenAtATime, work: (answers: readonly AnsweredDelivery[]) => patiently(() => recordSuccesses(answers, settings)) })
  const fail = gather({
    most: writtenAtATime,
    // One subscription's answers in one transaction: they would only wait for each other's lock.
    async work(answers: readonly AnsweredDelivery[]): Promise<PromiseSettledResult<DeliveryOutcome>[]> {
      const outcomes = new Map<AnsweredDelivery, PromiseSettledResult<DeliveryOutcome>>()
      const rest = [...Map.groupBy(answers, ({ delivery }) => delivery.subscription_id).values()].values()
      const write = async (): Promise<void> => {
        for (const group of rest) {
          const [first] = group
          if (!first) continue
          await patiently(() => recordFailures(first.delivery, group, settings)).then(
            (values) => values.forEach((value, at) => outcomes.set(group[at] as AnsweredDelivery, { status: 'fulfilled', value })),
            (reason: unknown) => group.forEach((answer) => outcomes.set(answer, { status: 'rejected', reason })),
          )
        }
      }
      await Promise.all(Array.from({ length: subscriptionsAtATime }, write))
      return answers.map((answer) => outcomes.get(answer) ?? { status: 'rejected', reason: new Error('an answer was not written') })
    },
  })
  return async (answer) => {
    if (answer.result.succeeded) return succeed(answer)
    const outcome = await fail(answer)
    if (outcome.status === 'rejected') throw outcome.reason
    return outcome.value
  }
}

async function persist<Result>(write: () => Promise<Result>, { now, sleep }: RecorderSettings['runtime']): Promise<Result> {
  const began = now().getTime()
  for (;;) {
    try {
      return await write()
    } catch (error) {
      const final = !isDatabaseUnavailable(error) || (error as DatabaseUnavailable).reason === 'closed'
      if (final || now().getTime() - began > patienceMs) throw error
      await sleep(againMs)
    }
  }
}
