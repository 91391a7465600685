import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { makeCharge } from './charges.ts'
import { catchUp, complete } from './completion.ts'
import { HeldCallbacks } from './heldCallbacks.ts'
import { Ledger } from './ledger.ts'
import { magicAmounts } from './magicAmounts.ts'
import { SimulatorProvider } from '../simulatorProvider.ts'
import { startSimulator } from './server.ts'
import type { Shop } from './shop.ts'

interface Notice { status: string, payment_reference: string | null, event_id: string }

let now = new Date('2026-11-02T03:04:05.678Z')
const apiKey = randomBytes(24).toString('base64url')
const told: Notice[] = []
const runtime = {
  now: () => now,
  randomBytes,
  sleep: () => Promise.resolve(),
  fetch: ((_url: unknown, init?: RequestInit) => {
    told.push(JSON.parse(Buffer.from(init?.body as Uint8Array).toString()) as Notice)
    return Promise.resolve(Response.json({}))
  }) as typeof fetch,
}

/** A charge of an amount, completed; what was told of it, and how the provider knows it afterwards. */
async function completed(amountIdr: number, { multiUse = false, times = 1 } = {}) {
  const simulator = await startSimulator({ port: 0, runtime, apiKey, callbackSecret: randomBytes(24).toString('base64url'),
    callbackUrl: 'http://merchant.test/' })
  const provider = new SimulatorProvider({ baseUrl: simulator.url, apiKey, runtime: { ...runtime, fetch } })
  const charge = await provider.createCharge({
    key: randomBytes(8).toString('hex'), channel: 'qris', amountIdr, multiUse, expiresAt: new Date(now.getTime() + 60_000), description: null,
    merchantReference: null, customer: null, callbackUrl: 'http://merchant.test/', returnUrl: null,
    merchant: { id: 'm', name: 'WARUNG', city: 'JAKARTA', postalCode: '10110', mcc: '5411', nmid: null, qrisCriteria: null },
  })
  if (charge.outcome !== 'charged') throw new Error(JSON.stringify(charge))
  told.length = 0
  const { reference, key } = charge.charge
  const results = []
  for (let time = 0; time < times; time += 1) results.push(await provider.sandbox.complete(reference))
  const look = async () => {
    const found = await provider.findCharge({ key, reference: null, channel: 'qris' })
    return found.outcome === 'found' ? found.charge : null
  }
  return { simulator, provider, reference, results, look }
}

test.each([
  [150_000, ['paid'], 'paid', true], [111_011, ['failed'], 'failed', true], [111_012, [], 'pending', false], [111_013, ['paid', 'paid'], 'paid', true],
  [111_014, ['paid'], 'paid', true], [111_015, [], 'paid', false], [111_016, ['expired'], 'expired', true],
] as const)('an amount of %i tells %j and ends %s', async (amount, notices, status, reported) => {
  const { look, results, simulator } = await completed(amount)
  expect(results).toEqual([{ outcome: 'moved', reported }])
  expect(told.map((notice) => notice.status)).toEqual(notices)
  expect(await look()).toMatchObject({ status })
  expect(new Set(told.map(({ event_id }) => event_id)).size).toBe(notices.length)
  expect(new Set(told.map(({ payment_reference }) => payment_reference)).size).toBeLessThanOrEqual(1)
  await simulator.close()
})

test('every amount with an outcome on completion is among those', () => {
  expect(magicAmounts.filter(({ completion }) => completion !== null).map(({ amountIdr }) => amountIdr)).toEqual([111_011, 111_012, 111_013, 111_014, 111_015,
    111_016])
})

test('a payment that is taken back is so later, and once', async () => {
  const { look, simulator } = await completed(111_014)
  expect(await look()).toMatchObject({ status: 'paid', payments: [{ reversed: false }] })
  const catchUp = () => fetch(`${simulator.url}/control/late`, { method: 'POST', headers: { authorization: `Bearer ${apiKey}` } })
  await catchUp()
  await catchUp()
  expect(told.map(({ status }) => status)).toEqual(['paid', 'reversed'])
  expect(new Set(told.map(({ payment_reference }) => payment_reference)).size).toBe(1)
  expect(await look()).toMatchObject({ status: 'reversed', payments: [{ reversed: true }] })
  await simulator.close()
})

test('completed again, a charge is told again, under another event id and the same payment', async () => {
  const { look, results, simulator } = await completed(150_000, { times: 2 })
  expect(results).toEqual([{ outcome: 'moved', reported: true }, { outcome: 'moved', reported: true }])
  expect(new Set(told.map(({ payment_reference }) => payment_reference)).size).toBe(1)
  expect((await look())?.payments).toHaveLength(1)
  await simulator.close()
})

test('a charge for many payments takes one more each time', async () => {
  const { look, simulator } = await completed(150_000, { multiUse: true, times: 3 })
  expect(await look()).toMatchObject({ status: 'pending', payments: [{}, {}, {}] })
  expect(new Set(told.map(({ payment_reference }) => payment_reference)).size).toBe(3)
  await simulator.close()
})

test('a charge for many payments says nothing of one that was declined', async () => {
  const { look, results, simulator } = await completed(111_011, { multiUse: true })
  expect(results).toEqual([{ outcome: 'moved', reported: false }])
  expect(await look()).toMatchObject({ status: 'pending', payments: [] })
  await simulator.close()
})

test('who pays late does so once the charge has expired, and once', async () => {
  const { look, simulator } = await completed(111_012)
  const payLate = () => fetch(`${simulator.url}/control/late`, { method: 'POST', headers: { authorization: `Bearer ${apiKey}` } })
  await payLate()
  expect(told).toEqual([])
  now = new Date(now.getTime() + 60_000)
  await payLate()
  await payLate()
  expect(told.map(({ status }) => status)).toEqual(['paid'])
  expect(await look()).toMatchObject({ status: 'paid', payments: [{}] })
  await simulator.close()
})

test('a refusal says whether the end that stands in its way was told', async () => {
  const silent = await completed(111_015)
  expect(await silent.provider.sandbox.expire(silent.reference)).toMatchObject({ outcome: 'refused', reported: false })
  await silent.simulator.close()
  const standing = await completed(150_000, { multiUse: true })
  expect(await standing.provider.sandbox.decline(standing.reference, { code: 'NO', message: 'No.' })).toMatchObject({ outcome: 'refused', reported: false })
  await standing.simulator.close()
})

test('a move that the charge\'s state forbids is refused, and an unknown charge is unknown', async () => {
  const { provider, reference, simulator } = await completed(150_000)
  expect(await provider.sandbox.decline(reference, { code: 'NO', message: 'No.' })).toMatchObject({ outcome: 'refused', reported: true })
  expect(await provider.sandbox.expire(reference)).toMatchObject({ outcome: 'refused', reported: true })
  expect(await provider.sandbox.complete('SIMNOSUCH')).toMatchObject({ outcome: 'unknown' })
  await simulator.close()
})

test('what is put off happens a second after it could, or when it is asked for', async () => {
  const apart: Shop = {
    ledger: new Ledger(null), runtime, publicUrl: '', queue: [],
    callbacks: { runtime, secret: apiKey, defaultUrl: 'http://merchant.test/', held: new HeldCallbacks() },
  }
  const ends = new Date(now.getTime() + 60_000)
  const make = (amount: number) => complete(apart, makeCharge(apart, {
    key: randomBytes(8).toString('hex'), channel: 'qris', amountIdr: amount, multiUse: false, expiresAt: ends, description: null, merchantReference: null,
    merchant: { id: 'm', name: 'WARUNG', city: 'JAKARTA', postalCode: '10110', mcc: '5411', nmid: null, criteria: null }, callbackUrl: null, returnUrl: null,
  }, false), false)
  const moved = async (at: number, atOnce = false) => {
    now = new Date(at)
    const { paid, reversed } = await catchUp(apart, atOnce)
    return [paid.length, reversed.length]
  }
  const begin = now.getTime()
  await make(111_014)
  expect([await moved(begin + 999), await moved(begin + 1000), await moved(begin + 2000, true)]).toEqual([[0, 0], [0, 1], [0, 0]])
  await make(111_012)
  expect([await moved(ends.getTime() + 999), await moved(ends.getTime() + 1000), await moved(ends.getTime() + 5000)]).toEqual([[0, 0], [1, 0], [0, 0]])
})
