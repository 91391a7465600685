import { report } from '../../run/steps.ts'
import type { Counts } from '../../run/steps.ts'

/** Counts the checks of one suite. */
export interface Tally {
  /** Runs a check; what it throws is a failure, told at once. */
  check(name: string, work: () => unknown): Promise<void>
}

/** Runs a suite, says how long it took and what it counted. What the suite itself throws is a failure of its own. */
export async function suite(name: string, work: (tally: Tally) => Promise<void>): Promise<Counts> {
  const from = performance.now()
  const counts: Counts = { passed: 0, failed: 0, skipped: 0 }
  const tally: Tally = {
    async check(title, check) {
      try {
        await check()
        counts.passed += 1
      } catch (error) {
        counts.failed += 1
        console.log(`    ${name}: ${title}: ${error instanceof Error ? error.message : String(error)}`)
      }
    },
  }
  try {
    await work(tally)
    if (counts.passed + counts.failed === 0) throw new Error('nothing was checked')
  } catch (error) {
    counts.failed += 1
    console.log(`    ${name}: ${error instanceof Error ? error.stack ?? error.message : String(error)}`)
  }
  report(name, counts, (performance.now() - from) / 1000)
  return counts
}
