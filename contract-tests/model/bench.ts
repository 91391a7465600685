import { startPayments } from '../harness/payments.ts'
import type { PaymentsBench } from '../harness/payments.ts'
import { clockedDatabase, setDatabaseClock } from './databaseClock.ts'
import { startStory } from './driver.ts'
import type { DriverParts } from './driver.ts'
import { faultLine } from './faults.ts'
import { callbackHeaders, providerNetwork } from './network.ts'
import type { ChargeView, ProviderNetwork } from './network.ts'
import { recovery } from './recovery.ts'
import { written } from './steps.ts'
import type { Step } from './steps.ts'

/** A service and a provider with faults between them, and a model of what must become of its intents. */
export interface ModelBench {
  bench: PaymentsBench
  /** Runs a sequence from nothing to its end. Answers how many of its steps were done; throws what deviates, with the sequence. */
  run(steps: readonly Step[]): Promise<number>
}

/** Starts the payments service for the model. Ends with the test file. */
export async function startModel(): Promise<ModelBench> {
  const line = faultLine()
  const network: ProviderNetwork = providerNetwork((charge) => payAtOnce(charge))
  const bench = await startPayments({
    // Every answer is judged by the caller.
    settings: { BAYAR_CHECK_RESPONSES: 'off' }, prepare: clockedDatabase, database: (own) => line.database(own), sleep: (milliseconds) => line.sleep(milliseconds),
    toProvider: line.network((input, init) => network.toProvider(input, init)), fromProvider: (input, init) => network.fromProvider(input, init),
  })
  const { clock, credential, database, simulator } = bench
  await setDatabaseClock(database, clock.now())

  async function payAtOnce({ reference }: ChargeView): Promise<void> {
    const waiting = network.letters.length
    const { charge } = await simulator.pay(reference)
    network.see(charge)
    const [letter] = network.letters.splice(waiting)
    if (!letter) return
    network.delivered.push(letter)
    await bench.send('receivePspWebhook', {
      params: { provider: 'simulator', credentialId: credential.id }, body: letter.body, headers: callbackHeaders(credential.secret, letter.body, clock.now()),
    })
  }

  const parts: DriverParts = { bench, line, network, recover: recovery({ ...bench.creation, database: line.database(database) }) }
  return {
    bench,
    async run(steps) {
      const story = await startStory(parts)
      let done = 0
      for (const [at, step] of [...steps, null].entries()) {
        try {
          if (step === null) await story.settle()
          else if (await story.step(step)) done += 1
        } catch (error) {
          throw new Error(`${step === null ? 'settling after all steps' : `step ${at + 1}`}: ${String(error instanceof Error ? error.message : error)}\n${inLines(steps, at)}`, { cause: error })
        }
      }
      return done
    },
  }
}

function inLines(steps: readonly Step[], to: number): string {
  return steps.slice(0, to + 1).map((step, at) => `${at === to ? '>' : ' '} ${written(step)},`).join('\n')
}
