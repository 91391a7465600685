import { randomInt } from 'node:crypto'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { checkInvariants, connectPatiently, describeVerdicts } from '../bench/invariants.ts'
import { startModel } from './model/bench.ts'
import { sequences } from './model/steps.ts'

// BAYAR_SEED repeats a run, BAYAR_MODEL_STEPS makes it longer.
const seed = Number(process.env.BAYAR_SEED ?? randomInt(2 ** 31))
const steps = Number(process.env.BAYAR_MODEL_STEPS ?? 2000)

/** A long run says how far it is. */
const tellEvery = 5000

const { bench, run } = await startModel()

test(`payment intents become what a model says, through ${steps} random steps with faults, and the invariants hold after them`, { timeout: 120_000 + steps * 300 }, async () => {
  let done = 0
  let told = 0
  for (let next = seed; done < steps; next += 1) {
    if (done - told >= tellEvery) console.log(`${told = done} of ${steps} steps from seed ${seed}`)
    const result = await fc.check(fc.asyncProperty(sequences, async (sequence) => {
      done += await run(sequence)
    }), { seed: next, numRuns: 1 })
    if (result.failed) {
      const repeat = `BAYAR_SEED=${next} BAYAR_MODEL_STEPS=1 vitest run contract-tests/intentModel.test.ts`
      const shortest = result.errorInstance instanceof Error ? result.errorInstance.message : String(result.errorInstance)
      throw new Error(`${repeat} repeats this, after ${done} steps from seed ${seed}; the shortest sequence that shows it:\n${shortest}`)
    }
  }
  const patient = connectPatiently(bench.databaseUrl)
  const verdicts = await checkInvariants(patient).finally(() => patient.end())
  expect(verdicts.filter(({ offenders }) => offenders.length > 0), describeVerdicts(verdicts)).toEqual([])
})
