import { describe, expect, test } from 'vitest'
import { judgeFailure, requestedDelaySeconds, retryDelaySeconds } from './webhookRetry.ts'

describe('the delay after a failure', () => {
  test.each([[1, 1, 3], [2, 2, 6], [3, 4, 12], [5, 16, 48], [12, 1800, 5400], [13, 1800, 5400], [40, 1800, 5400]])(
    'after %i failures lies in [%i s, %i s), as the table of the brief says', (failures, low, high) => {
      expect(retryDelaySeconds(failures, 0)).toBe(low)
      expect(retryDelaySeconds(failures, 0.5)).toBe((low + high) / 2)
      expect(retryDelaySeconds(failures, 1 - 2 ** -48)).toBeLessThan(high)
      expect(retryDelaySeconds(failures, 1 - 2 ** -48)).toBeGreaterThan(high - 0.001)
    })

  test('follows the formula after 10 failures, which the table of the brief contradicts', () => {
    expect([retryDelaySeconds(10, 0), retryDelaySeconds(10, 0.5)]).toEqual([512, 1024])
  })

  test('doubles from failure to failure until it stays at an hour', () => {
    let expected = 1
    for (let failures = 1; failures <= 16; failures += 1) {
      expected += expected
      expect(retryDelaySeconds(failures, 0.5)).toBe(expected > 3600 ? 3600 : expected)
    }
  })
})

describe('Retry-After', () => {
  const now = new Date('2026-11-02T03:04:05.000Z')

  test.each([
    [429, '120', 120], [503, ' 7 ', 7], [503, 'Mon, 02 Nov 2026 03:05:05 GMT', 60], [429, 'Mon, 02 Nov 2026 03:00:00 GMT', 0],
    [429, '999999999999', 3600], [503, 'Tue, 02 Nov 2027 03:05:05 GMT', 3600], [429, 'soon', 0], [429, '-5', 0], [429, '', 0],
    [500, '120', 0], [200, '120', 0], [null, '120', 0],
  ] as const)('status %s with %j asks for %i seconds', (status, text, seconds) => {
    expect(requestedDelaySeconds(status, text, now)).toBe(seconds)
  })

  test('left out asks for nothing', () => {
    expect(requestedDelaySeconds(503, undefined, now)).toBe(0)
  })
})

describe('a failure', () => {
  test.each([
    [{ subscription: 'active', run: 1, round: 1 }, { next: 'retry' }],
    [{ subscription: 'active', run: 9, round: 15 }, { next: 'retry' }],
    [{ subscription: 'active', run: 10, round: 10 }, { next: 'dead', reason: 'failures', disables: true }],
    [{ subscription: 'active', run: 1, round: 16 }, { next: 'dead', reason: 'exhausted', disables: false }],
    [{ subscription: 'active', run: 10, round: 16 }, { next: 'dead', reason: 'failures', disables: true }],
    [{ subscription: 'active', run: 2, round: 20 }, { next: 'dead', reason: 'exhausted', disables: false }],
    [{ subscription: 'inactive', run: 10, round: 16 }, { next: 'wait' }],
    [{ subscription: 'deleted', run: 1, round: 1 }, { next: 'dead', reason: 'subscription_deleted', disables: false }],
  ] as const)('%j is judged %j', (standing, verdict) => {
    expect(judgeFailure(standing)).toEqual(verdict)
  })
})
