import { describe, expect, test } from 'vitest'
import type { Try } from './requests.ts'
import { between, medianAndMost, randomFrom } from './drill.ts'
import { countsByStatus, firstSuccess, fullService, judgeAnswers, longestOpen } from './judgement.ts'

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

describe('figures', () => {
  test('count requests by status and find the longest', () => {
    const tries = [entry(0, 5, 200), entry(0, 90, 200), entry(0, 5, null)]
    expect(countsByStatus(tries)).toBe('200: 2, none: 1')
    expect(longestOpen(tries)).toBe(90)
    expect(medianAndMost([3, 1, 2])).toBe('median 2 ms, most 3 ms')
    expect(medianAndMost([])).toBe('none')
  })

  test('the same seed gives the same faults', () => {
    const numbers = (seed: number) => {
      const random = randomFrom(seed)
      return Array.from({ length: 50 }, () => between(random, 300, 1500))
    }
    expect(numbers(7)).toEqual(numbers(7))
    expect(numbers(7)).not.toEqual(numbers(8))
    expect(Math.min(...numbers(7))).toBeGreaterThanOrEqual(300)
    expect(Math.max(...numbers(7))).toBeLessThanOrEqual(1500)
  })
})
