import { describe, expect, test } from 'vitest'
import { firstCheckAt, lastCheckAt, nextCheckAt, retryCheckAt } from './checkSchedule.ts'
import type { CheckedAttempt } from './checkSchedule.ts'

const created = new Date('2026-11-02T03:00:00.000Z')
const at = (seconds: number) => new Date(created.getTime() + seconds * 1000)
const after = (time: Date | null) => time === null ? null : (time.getTime() - created.getTime()) / 1000
/** An attempt whose share of the spread is none. */
const attemptOf = (ttlSeconds: number | null, id = '01930000-0000-7000-8000-000000000000'): CheckedAttempt => ({
  id, created_at: created, expires_at: ttlSeconds === null ? null : at(ttlSeconds),
})

/** Seconds after the creation of every check, each made when it is due. */
function checksOf(attempt: CheckedAttempt): number[] {
  const times: number[] = []
  for (let next: Date | null = firstCheckAt(attempt); next; next = nextCheckAt(attempt, next)) times.push(after(next) ?? 0)
  return times
}

describe('the checks of an attempt', () => {
  test('come after 30 s, 2 min and 10 min, then hourly until its end, and once after it', () => {
    expect(checksOf(attemptOf(3 * 3600))).toEqual([30, 120, 600, 4200, 7800, 3 * 3600 + 120])
  })

  test('of a short one end with the one after its end', () => {
    expect(checksOf(attemptOf(300))).toEqual([30, 120, 420])
    expect(checksOf(attemptOf(10))).toEqual([130])
  })

  test('of one without an end go on for 30 days', () => {
    const times = checksOf(attemptOf(null))
    expect(times.slice(0, 4)).toEqual([30, 120, 600, 4200])
    expect(times.at(-1)).toBe(30 * 86_400 + 120)
    expect(times).toHaveLength(3 + 719 + 1)
  })

  test('that were missed are not made up for: the next one is in the future', () => {
    expect(after(nextCheckAt(attemptOf(86_400), at(10_000)))).toBe(600 + 3 * 3600)
  })

  test('without an answer come again as regular ones, and after the last one hourly', () => {
    expect(after(retryCheckAt(attemptOf(300), at(30)))).toBe(120)
    expect(after(retryCheckAt(attemptOf(300), at(500)))).toBe(500 + 3600)
  })

  test('of attempts made together are spread: by a tenth of the wait, and after the end over two minutes', () => {
    const latest = attemptOf(3600, '01930000-0000-7000-8000-0000ffffffff')
    expect(checksOf(latest).map(Math.round)).toEqual([33, 132, 660, 3600 + 240])
    const idAt = (place: number) => `01930000-0000-7000-8000-${(place * 4_294_967).toString(16).padStart(12, '0')}`
    const firsts = Array.from({ length: 1000 }, (_, place) => after(firstCheckAt(attemptOf(3600, idAt(place)))) ?? 0)
    const perTenth = Map.groupBy(firsts, (seconds) => Math.floor((seconds - 30) / 0.3))
    expect([...perTenth.values()].map(({ length }) => length)).toEqual(Array.from({ length: 10 }, () => expect.closeTo(100, -1) as number))
    expect(after(lastCheckAt(latest))).toBeCloseTo(3840, 0)
  })
})
