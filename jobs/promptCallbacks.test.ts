import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { HeldCallback } from '../db/payments/providerCallbacks.ts'
import { promptCallbacks } from './promptCallbacks.ts'
import type { CallbackSettings } from './processCallback.ts'

/** Callbacks whose processing ends when the test says so: the look at the database is where it waits. */
function waiting(sleep: () => Promise<void> = () => new Promise(() => undefined)) {
  const begun: PromiseWithResolvers<never>[] = []
  const failed: unknown[] = []
  /** How many callbacks each statement gave back. */
  const givenBack: number[] = []
  const end = () => {
    const gate = Promise.withResolvers<never>()
    begun.push(gate)
    return gate.promise
  }
  const provider = { parseCallback: () => ({ outcome: 'charge', callback: { key: randomUUID() } }) }
  const query = async (work: (sql: unknown) => Promise<unknown>) => {
    const before = givenBack.length
    await work((texts: TemplateStringsArray, _now: unknown, ids: unknown) => {
      if (texts.join('').includes('lease_token = any') && Array.isArray(ids)) givenBack.push(ids.length)
      return []
    })
    return givenBack.length > before ? [] : end()
  }
  const settings = {
    database: { query, tx: end }, providers: new Map([['simulator', provider]]), runtime: { now: () => new Date(), sleep },
  } as unknown as CallbackSettings
  const prompt = promptCallbacks(settings, { processed: () => undefined, failed: (error) => void failed.push(error) })
  return { prompt, begun, failed, givenBack }
}

const held = (): HeldCallback => ({ id: randomUUID(), provider: 'simulator', body: Buffer.alloc(0), tries: 0, lease_token: randomUUID() })
const turn = () => new Promise((resolve) => setImmediate(resolve))

describe('callbacks that were just answered', () => {
  test('are processed eight at a time, each of the others when one has ended', async () => {
    const { prompt, begun, failed } = waiting()
    for (let taken = 0; taken < 10; taken += 1) prompt.take(held())
    await turn()
    expect(begun).toHaveLength(8)
    const [first, second] = begun
    first?.reject(new Error('lost'))
    await turn()
    // The first one is postponed, as one that failed.
    begun[8]?.reject(new Error('lost'))
    await turn()
    expect(begun).toHaveLength(10)
    second?.reject(new Error('lost'))
    await turn()
    begun[10]?.reject(new Error('lost'))
    await turn()
    expect(begun).toHaveLength(12)
    expect(failed.map(String)).toEqual(['Error: lost', 'Error: lost'])
  })

  test('are waited for when the process ends; those that have not begun are given back', async () => {
    const { prompt, begun, failed, givenBack } = waiting()
    for (let taken = 0; taken < 9; taken += 1) prompt.take(held())
    let stopped = false
    const stopping = prompt.stop().then(() => {
      stopped = true
    })
    await turn()
    expect(stopped).toBe(false)
    for (let at = 0; at < 16; at += 1) {
      begun[at]?.reject(new Error('lost'))
      await turn()
    }
    await stopping
    expect([begun.length, failed.length]).toEqual([16, 8])
    expect(givenBack).toEqual([1])
    prompt.take(held())
    await turn()
    expect(begun).toHaveLength(16)
  })

  test('hold up the end of a process only so long, and are given back then', async () => {
    const { prompt, givenBack } = waiting(async () => undefined)
    prompt.take(held())
    await prompt.stop()
    expect(givenBack).toEqual([1])
  })

  test('are left to the sweep where more than two hundred wait', async () => {
    const { prompt, begun, failed } = waiting()
    for (let taken = 0; taken < 1000; taken += 1) prompt.take(held())
    await turn()
    for (let at = 0; at < begun.length; at += 1) {
      begun[at]?.reject(new Error('lost'))
      await turn()
    }
    expect(failed).toHaveLength(208)
  })
})
