import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { randomFrom } from './drill.ts'
import { isFailed, recordedSend } from './requests.ts'
import type { Try } from './requests.ts'
import type { Stage, StagedMerchant } from './stage.ts'

/** Intents that are created one after the other, each tried until it is answered. */
export interface Creations {
  /** Ids that were answered 201. */
  acknowledged: readonly string[]
  tries: readonly Try[]
  /** Answers that no fault excuses, and intents that have none after a minute. */
  wrong: readonly string[]
  /** Begins no more, and resolves when each has its answer. */
  finish(): Promise<void>
}

const againMs = 100
const answeredWithinMs = 60_000

/** Starts to create an intent every so many milliseconds, at a process by chance, for merchants in turn. Each draws from a sequence of its own. */
export function startCreations(stage: Stage, merchants: readonly StagedMerchant[], everyMs: number, seed: number): Creations {
  const tries: Try[] = []
  const acknowledged: string[] = []
  const wrong: string[] = []
  const send = recordedSend(stage.payments.map(({ url }) => url), tries)
  const open = new Set<Promise<void>>()
  let ending = false

  const create = async (merchant: StagedMerchant, random: () => number): Promise<void> => {
    const began = performance.now()
    const key = randomUUID()
    const body = { amount_idr: 10_000 + Math.floor(random() * 90_000), allowed_channels: ['qris', 'va_bank_a'] }
    for (let again = false; ; again = true) {
      const process = Math.floor(random() * stage.payments.length)
      const answer = await send('createPaymentIntent', process, { merchant, path: '/v1/payments/intents', key, body, again })
      if (isFailed(answer) && performance.now() - began < answeredWithinMs && !stage.closing.aborted) {
        await wait(againMs)
        continue
      }
      if (answer.status === 201 && answer.body.id !== undefined) acknowledged.push(answer.body.id)
      else wrong.push(`createPaymentIntent under ${key}: ${answer.status} ${answer.problem}`)
      return
    }
  }

  const running = (async () => {
    for (let at = 0; !ending && !stage.closing.aborted; at += 1) {
      const created = create(merchants[at % merchants.length] as StagedMerchant, randomFrom(seed, at)).finally(() => open.delete(created))
      open.add(created)
      await wait(everyMs)
    }
  })()

  return {
    acknowledged, tries, wrong,
    async finish() {
      ending = true
      await running
      await Promise.all(open)
    },
  }
}
