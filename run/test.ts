// `make test`: the checks, every test, the contract. The last line is the total.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { checks } from './checks.ts'
import { fromWords, inWords, node, once, root, runSteps, sum, timed } from './steps.ts'
import type { Step } from './steps.ts'
import { tests } from './vitestRun.ts'

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

/** Drills and benches measure time: they run one after the other, with nothing beside them. */
const alone = ['bench/drills/**', 'bench/slice.test.ts', 'bench/scaleOut.test.ts']

/** What of them belongs to every run: their judges, and the failures that hit most often. `make test-long` runs the others. */
const short = ['judgement', 'judges', 'killApi', 'postgresRestart', 'races'].map((name) => `bench/drills/${name}.test.ts`).concat('bench/slice.test.ts')

const from = performance.now()
console.log('checks:')
const checked = await runSteps(checks)
console.log('tests:')
// Every declared answer has to be seen by some test of this run.
process.env.BAYAR_FULL_RUN = '1'
const tested = await tests(...alone.map((files) => `--exclude=${files}`))
delete process.env.BAYAR_FULL_RUN
console.log('drills and benches, in their short form:')
const drilled = await tests(...short, '--no-file-parallelism')
console.log('contract:')
const agreed = await timed(contract)
const total = sum([checked, tested, drilled, agreed])
const line = inWords(total)
mkdirSync(join(root, '.dev'), { recursive: true })
writeFileSync(join(root, '.dev', 'test-total'), `${line}\n`)
console.log(`\nall of it took ${((performance.now() - from) / 1000).toFixed(0)} s`)
console.log(line)
process.exitCode = total.failed > 0 ? 1 : 0
