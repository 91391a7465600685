import { describe, expect, test } from 'vitest'
import type { Try } from './requests.ts'
import { between, medianAndMost, randomFrom, repeating } from './drill.ts'
import { countsByStatus, firstSuccess, fullService, isExcused, judgeAnswers, longestOpen, longestSilence } from './judgement.ts'
import { within } from './within.ts'

const entry = (began: number, ended: number, status: number | null, more: Partial<Try> = {}): Try => ({
  operation: 'getPaymentIntent', process: 0, began, ended, status, retryAfter: status === 503, problem: '',
  again: false, ...more,
})
const outage = { from: 1000, to: 2000 }

describe('the judgement of answers', () => {
  test('successes, refusals and a 503 with Retry-After pass', () => {
    expect(judgeAnswers([entry(0, 5, 200), entry(0, 5, 404), entry(0, 5, 503)])).toEqual([])
  })

  test.each([
    ['a request open longer than 10 s', entry(0, 10_001, 200), 'open longer'],
    ['a 500', entry(0, 5, 500), '5xx other than 503'],
    ['a 503 without Retry-After', entry(0, 5, 503, { retryAfter: false }), 'without Retry-After'],
  ])('%s fails', (_, bad, failure) => {
    expect(judgeAnswers([entry(0, 5, 200), bad])).toEqual([expect.stringContaining(failure)])
  })
})

describe('the return after an outage', () => {
  test('counts to the first success that was asked for after it', () => {
    const tries = [entry(1500, 1600, 503), entry(1990, 2010, 200), entry(2005, 2030, 503), entry(2040, 2060, 201)]
    expect(firstSuccess(tries, outage, 9000)).toBe(60)
    expect(firstSuccess(tries, outage, 2050)).toBeNull()
  })

  test('is full after the last 503 that another follows within a second', () => {
    expect(fullService([entry(1500, 1600, 503)], outage, 9000)).toBe(0)
    const refusals = [2400, 3200, 4300].map((ended) => entry(2000, ended, 503))
    expect(fullService(refusals, outage, 9000)).toBe(1200)
  })

  test('is not full when the 503 go on until the end', () => {
    expect(fullService([entry(2000, 2800, 503), entry(3000, 3500, 503)], outage, 4000)).toBeNull()
  })
})

describe('what lasts', () => {
  test('an outage excuses what ends while it lasts and 5 s after, and nothing before', () => {
    expect([900, 1000, 7000, 7001].map((ended) => isExcused({ ended }, [outage]))).toEqual([false, true, true, false])
  })

  test('a process is silent from one success to the next, from the beginning and to the end', () => {
    const tries = [entry(0, 300, 200), entry(300, 350, 503), entry(400, 900, 200), entry(0, 500, 200, { process: 1 })]
    expect(longestSilence(tries, 0, 0, 1000)).toBe(600)
    expect(longestSilence(tries, 1, 0, 2000)).toBe(1500)
    expect(longestSilence(tries, 2, 0, 2000)).toBe(2000)
  })

  test('what takes longer than its limit is waited for no more; what fails in time fails', async () => {
    expect(await within(10, new Promise<string>(() => undefined), 'late')).toBe('late')
    expect(await within(60_000, Promise.resolve('done'), 'late')).toBe('done')
    await expect(within(60_000, Promise.reject(new Error('broken')), 'late')).rejects.toThrow('broken')
  })
})

describe('figures', () => {
  test('count requests by status and find the longest', () => {
    const tries = [entry(0, 5, 200), entry(0, 90, 200), entry(0, 5, null)]
    expect(countsByStatus(tries)).toBe('200: 2, none: 1')
    expect(longestOpen(tries)).toBe(90)
    expect(medianAndMost([3, 1, 2])).toBe('median 2 ms, most 3 ms')
    expect(medianAndMost([])).toBe('none')
  })

  test('the command that repeats drills names them, their form and the seed', () => {
    expect(repeating(['pool', 'races'], false, 7)).toBe('make drill pool races SEED=7')
    expect(repeating(['pool'], true, 7)).toBe('make drill pool SHORT=on SEED=7')
  })

  test('the same seed gives the same faults, and each path its own', () => {
    const numbers = (seed: number, ...path: number[]) => {
      const random = randomFrom(seed, ...path)
      return Array.from({ length: 50 }, () => between(random, 300, 1500))
    }
    expect(numbers(7)).toEqual(numbers(7))
    expect(numbers(7)).not.toEqual(numbers(8))
    expect(numbers(7, 0, 1)).toEqual(numbers(7, 0, 1))
    const paths = [[], [0], [1], [0, 0], [0, 1], [1, 0]]
    expect(new Set(paths.map((path) => numbers(7, ...path).join())).size).toBe(paths.length)
    expect(Math.min(...numbers(7))).toBeGreaterThanOrEqual(300)
    expect(Math.max(...numbers(7))).toBeLessThanOrEqual(1500)
  })
})
