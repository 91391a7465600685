import { describe, expect, test } from 'vitest'
import { repeat } from './repeat.ts'
import { sweep } from './sweep.ts'

const never = (): Promise<void> => new Promise(() => undefined)

describe('repeating', () => {
  test('goes on at once while there is more, and waits its time when there is not', async () => {
    const answers = [true, true, false]
    const slept: number[] = []
    let turns = 0
    const waiting = Promise.withResolvers<void>()
    const task = repeat(() => Promise.resolve(answers[turns++] ?? false), {
      everyMs: 5000,
      sleep: (milliseconds) => {
        slept.push(milliseconds)
        waiting.resolve()
        return never()
      },
      report: () => undefined,
    })
    await waiting.promise
    expect([turns, slept]).toEqual([3, [5000]])
    await task.stop()
    expect(turns).toBe(3)
  })

  test('a turn that throws is reported, and the next one comes', async () => {
    const reported: unknown[] = []
    let turns = 0
    const done = Promise.withResolvers<void>()
    const task = repeat(() => {
      turns += 1
      if (turns === 3) done.resolve()
      return turns < 3 ? Promise.reject(new Error(`turn ${turns}`)) : never().then(() => false)
    }, { everyMs: 1, sleep: () => Promise.resolve(), report: (error) => reported.push(error) })
    await done.promise
    expect(reported.map(String)).toEqual(['Error: turn 1', 'Error: turn 2'])
    void task.stop()
  })

  test('stopping waits for the turn at work and aborts its signal', async () => {
    const gate = Promise.withResolvers<boolean>()
    let seen: AbortSignal | undefined
    let stopped = false
    const task = repeat((halted) => {
      seen = halted
      return gate.promise
    }, { everyMs: 1, sleep: never, report: () => undefined })
    const stopping = task.stop().then(() => {
      stopped = true
    })
    expect([seen?.aborted, stopped]).toEqual([true, false])
    gate.resolve(true)
    await stopping
    expect(stopped).toBe(true)
  })
})

describe('sweeping', () => {
  const items = (count: number): number[] => Array.from({ length: count }, (_, at) => at)
  const { signal: running } = new AbortController()

  test('one that does not end holds up none of the others, and at most eight are at work', async () => {
    const gate = Promise.withResolvers<void>()
    const done: number[] = []
    const rest = Promise.withResolvers<void>()
    let atWork = 0
    let most = 0
    const swept = sweep({
      list: () => Promise.resolve(items(16)),
      resume: async (item) => {
        most = Math.max(most, ++atWork)
        await (item === 0 ? gate.promise : Promise.resolve())
        atWork -= 1
        if (done.push(item) === 15) rest.resolve()
      },
      failed: () => undefined,
      halted: running,
    })
    await rest.promise
    expect(done.toSorted((a, b) => a - b)).toEqual(items(16).slice(1))
    gate.resolve()
    expect(await swept).toBe(true)
    expect(most).toBe(8)
  })

  test('a failure is reported with its item, the others go on, and the next look waits its time', async () => {
    const failures: [string, number][] = []
    const done: number[] = []
    const again = await sweep({
      list: () => Promise.resolve(items(16)),
      resume: (item) => item === 3 ? Promise.reject(new Error('no')) : Promise.resolve(void done.push(item)),
      failed: (error, item) => failures.push([String(error), item]),
      halted: running,
    })
    expect([again, failures, done.length]).toEqual([false, [['Error: no', 3]], 15])
  })

  test('one that came to nothing for now leaves the next look to its time', async () => {
    const again = await sweep({
      list: () => Promise.resolve(items(16)), resume: (item) => Promise.resolve(item !== 3), failed: () => undefined, halted: running,
    })
    expect(again).toBe(false)
  })

  test('nothing is begun once it is halted, and a short list waits its time', async () => {
    const done: number[] = []
    const resume = (item: number) => Promise.resolve(void done.push(item))
    const failed = (): void => undefined
    expect(await sweep({ list: () => Promise.resolve(items(2)), resume, failed, halted: AbortSignal.abort() })).toBe(false)
    expect(done).toEqual([])
    expect(await sweep({ list: () => Promise.resolve(items(2)), resume, failed, halted: running })).toBe(false)
    expect(done).toEqual([0, 1])
  })
})
