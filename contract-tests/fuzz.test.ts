import { randomInt } from 'node:crypto'
import * as fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import identityDocument from '../generated/identity.dereferenced.json' with { type: 'json' }
import paymentsDocument from '../generated/payments.dereferenced.json' with { type: 'json' }
import { startIdentity } from '../handlers/identity/identityBench.ts'
import { documentJudge } from './harness/documentJudge.ts'
import type { JudgedOperation } from './harness/documentJudge.ts'
import { startEveryService } from './harness/everyOperation.ts'
import { tryRequest, wireSender } from './harness/fuzz.ts'
import type { FuzzTarget } from './harness/fuzz.ts'
import { credentialsFor } from './harness/fuzzCredentials.ts'
import { plainRequest, plannedRequests } from './harness/fuzzRequests.ts'
import type { RequestSources } from './harness/fuzzRequests.ts'
import { sourcesOf, thingsFor } from './harness/fuzzThings.ts'
import { startReceiver } from './harness/receiver.ts'
import { trusting } from './harness/webhooks.ts'

// BAYAR_SEED repeats a run, BAYAR_FUZZ_RUNS makes it longer: requests of each operation.
const seed = Number(process.env.BAYAR_SEED ?? randomInt(2 ** 31))
const runs = Number(process.env.BAYAR_FUZZ_RUNS ?? 50)
console.log(`fuzz: BAYAR_SEED=${seed} BAYAR_FUZZ_RUNS=${runs}`)

const receiver = await startReceiver()
const every = await startEveryService({ settings: trusting(receiver) })
const identity = await startIdentity()
const { configuration } = every.payments
const codes = [configuration.SANDBOX_APPROVE_CODE, configuration.SANDBOX_DECLINE_CODE]
const { close, send } = wireSender(({ operationId }) => {
  const { service } = every.of(operationId)
  return service.name === 'identity' ? identity.url : service.url
})
afterAll(close)

const targets = [paymentsDocument, identityDocument].flatMap((document) => {
  const judge = documentJudge(document)
  return judge.operations.map((operation) => [operation.operationId, operation, judge] as const)
})

async function targetOf(
  operation: JudgedOperation,
  judge: FuzzTarget['judge'],
): Promise<{ target: FuzzTarget; sources: RequestSources }> {
  const things = await thingsFor(every, identity, receiver.url)
  const credentials = credentialsFor(every, identity, every.of(operation.operationId).operation, things.merchant)
  return {
    target: { judge, operation, credentials, send, fill: () => things.filler() },
    sources: { ...sourcesOf(operation, codes), good: credentials.good, bad: credentials.bad },
  }
}

const seen = { requests: 0, accepted: 0, refused: 0 }

describe.each(targets)('%s', (id, operation, judge) => {
  test(
    'answers whatever it is sent as it declares, and accepts nothing that is not valid',
    async () => {
      const { target, sources } = await targetOf(operation, judge)
      const plain = await tryRequest(target, plainRequest(operation, sources))
      expect(plain, 'the plain request').toMatchObject({
        refused: false,
        status: expect.toSatisfy((status: number) => status < 300),
      })
      const property = fc.asyncProperty(plannedRequests(operation, sources), async (planned) => {
        const { status, refused } = await tryRequest(target, planned)
        seen.requests += 1
        if (status < 300) seen.accepted += 1
        if (refused) seen.refused += 1
      })
      const result = await fc.check(property, { seed, numRuns: runs })
      if (result.failed) {
        const repeat = `BAYAR_SEED=${seed} BAYAR_FUZZ_RUNS=${runs} vitest run contract-tests/fuzz.test.ts -t '${id}'`
        const found = [String(result.errorInstance), JSON.stringify(result.counterexample)].join('\n')
        throw new Error(`${repeat} repeats this:\n${found}`)
      }
    },
    20_000 + runs * 500,
  )
})

test('of all requests, at least a fifth was accepted and a fifth was none that the document takes', () => {
  expect(seen.requests).toBeGreaterThanOrEqual(targets.length * runs)
  expect(seen.accepted / seen.requests).toBeGreaterThan(0.2)
  expect(seen.refused / seen.requests).toBeGreaterThan(0.2)
})
