import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { reportingProvider } from './reportingProvider.ts'
import type { ProviderMisconfigured } from './reportingProvider.ts'
import { SimulatorProvider } from './simulatorProvider.ts'

const charge = { key: 'charge-1', reference: 'SIM1', channel: 'qris' } as const
const request = {
  ...charge, amountIdr: 1, multiUse: false, expiresAt: null, description: null, merchantReference: null, customer: null, callbackUrl: 'http://merchant.test/', returnUrl: null,
  merchant: { id: 'm', name: 'WARUNG', city: 'JAKARTA', postalCode: '10110', mcc: '5411', nmid: null, qrisCriteria: null },
}
const refund = {
  key: 'refund-1', charge, reference: null, paymentReference: 'p', amountIdr: 1, reason: 'other', note: null, destination: null, callbackUrl: 'http://merchant.test/',
} as const

test('an operator is told of every call that the provider refuses as misconfigured, and of no other', async () => {
  const told: ProviderMisconfigured[] = []
  let answer = () => Response.json({ code: 'unauthenticated', message: 'No.' }, { status: 401 })
  const provider = reportingProvider(new SimulatorProvider({
    baseUrl: 'http://provider.test', apiKey: randomBytes(8).toString('hex'),
    runtime: { now: () => new Date(), randomBytes, sleep: async () => undefined, fetch: async () => answer() },
  }), (problem) => told.push(problem))
  const all = () => Promise.all([
    provider.createCharge(request), provider.findCharge(charge), provider.expireCharge(charge), provider.refund(refund), provider.findRefund(refund),
  ])
  for (const result of await all()) expect(result).toEqual({ outcome: 'misconfigured', reason: 'status 401 unauthenticated' })
  expect(told.map(({ call, key }) => `${call} ${key}`)).toEqual([
    'createCharge charge-1', 'findCharge charge-1', 'expireCharge charge-1', 'refund refund-1', 'findRefund refund-1',
  ])
  expect(told[0]).toEqual({ provider: 'simulator', call: 'createCharge', key: 'charge-1', reason: 'status 401 unauthenticated' })
  answer = () => Response.json({ code: 'DECLINED', message: 'No.' }, { status: 422 })
  await all()
  answer = () => new Response('<html>', { status: 502 })
  await all()
  expect(told).toHaveLength(5)
})
