/** A clock that stands still until it is moved. */
export interface TestClock {
  now(): Date
  /** Moves the clock on by `milliseconds`. */
  advance(milliseconds: number): void
}

export function testClock(start = '2026-11-02T03:04:05.678Z'): TestClock {
  let time = Date.parse(start)
  return {
    now: () => new Date(time),
    advance: (milliseconds) => {
      time += milliseconds
    },
  }
}
