import { describe, expect, test } from 'vitest'
import { fromWords, inWords } from './steps.ts'
import { suitesOf } from './vitestReport.ts'

const file = (name: string, statuses: string[], status = 'passed') =>
  ({ name: `/tree/${name}`, status, startTime: 1000, endTime: 2500, assertionResults: statuses.map((each) => ({ status: each })) })

describe('the total', () => {
  test('names skipped tests, and only when there are some', () => {
    expect(inWords({ passed: 3, failed: 0, skipped: 0 })).toBe('3 passed, 0 failed')
    expect(inWords({ passed: 3, failed: 1, skipped: 2 })).toBe('3 passed, 1 failed, 2 skipped')
  })

  test('is read back from the last line of another script, and from nothing else', () => {
    expect(fromWords('Dredd\n12 passed, 1 failed, 2 skipped\n')).toEqual({ passed: 12, failed: 1, skipped: 2 })
    expect(fromWords('12 passed, 0 failed\nTypeError: no\n')).toBeUndefined()
  })
})

describe('suites', () => {
  test('are counted by folder, below handlers by service', () => {
    const suites = suitesOf({ testResults: [
      file('db/a.test.ts', ['passed', 'passed']), file('db/b.test.ts', ['failed', 'skipped'], 'failed'),
      file('handlers/payments/me/getMe.test.ts', ['passed']), file('handlers/log.test.ts', ['todo']),
    ] }, '/tree')
    expect(suites).toEqual([
      { name: 'db', counts: { passed: 2, failed: 1, skipped: 1 }, seconds: 3 },
      { name: 'handlers', counts: { passed: 0, failed: 0, skipped: 1 }, seconds: 1.5 },
      { name: 'handlers/payments', counts: { passed: 1, failed: 0, skipped: 0 }, seconds: 1.5 },
    ])
  })

  test('a file that could not be loaded counts as a failure', () => {
    expect(suitesOf({ testResults: [file('db/a.test.ts', [], 'failed')] }, '/tree')[0]?.counts).toEqual({ passed: 0, failed: 1, skipped: 0 })
  })
})
