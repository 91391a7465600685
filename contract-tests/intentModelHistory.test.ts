import { afterAll, expect, test } from 'vitest'
import { checkInvariants, describeVerdicts } from '../bench/invariants.ts'
import { startModel } from './model/bench.ts'
import type { Step } from './model/steps.ts'

// The shortest sequences of runs of the model that have failed, each with what it showed.
const failed: readonly (readonly [shown: string, ...steps: Step[]])[] = [
  [
    'a creation given up unseen, for several uses, is told to have expired when late money shows it',
    { do: 'create', channels: ['va_bank_a'], uses: 3, amount: 150_000, mood: 'silent after' },
    { do: 'wait', seconds: 35 },
    { do: 'run', job: 'charge sweep' },
    { do: 'pay', charge: 0, late: true, tell: true },
  ],
  [
    'a creation shown by money past its deadline is told to have expired once',
    { do: 'create', channels: ['va_bank_a'], uses: 3, amount: 150_000, seconds: 60, mood: 'silent after' },
    { do: 'wait', seconds: 61 },
    { do: 'pay', charge: 0, late: true, tell: true },
  ],
  [
    'late money is recorded although the reference of its intent is another\'s since',
    { do: 'create', channels: ['qris'], uses: 1, amount: 150_000, mood: 'silent after' },
    { do: 'wait', seconds: 35 },
    { do: 'run', job: 'charge sweep' },
    { do: 'create', channels: ['qris'], uses: 1, amount: 150_000, reference: 0 },
    { do: 'pay', charge: 0, late: true, tell: true },
  ],
  [
    'a wrong amount that was taken back does not become the amount that is due',
    { do: 'create', channels: ['qris'], uses: 1, amount: 150_000 },
    { do: 'pay', charge: 0, amount: 'wrong', tell: true },
    { do: 'reverse', charge: 0, tell: true },
    { do: 'pay', charge: 0, late: true, tell: true },
  ],
  [
    'a declined payment at a point of sale leaves nothing to be tried',
    { do: 'create', channels: ['qris'], uses: 1, amount: 150_000, pos: true },
    { do: 'decline', charge: 0, tell: true },
    { do: 'complete in sandbox', intent: 0 },
  ],
  [
    'a creation that a crash undid has its deadline from when it is made',
    { do: 'create', channels: ['qris', 'va_bank_a'], uses: 1, amount: 150_000, keyed: true, fault: { kind: 'crash', point: 1 } },
    { do: 'wait', seconds: 16 },
    { do: 'create again', intent: 0 },
  ],
  [
    'a callback under another reference proves nothing: a payment that it alone tells of is in its case alone',
    { do: 'create', channels: ['ewallet_wallet_a'], uses: 3, amount: 150_000 },
    { do: 'choose', intent: 0, channel: 0 },
    { do: 'pay', charge: 1, tell: true },
    { do: 'pay', charge: 1, tell: false, late: true },
    { do: 'deliver lie', charge: 1, about: 'reference' },
  ],
]

const { bench, run } = await startModel()

test.each(failed)('%s', async (_, ...steps) => {
  expect(await run(steps as Step[])).toBe(steps.length)
})

afterAll(async () => {
  const verdicts = await checkInvariants(bench.database)
  expect(verdicts.filter(({ offenders }) => offenders.length > 0), describeVerdicts(verdicts)).toEqual([])
})
