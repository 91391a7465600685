// `make test`: the checks, every test, the contract. The last line is the total.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checks } from './checks.ts'
import { fromWords, inWords, node, once, report, root, runSteps, sum, timed } from './steps.ts'
import type { Counts, Step } from './steps.ts'
import { suitesOf } from './vitestReport.ts'
import type { VitestReport } from './vitestReport.ts'

const contract: Step = {
  name: 'contract',
  run: async () => {
    const { code, output } = await node('contract-tests/contract.ts', [], true)
    const counted = fromWords(output)
    if (!counted) return { counts: once(false), output: 'it ended without a total' }
    // Its exit code has the last word: a total without failures and a failing exit is a failure.
    return { counts: code !== 0 && counted.failed === 0 ? { ...counted, failed: 1 } : counted, output: '' }
  },
}

/** The drills measure time: they run one after the other, with nothing beside them. */
const drills = 'bench/drills/**'

/** The vitest files that `selection` names, counted by the folder they are in. */
async function tests(...selection: readonly string[]): Promise<Counts> {
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

const from = performance.now()
console.log('checks:')
const checked = await runSteps(checks)
console.log('tests:')
// Every declared answer has to be seen by some test of this run.
process.env.BAYAR_FULL_RUN = '1'
const tested = await tests(`--exclude=${drills}`)
delete process.env.BAYAR_FULL_RUN
console.log('drills, in their short form:')
const drilled = await tests('bench/drills', '--no-file-parallelism')
console.log('contract:')
const agreed = await timed(contract)
const total = sum([checked, tested, drilled, agreed])
const line = inWords(total)
mkdirSync(join(root, '.dev'), { recursive: true })
writeFileSync(join(root, '.dev', 'test-total'), `${line}\n`)
console.log(`\nall of it took ${((performance.now() - from) / 1000).toFixed(0)} s`)
console.log(line)
process.exitCode = total.failed > 0 ? 1 : 0
