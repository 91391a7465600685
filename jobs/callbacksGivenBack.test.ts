import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { intentActs } from '../contract-tests/harness/intentActs.ts'
import { startPayments } from '../contract-tests/harness/payments.ts'
import { takeDueCallbacks } from '../db/payments/providerCallbacks.ts'
import { sweepCallbacks } from './callbackSweep.ts'
import type { CallbackNotice } from './processCallback.ts'
import { promptCallbacks } from './promptCallbacks.ts'

/** Questions about charges wait for this; set by the test. */
let answered: Promise<void> = Promise.resolve()
const bench = await startPayments({
  toProvider: async (input, init) => {
    if (init?.method === 'GET') await answered
    return fetch(input, init)
  },
})
const { clock, creation, database, given, settled, simulator } = bench
const { charged, kinds, read } = intentActs(bench, await given.apiKey(await given.merchant()))

test('a process that ends gives back the callbacks it has not applied: a worker applies each once at its next turn, before their lease would have lapsed', async () => {
  const notices: CallbackNotice[] = []
  const observer = { processed: (notice: CallbackNotice) => void notices.push(notice), failed: () => undefined }
  const take = () => database.query((sql) => takeDueCallbacks(sql, 'simulator', {
    now: clock.now(), leaseToken: randomUUID(), leaseUntil: new Date(clock.now().getTime() + 10_000), most: 8,
  }))
  const paid = await Promise.all(Array.from({ length: 10 }, () => charged({ amount_idr: 150_000, allowed_channels: ['va_bank_a'] })))
  await simulator.next('absent', { on: 'find', n: paid.length })
  for (const { reference } of paid) await settled(simulator.pay(reference))
  clock.advance(30_000)
  const gate = Promise.withResolvers<void>()
  answered = gate.promise
  const ending = promptCallbacks({ ...creation, runtime: { ...creation.runtime, sleep: async () => undefined } }, observer)
  for (const held of [...await take(), ...await take()]) ending.take(held)
  // Eight are at work then and two have not begun.
  await ending.stop()
  answered = Promise.resolve()
  await sweepCallbacks(creation, 'simulator', observer)
  await sweepCallbacks(creation, 'simulator', observer)
  const applied = () => notices.filter(({ outcome }) => outcome === 'applied')
  expect(applied()).toHaveLength(10)
  gate.resolve()
  await settled()
  expect(applied()).toHaveLength(10)
  for (const { id } of paid) {
    expect(await read(id)).toMatchObject({ status: 'paid', uses: 1, overpaid_idr: 0 })
    expect(await kinds(id)).toEqual(['payment_intent.created', 'payment.completed'])
  }
})
