import { relative } from 'node:path'
import type { Counts } from './steps.ts'

/** What is read of vitest's JSON report. */
export interface VitestReport {
  testResults: {
    name: string
    status: string
    startTime: number
    endTime: number
    assertionResults: { status: string }[]
  }[]
}

export interface Suite {
  name: string
  counts: Counts
  /** Summed over the files, of which two run at a time. */
  seconds: number
}

/** Counts and seconds by top-level folder, below handlers by service. A file that could not be loaded is one failure. */
export function suitesOf({ testResults }: VitestReport, root: string): Suite[] {
  const suites = new Map<string, Suite>()
  for (const { name, status, startTime, endTime, assertionResults } of testResults) {
    const [top = '', below = ''] = relative(root, name).split('/')
    const key = top === 'handlers' && !below.includes('.') ? `${top}/${below}` : top
    const suite = suites.get(key) ?? { name: key, counts: { passed: 0, failed: 0, skipped: 0 }, seconds: 0 }
    const of = (wanted: string): number => assertionResults.filter((result) => result.status === wanted).length
    const [passed, failed] = [of('passed'), of('failed')]
    suite.counts.passed += passed
    suite.counts.failed += failed + (status === 'failed' && failed === 0 ? 1 : 0)
    suite.counts.skipped += assertionResults.length - passed - failed
    suite.seconds += Math.max(0, endTime - startTime) / 1000
    suites.set(key, suite)
  }
  return [...suites.values()].toSorted((one, other) => one.name.localeCompare(other.name))
}
