import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { node, once, report, root, sum } from './steps.ts'
import type { Counts } from './steps.ts'
import { suitesOf } from './vitestReport.ts'
import type { VitestReport } from './vitestReport.ts'

/** Runs the vitest files that `selection` names, and says of each folder that they are in what it counted and how long it took. */
export async function tests(...selection: readonly string[]): Promise<Counts> {
  const folder = mkdtempSync(join(tmpdir(), 'bayar-tests-'))
  const file = join(folder, 'report.json')
  try {
    const { code } = await node('node_modules/vitest/vitest.mjs', ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${file}`, ...selection], true)
    if (!existsSync(file)) {
      report('tests', once(false), 0)
      return once(false)
    }
    const suites = suitesOf(JSON.parse(readFileSync(file, 'utf8')) as VitestReport, root)
    for (const { name, counts, seconds } of suites) report(name, counts, seconds)
    const counts = sum(suites.map((suite) => suite.counts))
    // An error outside of every test fails the run without failing a test.
    return code !== 0 && counts.failed === 0 ? { ...counts, failed: 1 } : counts
  } finally {
    rmSync(folder, { recursive: true })
  }
}
